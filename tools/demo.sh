#!/usr/bin/env bash
# `./sy demo`: shows what becomes of a few lines of YAML, adds an operator from
# such, trains a digit classifier, runs it on the device of a plugin that is
# built outside the tree, and trains it on the lazy device. Builds targets in
# the order in which their programs show something, and no others.
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

# Runs a command quietly, saying what it is for and how long it took; if it
# fails, shows everything it said.
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

# bazel_build LABEL TARGET...
bazel_build() {
  local label=$1
  shift
  printf '%s' "$faint"
  python3 tools/progress.py "$label" bazel build "$@"
  printf '%s' "$plain"
}

# Configures and builds a CMake project against the installed tree.
cmake_build() {
  local generator=()
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  cmake "${generator[@]}" -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$cache/sdk"
  cmake --build "$2" --target "$3"
}

# A build of everything below takes some 32 minutes of a core.
plan() {
  local time='about two minutes: it was built before'
  if [ ! -e bazel-bin/libswitchyard.so ]; then
    time="about $((32 / $(nproc) + 2)) minutes the first time, with $(nproc) cores"
  fi
  cat <<END
${bold}Switchyard's demo${plain}: five steps, $time
  1  See what becomes of a few lines of YAML   (a minute of building)
  2  Add an operator                           (most of the building)
  3  Train a digit classifier
  4  Run it on the device of a plugin, built outside the tree
  5  Train on the lazy device: a step is recorded, then runs fused
END
}

plan
title 'Set up'
prepare 'installing what is missing' ./sy setup

title '1  What becomes of a few lines of YAML'
bazel_build 'building the generator' //codegen:sygen
sed -n '/^- func: softplus(/,/^$/p' schemas/ops/activation.yaml | sed 's/^/  /'
bazel-bin/codegen/sygen explain softplus | sed -n '/^C++/,$p' | sed 's/^/  /'

title '2  Add an operator'
sed 's/^/  /' examples/own_op/mine.yaml
bazel_build 'building the library and examples/own_op' //examples/own_op
bazel-bin/examples/own_op/own_op

title '3  Train'
bazel_build 'building examples/digits' //examples/digits
bazel-bin/examples/digits/digits --seeds 5 --out "$picture" "$@"

title '4  Run on the device of a plugin, built outside the tree'
bazel_build 'building the SDK' //:installed_library
prepare 'installing the SDK' tools/install.sh --library "$cache/sdk"
prepare 'building test/consumers/backend with CMake' \
  cmake_build test/consumers/backend "$cache/backend" accel
bazel-bin/examples/digits/digits --brief \
  --plugin "$cache/backend/libaccel.so" --device accel:0 "$@"

title '5  Train on the lazy device: a step is recorded, then runs fused'
bazel-bin/examples/digits/digits --brief \
  --device lazy --train --graph "$graph.dot" "$@"
if command -v dot >/dev/null; then
  dot -Tsvg "$graph.dot" >"$graph.svg"
  printf '  drawn by graphviz: %s\n' "$graph.svg"
fi

cat <<END

A picture of the training is in ${bold}$picture${plain}. What next:
  ./sy site SITE               all guides and operators, to read in a browser
  ./sy install PREFIX          the SDK for programs of your own; docs/first_program.md
  docs/add_an_operator.md      an operator of your own in ten minutes
END
