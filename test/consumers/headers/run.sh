#!/usr/bin/env bash
# Every installed header compiles alone, but for the one that is the inside of
# a class, and all of them in one source. Usage: run.sh PREFIX
set -euo pipefail

include=$(cd "$1" && pwd)/include/switchyard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$include"
# A header of three lines is the old name of another, which it includes.
find . -name '*.h' ! -name tensor_methods_gen.h \
  -exec awk 'FNR == 4 { print FILENAME; nextfile }' {} + | sort >"$work/headers"
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

# No name of one is another thing in another.
sed 's/.*/#include "&"/' "$work/headers" >"$work/all.cpp"
together=yes
"${CXX:-c++}" -std=c++20 -fsyntax-only -I. "$work/all.cpp" 2>"$work/all.txt" || {
  together=no
  echo "FAIL all headers in one source"
  head -n 4 "$work/all.txt"
}
[ ! -s "$work/failed" ] && [ $together = yes ]
