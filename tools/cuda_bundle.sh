#!/usr/bin/env bash
# Puts all that `./sy test --cuda` and `./sy bench --cuda` run into one folder
# that needs neither Bazel nor a network: the SDK, the test programs of the
# backend, the demos with their data, the benchmarks and the scripts.
# Usage: cuda_bundle.sh [--sdk SDK] FOLDER [ARCHIVE.tar.xz]
#   --sdk SDK   that installation instead of one of this tree
# On the other machine:
#   tar -xf ARCHIVE.tar.xz && python3 FOLDER/tools/test_cuda.py
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
sdk=
if [ "${1:-}" = --sdk ]; then
  sdk=$2
  shift 2
fi
[ $# -ge 1 ] || {
  echo 'usage: cuda_bundle.sh [--sdk SDK] FOLDER [ARCHIVE.tar.xz]' >&2
  exit 2
}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
archive=${2:-}
cd "$root"

tests=$(cd test/backends/cuda && ls -- *_test.cpp)
targets=(//examples/digits //examples/convnet //examples/transformer
  //benchmarks/cuda:cuda_bench)
# A test that speaks to the fake driver or the fake NVRTC cannot run elsewhere.
speaks='"test/backends/cuda/(runtime|memory)_fixture.h"'
speaks+='|"test/backends/cuda/fake/fake_cuda_control.h"|fake NVRTC|libfake_cub'
for file in $tests; do
  grep -qE "$speaks" "test/backends/cuda/$file" ||
    targets+=("//test/backends/cuda:${file%.cpp}")
done
[ -n "$sdk" ] || targets+=(//:installed)
quiet=(--ui_event_filters=-info,-debug --show_result=0)
[ -t 2 ] || quiet+=(--noshow_progress --noshow_loading_progress)
bazel build --config=kernels "${quiet[@]}" "${targets[@]}"

if [ -n "$sdk" ]; then
  cp -r "$sdk/." "$folder"
else
  tools/install.sh "$folder" >/dev/null
fi

# No step of the scripts runs these.
for name in jit mpi nccl pjrt; do
  rm -f "$folder/lib/libswitchyard_$name.so"
done
rm -rf "$folder"/{bin/sygen,include,share/doc} "$folder"/lib/{libLLVM*,cmake,pkgconfig}

copy() { install -D -m "$1" "$2" "$folder/$3"; }
programs=(examples/digits/digits examples/convnet/convnet
  examples/transformer/transformer benchmarks/cuda/cuda_bench)
for path in "${programs[@]}"; do
  copy 755 "bazel-bin/$path" "bin/${path##*/}"
done
# Their data, where they look for it from the folder.
for path in examples/digits/data/digits.csv \
  examples/{convnet,transformer}/reference.safetensors \
  backends/cuda/bake/instances.txt test/backends/cuda/fallbacks.txt benchmarks/cuda/peers/* \
  tools/{cuda_machine,cuda_report,test_cuda,bench_cuda}.py; do
  copy 644 "$path" "$path"
done
cp -r --parents test/backends/cuda/testdata "$folder"

rm -rf "$folder/tests"
for file in $tests; do
  if grep -qE "$speaks" "test/backends/cuda/$file"; then
    mkdir -p "$folder/tests"
    echo "${file%.cpp}" >>"$folder/tests/need_fake.txt"
  else
    copy 755 "bazel-bin/test/backends/cuda/${file%.cpp}" "tests/${file%.cpp}"
  fi
done
strip --strip-unneeded "$folder"/tests/*_test \
  "${programs[@]/#*\//$folder/bin/}"

if [ -n "$archive" ]; then
  # One block with a window that spans the tests: they share most of their code.
  tar --directory "${folder%/*}" -cf - "${folder##*/}" |
    xz -T1 --lzma2=preset=6,dict=192MiB >"$archive"
  size=$(stat -c %s "$archive")
  echo "packed $folder as $archive, $((size >> 20)) MiB"
  if [ "$size" -gt $((40 << 20)) ]; then
    echo "cuda_bundle: more than 40 MiB" >&2
    exit 1
  fi
fi
