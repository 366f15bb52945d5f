#!/usr/bin/env bash
# Builds examples/own_cuda_op outside the tree against an installed SDK, with
# NVRTC and, where there is one, with nvcc, and runs it: on the CPU, and on a
# GPU if there is one.
# Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$here/../checks.sh"

# For ones: 0.5 x + 0.5 times the value before; the slope is the same backwards.
rows='       ema    slope
    0.5000   0.9375
    0.7500   0.8750
    0.8750   0.7500
    0.9375   0.5000'

# try_with NAME: what was configured
try_with() {
  build
  check "$1: it builds without a warning" "$(grep -c warning: "$work/log")" 0
  local said
  said=$("$work/build/own_cuda_op")
  check "$1: on the CPU" "$(head -n 6 <<<"$said")" "cpu
$rows"
  if [[ "$said" == *"no GPU: "* ]]; then
    echo "SKIP $1: on a GPU: ${said##*no GPU: }"
  else
    check_like "$1: on a GPU" "$(tail -n 6 <<<"$said")" "cuda*
$rows"
  fi
}

configure "$here/../../../examples/own_cuda_op" -DOWN_CUDA_NVCC=OFF
try_with NVRTC

for nvcc in "${CUDACXX:-}" "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" \
  "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc \
  "${XDG_CACHE_HOME:-$HOME/.cache}"/switchyard/cuda-*/bin/nvcc ''; do
  if [ -x "$nvcc" ]; then break; fi
done
if [ -z "$nvcc" ]; then
  echo "SKIP examples/own_cuda_op: this machine has no nvcc"
  exit "$failed"
fi
export CUDACXX=$nvcc
rm -r "$work/build"
configure "$here/../../../examples/own_cuda_op" -DOWN_CUDA_NVCC=ON
try_with nvcc
exit "$failed"
