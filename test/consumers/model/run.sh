#!/usr/bin/env bash
# Models and optimizers from the SDK: a library of models that hides its
# symbols, and a program that trains, copies, writes and reads one.
# Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

configure "$here"
build
mkdir "$work/files"
check "a model is trained, copied, written, read, and errors name its layers" \
  "$("$work/build/model" "$work/files" 2>&1)" "$(cat "$here/expected.txt")"
exit "$failed"
