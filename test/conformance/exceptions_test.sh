#!/usr/bin/env bash
# Every overload with recorded cases is in passing.txt or, with a reason, in
# exceptions.txt, and in one of them alone: passing.txt shrinks by no accident.
set -euo pipefail
export LC_ALL=C
here=test/conformance work=$TEST_TMPDIR
tools/unpack_cases.sh $here/cases.tar "$work/cases"
failed=0

# compare CASES PASSING EXCEPTIONS: what is wrong, a line each
compare() {
  sort "$2" >"$work/passing"
  sed -n '/^#/d; s/: ..*//p' "$3" | sort >"$work/exceptions"
  sed -n '/^#/d; /: ./!s/$/: no reason is given/p' "$3"
  comm -12 "$work/passing" "$work/exceptions" | sed 's/$/: is in both lists/'
  sort -u "$work/passing" "$work/exceptions" >"$work/known"
  comm -23 "$1" "$work/known" | sed 's/$/: has cases and is in no list/'
  comm -13 "$1" "$work/known" | sed 's/$/: has no cases/'
}

check() {
  if [ "$2" = "$3" ]; then echo "PASS $1"; else
    echo "FAIL $1: $2"
    failed=1
  fi
}

for file in "$work"/cases/*.json; do basename "$file" .json; done | sort \
  >"$work/names"
check "the lists hold what has cases" \
  "$(compare "$work/names" $here/passing.txt $here/exceptions.txt)" ""

# The comparison itself.
printf '%s\n' a b c >"$work/abc"
printf '%s\n' a c >"$work/ac"
printf '%s\n' '# why' 'b: a reason' >"$work/b"
check "all are there" "$(compare "$work/abc" "$work/ac" "$work/b")" ""
printf '%s\n' a >"$work/a"
check "one is lost" "$(compare "$work/abc" "$work/a" "$work/b")" \
  "c: has cases and is in no list"
check "a case file is lost" "$(compare "$work/ac" "$work/ac" "$work/b")" \
  "b: has no cases"
check "one is in both" "$(compare "$work/abc" "$work/abc" "$work/b")" \
  "b: is in both lists"
echo b >"$work/bare"
check "a reason is missing" \
  "$(compare "$work/abc" "$work/ac" "$work/bare" | head -n 1)" \
  "b: no reason is given"
exit "$failed"
