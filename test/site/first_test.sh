#!/usr/bin/env bash
# Usage: first_test.sh PROGRAM OUTPUT
set -euo pipefail
diff "$2" <("$1")
