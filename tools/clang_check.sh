#!/usr/bin/env bash
# Reads one file with clang, for tools/clang.bzl: a header wholly, of a source
# what it includes. INPUTS names all that it may read; what it does not read of
# that is written to UNUSED.
#
# Usage: clang_check.sh INPUTS UNUSED DONE FILE FLAG...
set -euo pipefail

inputs=$1 unused=$2 done=$3 file=$4
shift 4
how=(-E -o /dev/null)
[ "${file##*.}" != h ] || how=(-fsyntax-only -x c++-header)

# After all others for what clang does not have: gcc's omp.h.
clang-16 "$@" -idirafter "$(g++ -print-file-name=include)" \
  -MD -MF "$unused" -MT x "${how[@]}" "$file"
sed -e 's/^x://' -e 's/\\$//' "$unused" | tr -s ' ' '\n' |
  sed -e '/^$/d' -e '/^\//d' -e 's|^\./||' | sort -u >"$done"
undeclared=$(sort "$inputs" | comm -13 - "$done")
if [ -n "$undeclared" ]; then
  printf '%s:1: error: it includes %s, of a target that it does not depend on\n' \
    "$file" "${undeclared//$'\n'/, }" >&2
  exit 1
fi
# Of module maps clang does not name all that it reads.
sort "$inputs" | comm -23 - "$done" | sed '/\/module\.map$/d' >"$unused"
