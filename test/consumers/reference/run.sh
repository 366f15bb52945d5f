#!/usr/bin/env bash
# examples/reference, built against an installed SDK: every recorded call of
# every operator gives on its device what it should, and no operator is without
# a way there. Usage: run.sh PREFIX
set -euo pipefail

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

"$prefix/bin/sy" conform --plugin "$plugin" --jobs 2 >"$work/report" ||
  grep -A3 '^FAIL' "$work/report" | head -n 40
check_like "every operator conforms" "$(grep '^overloads:' "$work/report")" \
  "* work, 0 fail, 0 missing, *"
check_like "by kernels, by composition, and some on the CPU" \
  "$(grep '^ways:' "$work/report")" \
  "ways: * by kernels of the backend, * composed of other operators, * on the CPU"

# native, composed, cpu, none
read -r _ native composed cpu none < <(
  "$prefix/bin/sy" coverage --plugin "$plugin" | tail -n 1
)
check "sy coverage agrees: operators without a way" "$none" 0
check "more than 290 have a kernel" "$((native > 290))" 1
check "fewer than 100 go to the CPU" "$((cpu < 100 && composed > 1900))" 1
exit "$failed"
