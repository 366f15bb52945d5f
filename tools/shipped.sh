#!/usr/bin/env bash
# Lists the libraries that an installation copies: those that
# third_party/libraries.txt names under `ships` and that the programs and
# libraries named here need, by way of others too. A line is SONAME TAB PATH.
# Usage: shipped.sh FILE...
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck source=libraries.sh
source "$root/tools/libraries.sh"

declare -A ships
while read -r soname; do ships[$soname]=1; done < <(libraries_words ships)

needed=$(ldd "$@")
while read -r soname arrow path _; do
  if [ "$arrow" = "=>" ] && [ -n "${ships[$soname]:-}" ]; then
    printf '%s\t%s\n' "$soname" "$path"
  fi
done <<<"$needed" | sort -u
