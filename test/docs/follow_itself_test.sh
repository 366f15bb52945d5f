#!/usr/bin/env bash
# follow.py takes a page that says what comes, and no other.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# page LINE...: a page whose commands print two lines; LINEs are what it shows.
page() {
  printf '%s\n' '```sh' 'echo "one 1.5 us"' 'echo two' '```' '' \
    '<!-- output -->' '```text' "$@" '```' >"$folder/page.md"
}
follow() {
  python3 test/docs/follow.py --sygen codegen/sygen --sy tools/sy/sy \
    "$folder/page.md" >"$folder/said" 2>&1
}
takes() {
  page "$@"
  follow || { echo "FAIL refused: $*"; cat "$folder/said"; exit 1; }
}
refuses() {
  page "$@"
  ! follow || { echo "FAIL taken: $*"; exit 1; }
}

takes 'one 1.5 us' two
takes 'one 20 ms' two
takes 'o… us' '…'
takes '…' two
refuses 'one 1.5 us'
refuses 'one 1.5 us' three
refuses 'one 1.5 kB' two
refuses 'one 1.5 us' two three
refuses '…' three

# Commands that fail, a comment that belongs to no block, nothing compared.
printf '%s\n' '```sh' false '```' >>"$folder/page.md"
! follow || { echo "FAIL a command that fails is taken"; exit 1; }
page 'one 1.5 us' two
sed -i 's/<!-- output -->/&\ntext/' "$folder/page.md"
! follow || { echo "FAIL a lost comment is taken"; exit 1; }
page 'one 1.5 us' two
sed -i '/output/d' "$folder/page.md"
! follow || { echo "FAIL a page without outputs is taken"; exit 1; }
