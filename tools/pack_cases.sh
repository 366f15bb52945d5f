#!/usr/bin/env bash
# Packs a folder of recorded cases; the same files give the same bytes.
# Usage: pack_cases.sh DIR ARCHIVE.tar.xz
set -euo pipefail
(cd "$1" && find . -type f -printf '%P\n' | LC_ALL=C sort) |
  tar -C "$1" --owner=0 --group=0 --numeric-owner --mtime=@0 \
    --mode=u=rw,go=r --format=ustar --verbatim-files-from -T - -cf - |
  xz -9e -T1 >"$2"
