#!/usr/bin/env bash
# Builds examples/own_op outside the tree against an installed SDK, then again
# with another expression: the answers follow. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/../../../examples/own_op/{CMakeLists.txt,main.cpp,mine.yaml} "$work"

# shellcheck source=../checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

# The row of x = 1: the value, and the slope.
row() { "$work/build/own_op" | awk '$1 == "1.0000" { print $2, $3 }'; }

configure "$work"

# exp(-(x/w)^2) and its derivative, at x = 1 and w = 1.5.
build
check "the operator and its gradient" "$(row)" "0.6412 -0.5699"

sed -i 's|pointwise: .*|pointwise: 1 / (1 + square(self / width))|' \
  "$work/mine.yaml"
build
check "another expression, another answer" "$(row)" "0.6923 -0.4260"

check "what sy prove says of it" \
  "$("$prefix/bin/sy" prove 'mine::*' --schema "$work/mine.yaml" |
    sed -E 's/ +[0-9]+/ N/g')" \
  "mine::bump  agreed N  described N  strided N  aliased N  threaded N  starved N  hostile N  gradient  second  points N  values N
1 operator holds, N do not, N need --args"

sed -i 's|pointwise: .*|pointwise: 1 / (1 + sqare(self / width))|' \
  "$work/mine.yaml"
if build >"$work/messages"; then
  check "a wrong expression is not built" built refused
else
  check "a wrong expression is an error at its place" \
    "$(grep -oE "mine.yaml:[0-9]+:[0-9]+: error: .*sqare.*square" \
      "$work/messages" | head -n 1 | sed 's/:[0-9]*:[0-9]*:.*/:LINE:COLUMN/')" \
    "mine.yaml:LINE:COLUMN"
fi
exit "$failed"
