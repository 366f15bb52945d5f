#!/usr/bin/env bash
# An operator of each kind, compiled outside the tree against an installed SDK
# and loaded at run time: the same answers, forms and gradients. `sygen new-op`
# begins an entry of each kind. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/{CMakeLists.txt,main.cpp,kinds.yaml} "$work"

# shellcheck source=../checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

configure "$work"
build
check "it builds without a warning" "$(grep -c warning: "$work/log")" 0
sed 's/kinds::/loaded::/' "$work/kinds.yaml" >"$work/loaded.yaml"
"$work/build/kinds" "$work/loaded.yaml" || failed=1

# A program with one kind alone has all its includes from that kind.
for name in $(sed -n 's/^- func: kinds::\([a-z_0-9]*\).*/\1/p' \
  "$work/kinds.yaml"); do
  if [ "$name" = mish_each ]; then continue; fi # calls another of its file
  one="$work/alone_$name"
  mkdir "$one"
  awk -v RS= -v name="kinds::$name(" 'index($0, name)' "$work/kinds.yaml" |
    sed '/^#/d' >"$one/kinds.yaml"
  extra=()
  for f in "$prefix"/share/switchyard/schemas/{ops/*,tags}.yaml \
    "$prefix"/share/switchyard/backends/*/backend.yaml; do
    extra+=(--extra "$f")
  done
  (cd "$one" && "$prefix/bin/sygen" emit --kind library --input kinds.yaml \
    "${extra[@]}" --out kinds.h --out kinds.cpp)
  if "${CXX:-c++}" -std=c++20 -fsyntax-only -I"$one" \
    -I"$prefix/include/switchyard" "$one/kinds.cpp" >"$work/log" 2>&1; then
    check "$name compiles alone" good good
  else
    head -n 5 "$work/log"
    check "$name compiles alone" bad good
  fi
done

new_op() { "$prefix/bin/sygen" new-op "$1" --kind "$2" | grep "^  $2:"; }
check_like "new-op knows pointwise" \
  "$(new_op 'f(Tensor self) -> Tensor' pointwise)" "?*"
check_like "new-op knows reduce" \
  "$(new_op 'f(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor' \
    reduce)" "?*"
check_like "new-op knows scan" \
  "$(new_op 'f(Tensor self, int dim) -> Tensor' scan)" "?*"
check_like "new-op knows composite" \
  "$(new_op 'f(Tensor self) -> Tensor' composite)" "?*"
check_like "new-op knows foreach" \
  "$(new_op 'f(Tensor[] self) -> Tensor[]' foreach)" "?*"
check_like "new-op knows view" \
  "$(new_op 'f(Tensor(a) self) -> Tensor(a)' view)" "?*"
exit "$failed"
