#!/usr/bin/env bash
# Packs an installation: a folder switchyard-VERSION-SYSTEM that works wherever
# it is unpacked. The same files give the same bytes.
# Usage: package.sh PREFIX ARCHIVE.tar.xz    (`./sy package` installs first)
set -euo pipefail

prefix=$(cd "$1" && pwd)
archive=$2
version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/switchyard.pc")
folder=switchyard-$version-linux-$(uname -m)
tar --directory "$prefix" --sort=name --mtime=@0 --owner=0 --group=0 \
  --numeric-owner --transform "s|^\\.|$folder|S" -cf - . |
  xz --threads=0 -2 >"$archive"
echo "packed $folder as $archive"
