# The run.sh scripts source this file; $work is their folder, "$failed" their
# exit status.

failed=0
# check WHAT GOT EXPECTED
check() {
  if [ "$2" = "$3" ]; then
    echo "PASS $1"
  else
    echo "FAIL $1: expected '$3', got '$2'"
    failed=1
  fi
}
# The same with a shell pattern.
check_like() {
  # shellcheck disable=SC2053
  if [[ "$2" == $3 ]]; then
    echo "PASS $1"
  else
    echo "FAIL $1: expected '$3', got '$2'"
    failed=1
  fi
}

# configure SOURCE OPTION...: for build, with the SDK at $prefix
configure() {
  local source=$1
  shift
  local generator=()
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  cmake "${generator[@]}" -S "$source" -B "$work/build" \
    -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$work/log" || {
    cat "$work/log"
    exit 1
  }
}
build() {
  cmake --build "$work/build" >"$work/log" 2>&1 || {
    cat "$work/log"
    return 1
  }
}
