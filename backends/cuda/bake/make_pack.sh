#!/usr/bin/env bash
# Makes a pack of all kernels that the library carries, and of those that it
# prints for the example of every operator in every dtype. The examples run on
# the driver of the tests, so this needs no GPU, but NVRTC. Kernels are compiled
# once and kept in ~/.cache/switchyard/cuda-bake.
#
# Usage: make_pack.sh SY PLUGIN FAKES HEADERS EXAMPLES BAKE INSTANCES OUT.pack
#   SY         bin/sy
#   PLUGIN     libswitchyard_cuda.so
#   FAKES      the folder of libfake_cuda.so and libfake_nvrtc.so
#   HEADERS    the folder of cuda_on_host.h
#   EXAMPLES   the examples of operators, of //schemas:example_words
#   BAKE       the program of this folder
#   INSTANCES  instances.txt of this folder
set -euo pipefail

sy=$1 plugin=$(readlink -f "$2") fakes=$(readlink -f "$3")
headers=$(readlink -f "$4") examples=$(readlink -f "$5")
bake=$6 instances=$7 out=$8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

SWITCHYARD_CUDA_DRIVER=$fakes/libfake_cuda.so \
  SWITCHYARD_NVRTC=$fakes/libfake_nvrtc.so FAKE_CUDA_INCLUDE=$headers \
  SWITCHYARD_CUDA_JIT=off SWITCHYARD_CUDA_CACHE=$work/kernels \
  SWITCHYARD_CUDA_RECORD=$work/records SWITCHYARD_EXAMPLES=$examples \
  "$sy" dtypes --plugin "$plugin" >"$work/dtypes.txt"
# Operators that fail do not ask for all of their kernels.
grep -q '^cumsum .*native:.*float32' "$work/dtypes.txt" || {
  echo "make_pack: operators do not run on the driver of the tests" >&2
  exit 1
}
env -u SWITCHYARD_NVRTC "$bake" --records "$work/records" \
  --instances "$instances" --out "$out"
ls -l "$out"
