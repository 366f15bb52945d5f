#!/usr/bin/env bash
# examples/vision, built against an installed SDK: its tests, then its programs
# and operators on the devices lazy and my_npu. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
project=$here/../../../examples/vision
recorded=$project/test

# shellcheck source=../checks.sh
source "$here/../checks.sh"

"$prefix/bin/sygen" new-backend my_npu --dir "$work/project" >/dev/null
configure "$work/project"
build
mv "$work/build/libmy_npu.so" "$work"
rm -r "$work/build"

configure "$project"
build
check "it builds without a warning" "$(grep -c warning: "$work/log")" 0
if ! (cd "$work/build" && ctest --output-on-failure >"$work/log"); then
  cat "$work/log"
fi
check_like "its tests pass" "$(grep 'tests passed' "$work/log")" \
  "100% tests passed*"

# on DEVICE LIBRARY PROGRAM ARGUMENT...: what it saves is what torchvision said.
on() {
  local device=$1 library=$2 program=$3 result=differs
  shift 3
  "$work/build/$program" "$@" --device "$device" --plugin "$library" \
    --save "$work/saved" &>"$work/log" || cat "$work/log"
  "$work/build/same" "$program" "$work/saved" \
    "$recorded/models.safetensors" >"$work/log" && result=same
  check "$program on $device" "$result" same
  rm -f "$work/saved"
}
# Mask R-CNN is not for plain loops: a matrix of its is 1000 x 12544.
lazy=$prefix/lib/libswitchyard_lazy.so
street=$recorded/street.ppm
on lazy "$lazy" detect seed:2 "$street" "$work/found.ppm" \
  --backbone resnet14 --size 128 --score 0.594
for device in lazy my_npu; do
  library=$lazy
  [ "$device" = lazy ] || library=$work/libmy_npu.so
  on "$device" "$library" classify resnet10 seed:3 "$street" --classes 10 \
    --size 72
  on "$device" "$library" segment seed:2 "$street" "$work/classes.ppm" \
    --backbone resnet14 --size 120
  check_like "operators on $device" "$("$work/build/ops_test" \
    "$work/build/libvision_ops.so" "$recorded/ops.safetensors" "$device" \
    "$library" | grep -c ' 0 wrong')" 6
done
exit "$failed"
