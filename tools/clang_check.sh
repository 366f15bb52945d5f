#!/usr/bin/env bash
# Reads one file with clang, for tools/clang.bzl: a header wholly, a source for
# its includes alone. INPUTS names the files that it may read; it writes those
# that it does not read to UNUSED.
#
# Usage: clang_check.sh INPUTS UNUSED DONE FILE FLAG...
set -euo pipefail

inputs=$1 unused=$2 done=$3 file=$4
shift 4
how=(-E -o /dev/null)
[ "${file##*.}" != h ] || how=(-fsyntax-only -x c++-header)

# gcc's folder comes after all others, for a header that clang lacks: omp.h.
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
# Clang does not name all module maps that it reads.
sort "$inputs" | comm -23 - "$done" | sed '/\/module\.map$/d' >"$unused"
