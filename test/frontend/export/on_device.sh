#!/usr/bin/env bash
# Runs the programs that Python recorded on the device of SY_TEST_DEVICE.
set -euo pipefail
exec "$1" --gtest_filter='*Recorded*'
