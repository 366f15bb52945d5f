#!/usr/bin/env bash
# Builds examples/own_cuda_op outside the tree against an installed SDK, where
# there is nvcc, and runs it: on the CPU, and on a GPU if there is one.
# Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$here/../checks.sh"

for nvcc in "${CUDACXX:-}" "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" \
  "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc \
  "${XDG_CACHE_HOME:-$HOME/.cache}"/switchyard/cuda-*/bin/nvcc ''; do
  if [ -x "$nvcc" ]; then break; fi
done
if [ -z "$nvcc" ]; then
  echo "SKIP examples/own_cuda_op: there is no nvcc"
  exit 0
fi
export CUDACXX=$nvcc

configure "$here/../../../examples/own_cuda_op"
build
check "it builds without a warning" "$(grep -c warning: "$work/log")" 0

# 0.5 x + 0.5 of what came before, for ones; the slope is the same backwards.
rows='       ema    slope
    0.5000   0.9375
    0.7500   0.8750
    0.8750   0.7500
    0.9375   0.5000'
said=$("$work/build/own_cuda_op")
check "on the CPU" "$(head -n 6 <<<"$said")" "cpu
$rows"
if [[ "$said" == *"no GPU: "* ]]; then
  echo "SKIP on a GPU: ${said##*no GPU: }"
else
  check_like "on a GPU" "$(tail -n 6 <<<"$said")" "cuda*
$rows"
fi
exit "$failed"
