#!/usr/bin/env bash
# Runs a test on the device of $SY_TEST_DEVICE.
exec "$@"
