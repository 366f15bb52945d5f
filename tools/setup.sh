#!/usr/bin/env bash
# Installs the missing needs of a build: the Debian packages and the wheels of
# oneDNN that third_party/libraries.txt names. Unpacks wheels into a cache
# folder outside the tree. Silent when nothing is missing.
#
# Usage: setup.sh [--tests] [--full] [--cuda]
#   --tests   also nvdisasm, for a test, if there is an nvcc
#   --full    also what `./sy test --full` needs
#   --cuda    also NVIDIA's compilers and tools, if this folder lacks them
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/switchyard
pjrt=$cache/pjrt-0.11.2
ulfm=$cache/openmpi-5.0.11
onednn=${SY_ONEDNN_DIR:-$cache/onednn-2023.2.0}
# shellcheck source=libraries.sh
source "$root/tools/libraries.sh"

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

tests='' full='' cuda=''
for option in "$@"; do
  case $option in
    --tests) tests=1 ;;
    --full) tests=1 full=1 ;;
    --cuda) cuda=1 ;;
    *) fail "no option '$option'; there are --full and --cuda" ;;
  esac
done
mapfile -t packages < <(
  libraries_words packages
  [ -z "$full" ] || libraries_words full
)

have_onednn() {
  [ -e "$onednn/lib/libdnnl.so.3" ] &&
    [ -e "$onednn/include/oneapi/dnnl/dnnl.hpp" ]
}

have_pip() { python3 -m pip --version >/dev/null 2>&1; }

missing_packages() {
  local installed
  installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' \
    "${packages[@]}" 2>/dev/null || true)"
  for package in "${packages[@]}"; do
    [[ $installed == *" $package=installed "* ]] || echo "$package"
  done
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "as root, run: apt-get install $*" "(there is no sudo here)"
    as_root=(sudo)
    [ -t 0 ] || as_root=(sudo -n)
  fi
  echo "setup: installing with apt-get: $*"
  local log
  log=$(mktemp)
  apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
  # A list that fails to refresh may still do: only the install decides.
  apt update -qq >"$log" 2>&1 || true
  if ! apt install -qq -y --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "apt-get could not install: $*" \
      "Is the network reachable, and may this user install packages?"
  fi
  rm -f "$log"
}

