#!/usr/bin/env bash
# examples/audio, built against an installed SDK: operators of a library and of
# a file, with their gradients, through every trial. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
project=$here/../../../examples/audio

# shellcheck source=../checks.sh
source "$here/../checks.sh"

configure "$project"
build
check "it builds without a warning" "$(grep -c warning: "$work/log")" 0
"$work/build/host" "$work/build/libaudio.so" "$project/studio.yaml" || failed=1

for file in audio studio; do
  "$prefix/bin/sygen" examples "$project/$file.yaml"
done >"$work/words"
prove() {
  # Zeros have power 0, where decay has a kink: its slope counts as 0 there, and
  # the second derivative of loudness with it.
  "$prefix/bin/sy" prove "$1" --schema "$project/studio.yaml" \
    --plugin "$work/build/libaudio.so" --examples "$work/words" \
    --except 'audio::loudness:orders' | tail -n 1
}
check "sy prove: the library's operators hold" "$(prove 'audio::*')" \
  "4 operators hold, 0 do not, 0 need --args"
check "sy prove: the file's operators hold" "$(prove 'studio::*')" \
  "2 operators hold, 0 do not, 0 need --args"
exit "$failed"
