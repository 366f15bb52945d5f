#!/usr/bin/env bash
# Tests the words that bash completes after `sy completion bash` and `sygen
# completion bash`, and that zsh reads its scripts.
# Usage: completion_test.sh SY SYGEN
set -euo pipefail

sy=$(realpath "$1") sygen=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$sy" "$work/sy"
ln -s "$sygen" "$work/sygen"
PATH=$work:$PATH
failed=0

"$sy" completion bash >"$work/sy.bash"
"$sygen" completion bash >"$work/sygen.bash"
# shellcheck disable=SC1091
source "$work/sy.bash"
# shellcheck disable=SC1091
source "$work/sygen.bash"

# check EXPECTED WORD...: the last word is the one that is completed
check() {
  local expected=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  "_$1" || true
  local got="${COMPREPLY[*]}"
  # shellcheck disable=SC2053
  if [[ "$got" == $expected ]]; then
    echo "PASS $*"
  else
    echo "FAIL $*: expected '$expected', got '${got:0:200}'"
    failed=1
  fi
}

check "explain" sy ex
check "completion conform coverage" sy co
check "--plugin" sy ops --pl
check "hostile" sy conform --trials ho
check "relu relu.out relu6 relu6_ relu_" sy explain relu
check "relu relu.out relu6 relu6_ relu_" sy ops --json relu
check "bash zsh" sy completion ""
check "" sy doctor li
check "new-op new-backend" sygen new
check "--derivatives" sygen import --der
check "*relu*" sygen explain relu

if command -v zsh >/dev/null; then
  for program in sy sygen; do
    "$work/$program" completion zsh >"$work/_$program"
    if zsh -f -c "autoload -Uz compinit && compinit -u -d '$work/dump' &&
      source '$work/_$program' && [ \"\${_comps[$program]}\" = _$program ]"; then
      echo "PASS zsh reads the script of $program"
    else
      echo "FAIL zsh does not read the script of $program"
      failed=1
    fi
  done
fi
exit "$failed"