install_onednn() {
  [ "$(uname -m)" = x86_64 ] ||
    fail "the oneDNN wheels are for x86_64, this is $(uname -m)" \
      "Point SY_ONEDNN_DIR at a oneDNN 3.2 with include/ and lib/."
  echo "setup: downloading oneDNN 3.2 (39 MB) into $onednn"
  mkdir -p "$(dirname "$onednn")"
  # Unpacked beside the final place and renamed, so that a broken download or
  # a second setup at the same time leaves no half of it.
  work=$(mktemp -d "$onednn.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  libraries_lines wheel >"$work/wheels.txt"
  download "$work/wheels.txt" "$work" ||
    fail "pip could not download the oneDNN wheels" \
      "Is the network (or the proxy for it) reachable?"
  for wheel in "$work"/*.whl; do
    unzip -q "$wheel" -d "$work"
  done
  mkdir "$work/tree"
  for part in "$work"/*.data/data; do
    cp -r "$part/." "$work/tree"
  done
  # The wheel holds the library three times, a copy for each name.
  ln -sf libdnnl.so.3 "$work/tree/lib/libdnnl.so"
  ln -sf libdnnl.so.3 "$work/tree/lib/libdnnl.so.3.2"
  chmod 755 "$work/tree"
  rm -rf "$onednn"
  mv -T "$work/tree" "$onednn"
}

# Downloads the wheels that FILE names, with their hashes, into FOLDER.
# Usage: download FILE FOLDER
download() {
  python3 -m pip download -q --no-deps --only-binary :all: --require-hashes \
    -d "$2" -r "$1"
}

# Unpacks a wheel that only tests need into a folder; without it they are
# skipped.
# Usage: install_trial PACKAGE FOLDER WHAT [UNZIP ARGUMENTS...]
install_trial() {
  local package=$1 folder=$2 what=$3 work status=0
  shift 3
  [ ! -e "$folder" ] || return 0
  echo "setup: downloading $what into $folder"
  mkdir -p "$(dirname "$folder")"
  work=$(mktemp -d "$folder.XXXXXX")
  { libraries_lines trial && libraries_lines toolkit; } |
    grep "^$package==" >"$work/wheels.txt"
  download "$work/wheels.txt" "$work" &&
    unzip -q "$@" -d "$work/tree" "$work"/*.whl &&
    mv -T "$work/tree" "$folder" || status=$?
  rm -rf "$work"
  [ "$status" -eq 0 ] || echo "setup: no $what: its tests will be skipped" >&2
}

install_trials() {
  install_trial lammps-jax-pjrt-cpu "$pjrt" "a PJRT plugin (60 MB)" -j
  install_trial openmpi "$ulfm" "Open MPI 5 (7 MB)"
  chmod -R u+rwX,go+rX "$ulfm" 2>/dev/null || true
  chmod 755 "$ulfm"/*.data/data/bin/* 2>/dev/null || true
}

# The version that libraries.txt pins for a wheel of `toolkit`.
toolkit_version() { libraries_lines toolkit | sed -n "s/^$1==\([^ ]*\).*/\1/p"; }

# The first file that there is, of a program of NVIDIA's toolkit.
toolkit_program() {
  local file
  for file in "${CUDA_HOME:-}/bin/$1" "${CUDA_PATH:-}/bin/$1" \
    "$(command -v "$1" || true)" /usr/local/cuda/bin/"$1" \
    "$cache"/cuda-*/bin/"$1"; do
    if [ -x "$file" ]; then
      echo "$file"
      return
    fi
  done
}

# The wheels that together are a toolkit: nvcc finds the rest beside itself.
install_toolkit() {
  local folder
  folder=$cache/cuda-$(toolkit_version nvidia-cuda-nvcc)
  [ ! -e "$folder" ] || return 0
  have_pip || install_packages python3-pip
  echo "setup: downloading NVIDIA's compilers and tools (210 MB) into $folder"
  mkdir -p "$cache"
  work=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  libraries_lines toolkit >"$work/wheels.txt"
  download "$work/wheels.txt" "$work" ||
    fail "pip could not download NVIDIA's wheels" \
      "Is the network (or the proxy for it) reachable?"
  for wheel in "$work"/*.whl; do
    unzip -q -o "$wheel" -d "$work/tree"
  done
  tree=$(echo "$work"/tree/nvidia/cu*)
  mv "$work"/tree/*.dist-info "$tree"
  ln -s lib "$tree/lib64"
  for library in "$tree"/lib/lib*.so.*; do
    [ -e "${library%.so.*}.so" ] ||
      ln -s "${library##*/}" "${library%.so.*}.so"
  done
  chmod -R u+rwX,go+rX "$tree"
  mv -T "$tree" "$folder"
  rm -rf "$work"
}

# A test reads what nvcc compiled with it.
install_nvdisasm() {
  [ -n "$(toolkit_program nvcc)" ] && [ -z "$(toolkit_program nvdisasm)" ] ||
    return 0
  local folder
  folder=$cache/nvdisasm-$(toolkit_version nvidia-cuda-nvdisasm)
  install_trial nvidia-cuda-nvdisasm "$folder" "nvdisasm (5 MB)" -j
  chmod 755 "$folder/nvdisasm" 2>/dev/null || true
}

mapfile -t missing < <(missing_packages)
if [ "${#missing[@]}" -gt 0 ] || ! have_onednn; then
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian system; install the counterparts of:" \
      "${packages[*]}"
  have_onednn || have_pip || missing+=(python3-pip)
  [ "${#missing[@]}" -eq 0 ] || install_packages "${missing[@]}"
  have_onednn || install_onednn
  echo "setup: done"
fi
[ -z "$cuda" ] || install_toolkit
[ -z "$tests" ] || install_nvdisasm
[ -z "$full" ] || install_trials
