#!/usr/bin/env bash
# Unpacks the recorded cases; a folder that holds these already is kept.
# Usage: unpack_cases.sh ARCHIVE.tar.xz DIR
set -euo pipefail
stamp=$2/.unpacked
sum=$(sha256sum <"$1")
[ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || exit 0
if [ -e "$stamp" ]; then
  rm -rf "$2" # an older set, unpacked by this script
fi
mkdir -p "$2"
tar -xJf "$1" -C "$2"
echo "$sum" >"$stamp"
