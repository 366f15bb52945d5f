#!/usr/bin/env bash
# Does what the guides say that compile, with an installed SDK, and compares
# what they show. Usage: run.sh PREFIX
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
prefix=$(cd "$1" && pwd)
failed=0
for page in first_program add_an_operator write_a_backend distributed; do
  python3 "$root/test/docs/follow.py" --sdk "$prefix" \
    "$root/docs/$page.md" || failed=1
done
exit "$failed"
