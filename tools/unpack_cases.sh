#!/usr/bin/env bash
# Makes a folder of recorded cases, as `sy conform --cases` reads them, of their
# texts or of an archive of such a folder. A folder made of the same is kept.
# Usage: unpack_cases.sh TEXTS|ARCHIVE.tar DIR
set -euo pipefail
stamp=$2/.unpacked
if [ -d "$1" ]; then
  sum=$(cat "$1"/*.txt | sha256sum)
else
  sum=$(sha256sum <"$1")
fi
[ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || exit 0
if [ -e "$stamp" ]; then
  rm -rf "$2" # an older set, unpacked by this script
fi
mkdir -p "$2"
if [ -d "$1" ]; then
  python3 "$1/../case_text.py" unpack "$1" "$2"
else
  tar -xf "$1" -C "$2"
fi
echo "$sum" >"$stamp"
