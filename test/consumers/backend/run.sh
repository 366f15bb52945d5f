#!/usr/bin/env bash
# Builds the backend against an installed SDK and runs the program that loads
# it. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake "${generator[@]}" -S "$here" -B "$build" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$build/log" &&
  cmake --build "$build" >>"$build/log" || {
  cat "$build/log"
  exit 1
}
"$build/host" "$build/libaccel.so" "$build/libbolt.so"
