#!/usr/bin/env bash
# Every installed header compiles alone, but for the one that is the inside of
# a class. Usage: run.sh PREFIX
set -euo pipefail

include=$(cd "$1" && pwd)/include/switchyard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$include"
find . -name '*.h' ! -name tensor_methods_gen.h | sort >"$work/headers"
# A header is the only line of its source: nothing before it helps it.
xargs -P "$(nproc)" -I{} bash -c '
  echo "#include \"{}\"" | "${CXX:-c++}" -std=c++20 -fsyntax-only -x c++ \
    -I. - 2>"$0/$(echo {} | tr / _).txt" || echo {}
' "$work" <"$work/headers" >"$work/failed"
while read -r header; do
  echo "FAIL $header"
  head -n 4 "$work/$(echo "$header" | tr / _).txt"
done <"$work/failed"
echo "$(($(wc -l <"$work/headers") - $(wc -l <"$work/failed"))) of" \
  "$(wc -l <"$work/headers") headers compile alone"
[ ! -s "$work/failed" ]
