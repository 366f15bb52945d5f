#!/usr/bin/env bash
# Replays the recorded cases with functional tensors as arguments: the same
# results, writes, aliases and gradients, and no value is ever written. Fails
# unless every overload of passing.txt works. A shard takes every n-th.
set -euo pipefail
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
here=test/conformance all=$TEST_TMPDIR/cases mine=$TEST_TMPDIR/mine
shard=${TEST_SHARD_INDEX:-0} shards=${TEST_TOTAL_SHARDS:-1}
[ -z "${TEST_SHARD_STATUS_FILE:-}" ] || touch "$TEST_SHARD_STATUS_FILE"

tools/unpack_cases.sh $here/cases.tar "$all"
mkdir "$mine"
for f in "$all"/*.json; do basename "$f" .json; done |
  awk -v i="$shard" -v n="$shards" 'NR % n == i' >"$TEST_TMPDIR/names"
while read -r name; do
  for kind in json safetensors; do
    [ ! -e "$all/$name.$kind" ] || ln "$all/$name.$kind" "$mine/"
  done
done <"$TEST_TMPDIR/names"

grep -xFf "$TEST_TMPDIR/names" $here/passing.txt >"$TEST_TMPDIR/required"
exec tools/sy/sy conform --functionalize --cases "$mine" --jobs 2 \
  --timeout 120 --must-pass "$TEST_TMPDIR/required"
