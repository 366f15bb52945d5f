#!/usr/bin/env bash
# Makes the site of the checkout as `./sy site` does, then runs a test with it.
# The runfile WORKSPACE is a link into the checkout.
# Usage: make_site.sh SYGEN SY TEST.py    SY: -, without facts
set -euo pipefail
root=$(dirname "$(readlink -f WORKSPACE)")
sygen=$PWD/$1 sy=$2 test=$PWD/$3
folder=${TEST_TMPDIR:-$(mktemp -d)}
export SWITCHYARD_SITE=$root/site
options=(--with "$root/schemas" --guides "$root/docs")
if [ "$sy" != - ]; then
  "$PWD/$sy" facts --out "$folder/facts.json"
  options+=(--facts "$folder/facts.json")
fi
"$sygen" site "$folder/site" "${options[@]}" >/dev/null
export SITE=$folder/site SYGEN=$sygen SCHEMAS=$root/schemas
exec python3 "$test"
