#!/usr/bin/env bash
# `./sy demo`: trains a digit classifier, runs it on the device of a plugin that
# is built outside the tree, trains it on the lazy device, and adds an operator
# from a few lines of YAML.
# Usage: demo.sh [ARG of examples/digits ...]
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/switchyard/demo
picture=$root/digits.svg
graph=$root/digits_lazy
log=$cache/log
mkdir -p "$cache"
cd "$root"

bold='' faint='' plain='' live=
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' faint=$'\e[2m' plain=$'\e[0m' live=1
fi

title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

# Runs a command quietly, saying what it is for and how long it took; on a
# failure, everything it said.
prepare() {
  local what=$1 start=$SECONDS
  shift
  [ -z "$live" ] || printf '  %s%s ...%s' "$faint" "$what" "$plain"
  if ! "$@" >"$log" 2>&1; then
    printf '\n'
    cat "$log" >&2
    echo "demo: $what failed: $*" >&2
    exit 1
  fi
  [ -z "$live" ] || printf '\r\e[K'
  printf '  %s%s (%d s)%s\n' "$faint" "$what" $((SECONDS - start)) "$plain"
}

# Configures and builds a CMake project against the installed tree.
cmake_build() {
  local generator=()
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  cmake "${generator[@]}" -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$cache/sdk"
  cmake --build "$2" --target "$3"
}

bazel_build() { bazel build --noshow_progress "$@"; }

title '1  Train'
prepare 'building examples/digits' bazel_build //examples/digits
bazel-bin/examples/digits/digits --seeds 5 --out "$picture" "$@"

title '2  Run on the device of a plugin, built outside the tree'
prepare 'installing the SDK' ./sy install "$cache/sdk"
prepare 'building test/consumers/backend with CMake' \
  cmake_build test/consumers/backend "$cache/backend" accel
bazel-bin/examples/digits/digits --brief \
  --plugin "$cache/backend/libaccel.so" --device accel:0 "$@"

title '3  Train on the lazy device: a step is recorded, then runs fused'
bazel-bin/examples/digits/digits --brief \
  --plugin lazy --device lazy --train --graph "$graph.dot" "$@"
if command -v dot >/dev/null; then
  dot -Tsvg "$graph.dot" >"$graph.svg"
  printf '  drawn by graphviz: %s\n' "$graph.svg"
fi

title '4  Add an operator'
sed 's/^/  /' examples/own_op/mine.yaml
prepare 'building examples/own_op' bazel_build //examples/own_op
bazel-bin/examples/own_op/own_op

printf '\nA picture of the training is in %s%s%s\n' "$bold" "$picture" "$plain"
