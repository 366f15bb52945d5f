#!/usr/bin/env bash
# Builds the backend against an installed SDK, runs the program that loads it,
# and compares its device with the CPU. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$here/../checks.sh"

configure "$here"
build
"$work/build/host" "$work/build/libaccel.so" "$work/build/libbolt.so" ||
  failed=1
"$prefix/bin/sy" conform --plugin "$work/build/libaccel.so" --jobs 2 \
  >"$work/report" || grep -A3 '^FAIL' "$work/report" | head -n 40
check_like "its device conforms" "$(grep '^overloads:' "$work/report")" \
  "* work, 0 fail, 0 missing, *"
# The lazy device computes on it as on the CPU.
SWITCHYARD_LAZY_DEVICE=accel:0 "$prefix/bin/sy" conform \
  --plugin "$work/build/libaccel.so" --plugin lazy --device lazy --jobs 2 \
  >"$work/report" || grep -A3 '^FAIL' "$work/report" | head -n 40
check_like "the lazy device on it conforms" \
  "$(grep '^overloads:' "$work/report")" "* work, 0 fail, 0 missing, *"
exit "$failed"
