#!/usr/bin/env bash
# Refuses schemas that are incompatible with those of the last release, unless
# the version was raised: the minor number of 0.x, later the major one. Refuses
# a list of overloads that must work if it lacks one that the release had.
# Usage: check_release.sh SYGEN RECORD SCHEMAS VERSION.H PASSING
set -euo pipefail

sygen=$1 record=$2 schemas=$3 header=$4 passing=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xJf "$record/schemas.tar.xz" -C "$work"
released=$(cat "$record/VERSION")
current=$(sed -n 's/^#define SY_VERSION_STRING "\(.*\)"$/\1/p' "$header")

# The part of a version that an incompatible change must raise.
significant() {
  local major minor
  IFS=. read -r major minor _ <<<"$1"
  if [ "$major" = 0 ]; then echo $((minor)); else echo $((major * 1000)); fi
}

lost=$(LC_ALL=C comm -23 <(LC_ALL=C sort "$work/passing.txt") \
  <(LC_ALL=C sort "$passing"))
if [ -n "$lost" ]; then
  echo "These overloads worked in $released and are not in $passing:"
  echo "$lost"
  exit 1
fi

status=0
"$sygen" diff "$work" "$schemas" >"$work/changes" 2>&1 || status=$?
case $status in
  0) echo "compatible with $released" ;;
  1)
    if [ "$(significant "$current")" -gt "$(significant "$released")" ]; then
      echo "incompatible with $released, as $current may be"
    else
      cat "$work/changes"
      echo "These schemas are not compatible with the released $released."
      echo "Undo what sygen calls incompatible, or raise the version in" \
        "c10/version.h (now $current)."
      exit 1
    fi
    ;;
  *)
    cat "$work/changes"
    exit "$status"
    ;;
esac
