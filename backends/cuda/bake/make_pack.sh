#!/usr/bin/env bash
# Makes a pack of all kernels that the library carries, and of those that it
# prints for the example of every operator in every dtype. The examples run on
# the driver of the tests, so this needs no GPU, but NVRTC. What was compiled
# before is not compiled again: it is kept in ~/.cache/switchyard/cuda-bake.
#
# Usage: make_pack.sh SY PLUGIN FAKES BAKE INSTANCES OUT.pack
#   SY         bin/sy
#   PLUGIN     libswitchyard_cuda.so
#   FAKES      the folder of libfake_cuda.so and libfake_nvrtc.so
#   BAKE       the program of this folder
#   INSTANCES  instances.txt of this folder
set -euo pipefail

sy=$1 plugin=$(readlink -f "$2") fakes=$(readlink -f "$3")
bake=$4 instances=$5 out=$6
kept=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/switchyard/cuda-bake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

SWITCHYARD_CUDA_DRIVER=$fakes/libfake_cuda.so \
  SWITCHYARD_NVRTC=$fakes/libfake_nvrtc.so FAKE_CUDA_INCLUDE=$fakes \
  SWITCHYARD_CUDA_JIT=off SWITCHYARD_CUDA_CACHE=$work/kernels \
  SWITCHYARD_CUDA_RECORD=$work/records \
  "$sy" dtypes --plugin "$plugin" >"$work/dtypes.txt"
env -u SWITCHYARD_NVRTC "$bake" --records "$work/records" \
  --instances "$instances" --kept "$kept" --out "$out"
ls -l "$out"
