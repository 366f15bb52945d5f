#!/usr/bin/env bash
# Lays the built libraries, headers and tools out under a prefix. An
# installation can be moved: everything in it finds the rest by relative paths.
# --library leaves out the files that only test backends, run on GPUs, run XLA
# or start several processes: bin/sy, its cases, cuda, pjrt, mpi, nccl.
# Usage: install.sh [--library] PREFIX    (`./sy install` builds first)
set -euo pipefail

whole=1
if [ "$1" = --library ]; then
  whole=
  shift
fi
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
bin=$(readlink -f "$root/bazel-bin")
execroot=${bin%/bazel-out/*}
# shellcheck source=libraries.sh
source "$root/tools/libraries.sh"
version=$(sed -n 's/^#define SY_VERSION_STRING "\(.*\)"$/\1/p' \
  "$root/c10/version.h")

# A header that no longer exists must not survive from an older installation.
rm -rf "$prefix/include/switchyard" "$prefix/share/switchyard"
mkdir -p "$prefix"/{bin,include/switchyard,lib/cmake/Switchyard,lib/pkgconfig} \
  "$prefix"/share/{switchyard,doc/switchyard/third_party}

install_headers() {
  local path name include=$prefix/include/switchyard
  while IFS=$'\t' read -r path name; do
    install -D -m 644 "$execroot/$path" "$include/$name"
  done <"$bin/sdk_headers.tsv"
  # Sources from before c10 had folders say c10/stream.h.
  for path in "$include"/c10/{device,dispatch,memory,process,tensor}/*.h; do
    printf '#pragma once\n\n#include "%s"\n' "${path#"$include"/}" \
      >"$include/c10/${path##*/}"
  done
}

# Copies, beside ours, the libraries that ours need and that the base system
# does not have.
install_needed() {
  local soname path
  "$root/tools/shipped.sh" "$@" | while IFS=$'\t' read -r soname path; do
    install -m 755 "$path" "$prefix/lib/$soname"
  done
}

fill_in() {
  sed "s/@VERSION@/$version/g" "$root/tools/sdk/$1" >"$2"
}

install_licences() {
  local doc=$prefix/share/doc/switchyard package
  install -m 644 "$root/LICENSE" "$doc/LICENSE"
  install -m 644 "$root/third_party/libraries.txt" "$doc/third_party"
  for package in $(libraries_words copyright); do
    if [ -e "/usr/share/doc/$package/copyright" ]; then
      install -m 644 "/usr/share/doc/$package/copyright" \
        "$doc/third_party/$package"
    fi
  done
  local file
  for file in "$execroot"/external/onednn/share/doc/onednn/*; do
    [ -e "$file" ] &&
      install -m 644 "$file" "$doc/third_party/onednn-$(basename "$file")"
  done
}

# Installs the toolkit's licences of the code that libswitchyard_cuda_cub.so has
# compiled into it.
install_cuda_licences() {
  local nvcc toolkit file package
  nvcc=$(sed -n "s/^NVCC = [\"']\(.*\)[\"']$/\1/p" \
    "$execroot/../../external/nvcc/nvcc.bzl")
  toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  for file in "$toolkit"/EULA.txt \
    "$toolkit"/{.,dist-info}/nvidia_cuda_{cccl,runtime}-*/licenses/*; do
    [ -e "$file" ] || continue
    package=${file#"$toolkit"/}
    package=${package#dist-info/}
    package=${package#./}
    install -m 644 "$file" \
      "$prefix/share/doc/switchyard/third_party/${package%%-*}"
  done
}

# Puts completions where the shells look, if they know the prefix.
install_completions() {
  local bash=$prefix/share/bash-completion/completions
  local zsh=$prefix/share/zsh/site-functions program
  mkdir -p "$bash" "$zsh"
  for program in "${programs[@]##*/}"; do
    "$prefix/bin/$program" completion bash >"$bash/$program"
    "$prefix/bin/$program" completion zsh >"$zsh/_$program"
  done
}

install_headers
programs=("$bin/codegen/sygen")
libraries=("$bin/libswitchyard.so" "$bin/libswitchyard_jit.so"
  "$bin/libswitchyard_lapack.so" "$bin/libswitchyard_onednn.so"
  "$bin/libswitchyard_schema.so")
plugins=(lazy) # which sy::compile opens
if [ -n "$whole" ]; then
  programs+=("$bin/tools/sy/sy")
  # Only where there is nvcc.
  cub=$bin/libswitchyard_cuda_cub.so
  [ -e "$cub" ] && libraries+=("$cub")
  libraries+=("$bin/libswitchyard_mpi.so" "$bin/libswitchyard_nccl.so")
  mapfile -t plugins < <(cd "$root/backends" &&
    grep -l '^plugin: true' ./*/backend.yaml | xargs -n 1 dirname)
fi
for name in "${plugins[@]##*/}"; do
  libraries+=("$bin/libswitchyard_$name.so")
done
install -m 755 "${programs[@]}" "$prefix/bin"
install -m 755 "${libraries[@]}" "$prefix/lib"
# Names that only a debugger looks for: a quarter of the library.
strip --strip-unneeded "${programs[@]/#*\//$prefix/bin/}" \
  "${libraries[@]/#*\//$prefix/lib/}"
pack=$bin/backends/cuda/bake/libswitchyard_cuda.pack
if [ -n "$whole" ] && [ -e "$pack" ]; then
  install -m 644 "$pack" "$prefix/lib"
fi
install_needed "${programs[@]}" "${libraries[@]}"
install_completions
cp -rL --no-preserve=mode "$root/schemas" "$prefix/share/switchyard/"
find "$prefix/share/switchyard/schemas" -type f ! -name '*.yaml' -delete
# The program that `sygen site` runs.
(cd "$root" && for file in site/{*,*/*}.{py,html,css,js,svg}; do
  [ ! -e "$file" ] ||
    install -D -m 644 "$file" "$prefix/share/switchyard/$file"
done)
# The backends that `dispatch:` may name, and the engines of users' operators.
(cd "$root" && grep -L '^plugin: true' backends/*/backend.yaml |
  while read -r file; do
    install -D -m 644 "$file" "$prefix/share/switchyard/$file"
  done)
# The cases that `sy conform` runs if none are named.
if [ -n "$whole" ]; then
  conformance=$prefix/share/switchyard/conformance
  mkdir -p "$conformance"
  "$root/tools/unpack_cases.sh" "$root/test/conformance/cases" \
    "$conformance/cases"
  install -m 644 "$root/test/conformance/passing.txt" "$conformance"
fi
install -m 644 "$bin/schemas/gen/docs/ops/examples.txt" \
  "$prefix/share/switchyard/examples.txt"
install_licences
[ -e "$prefix/lib/libswitchyard_cuda_cub.so" ] && install_cuda_licences

config=$prefix/lib/cmake/Switchyard
fill_in SwitchyardConfig.cmake "$config/SwitchyardConfig.cmake"
fill_in SwitchyardConfigVersion.cmake "$config/SwitchyardConfigVersion.cmake"
fill_in switchyard.pc "$prefix/lib/pkgconfig/switchyard.pc"
fill_in BUILD.bazel.in "$prefix/BUILD.bazel"
echo 'workspace(name = "switchyard")' >"$prefix/WORKSPACE"
echo "installed Switchyard $version in $prefix"
