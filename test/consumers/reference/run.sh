#!/usr/bin/env bash
# examples/reference, built against an installed SDK: every recorded call of
# every operator gives on its device what it should, and none goes to the CPU.
# Usage: run.sh PREFIX
set -euo pipefail
shopt -s extglob

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$here/../checks.sh"

configure "$here/../../../examples/reference"
build
check "it builds without a warning" "$(grep -c warning: "$work/log")" 0
plugin=$work/build/libreference.so

"$work/build/random_test" "$plugin" >"$work/random" ||
  grep '^FAIL' "$work/random"
check "random numbers are those of the CPU" \
  "$(grep -c '^PASS' "$work/random") $(grep -c '^FAIL' "$work/random")" "56 0"

"$prefix/bin/sy" conform --plugin "$plugin" --jobs 2 >"$work/report" ||
  grep -A3 '^FAIL' "$work/report" | head -n 40
check_like "every operator conforms" "$(grep '^overloads:' "$work/report")" \
  "* work, 0 fail, 0 missing, *"
# A call on the CPU would end the line.
check_like "no call goes to the CPU" "$(grep '^ways:' "$work/report")" \
  "ways: +([0-9]) by kernels of the backend, +([0-9]) composed of other operators!(*on the CPU*)"

# native, composed, cpu, none
read -r _ native composed cpu none < <(
  "$prefix/bin/sy" coverage --plugin "$plugin" | tail -n 1
)
check "sy coverage agrees: nothing on the CPU, or without a way" \
  "$cpu $none" "0 0"
check "more than 300 have a kernel, the rest is composed" \
  "$((native > 300 && composed > 2000))" 1
exit "$failed"
