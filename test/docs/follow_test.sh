#!/usr/bin/env bash
# Does what a page says: follow_test.sh PAGE PROGRAM...
set -euo pipefail
export SWITCHYARD_JIT_LIBRARY=$PWD/libswitchyard_jit.so
export SWITCHYARD_SITE=$PWD/site
for name in FAKE_CUDA_INCLUDE SWITCHYARD_CUDA_DRIVER SWITCHYARD_NVRTC; do
  [ -z "${!name:-}" ] || export "$name=$PWD/${!name}"
done
exec python3 test/docs/follow.py --sygen codegen/sygen --sy tools/sy/sy "$@"
