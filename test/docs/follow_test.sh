#!/usr/bin/env bash
# Does what a page says: follow_test.sh PAGE PROGRAM...
set -euo pipefail
export SWITCHYARD_JIT_LIBRARY=$PWD/libswitchyard_jit.so
exec python3 test/docs/follow.py --sygen codegen/sygen --sy tools/sy/sy "$@"
