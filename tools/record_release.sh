#!/usr/bin/env bash
# Records the schemas of a release and the overloads that worked in it, with
# which check_release.sh compares later ones. Usage: record_release.sh DIR    (test/codegen/released)
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
sed -n 's/^#define SY_VERSION_STRING "\(.*\)"$/\1/p' "$root/c10/version.h" \
  >"$1/VERSION"
tar -C "$root/schemas" --sort=name --mtime=@0 --owner=0 --group=0 \
  --numeric-owner --mode=u=rw,go=r --format=ustar -cf - ops tags.yaml \
  -C "$root/test/conformance" passing.txt |
  xz -9e -T1 >"$1/schemas.tar.xz"
