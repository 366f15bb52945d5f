#!/usr/bin/env bash
# Compares the schemas with those of the last release, and tests what the check
# says of changes. Usage: released_test.sh SYGEN
set -euo pipefail

sygen=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check WHAT STATUS PART-OF-THE-OUTPUT RECORD SCHEMAS VERSION
check() {
  local status=0 out
  echo "#define SY_VERSION_STRING \"$6\"" >"$work/version.h"
  out=$(tools/check_release.sh "$sygen" "$4" "$5" "$work/version.h" \
    "$work/passing" 2>&1) || status=$?
  if [ "$status" = "$2" ] && [[ "$out" == *"$3"* ]]; then
    echo "PASS $1"
  else
    echo "FAIL $1: status $status: $out"
    failed=1
  fi
}

tools/check_release.sh "$sygen" test/codegen/released schemas c10/version.h \
  test/conformance/passing.txt || failed=1

# The record of a release, and a tree in which one default is another.
mkdir -p "$work/record" "$work/old/ops" "$work/new/ops"
cat >"$work/old/ops/mine.yaml" <<'END'
- func: scale(Tensor self, float by=1.5) -> Tensor
  doc: Scaled.
  promote: int_to_float
  pointwise: self * by
END
sed 's/by=1.5/by=2.5/' "$work/old/ops/mine.yaml" >"$work/new/ops/mine.yaml"
for tree in old new; do echo '[]' >"$work/$tree/tags.yaml"; done
printf '%s\n' scale scale.out >"$work/old/passing.txt"
cp "$work/old/passing.txt" "$work/passing"
tar -C "$work/old" -cJf "$work/record/schemas.tar.xz" ops tags.yaml passing.txt

echo 0.3.1 >"$work/record/VERSION"
check "the same is compatible" 0 "compatible with 0.3.1" \
  "$work/record" "$work/old" 0.3.1
check "a change is refused" 1 "default of 'by' changed" \
  "$work/record" "$work/new" 0.3.1
check "and says what to do" 1 "raise the version in c10/version.h (now 0.3.2)" \
  "$work/record" "$work/new" 0.3.2
check "but for the next minor version of 0.x" 0 "as 0.4.0 may be" \
  "$work/record" "$work/new" 0.4.0
check "and for 1.0" 0 "as 1.0.0 may be" "$work/record" "$work/new" 1.0.0
echo 1.3.1 >"$work/record/VERSION"
check "later a minor version is not enough" 1 "not compatible" \
  "$work/record" "$work/new" 1.4.0
check "a major one is" 0 "as 2.0.0 may be" "$work/record" "$work/new" 2.0.0
echo scale >"$work/passing"
check "what worked must work, whatever the version" 1 "scale.out" \
  "$work/record" "$work/old" 2.0.0
exit "$failed"
