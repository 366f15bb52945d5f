#!/usr/bin/env bash
# Builds and runs the libtorch side of the comparison. Usage: run_torch.sh [google-benchmark flags]
# Installs torch into a venv (about 6 GB, some minutes) the first time. PEER_DIR says where (default: a cache folder).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${PEER_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/switchyard-peers}
mkdir -p "$dir"
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
# A binary that is there was built against torch; importing it takes a second.
[ -x "$dir/torch_bench" ] || "$dir/venv/bin/python" -c 'import torch' 2>/dev/null || "$dir/venv/bin/pip" install -q torch==2.15.0
site=$("$dir/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
libs=$(find "$site/nvidia" -type d -name lib | tr '\n' ':')
ours=$here/..
sources=("$here/torch_bench.cpp" "$ours/families.cpp" "$ours/models.cpp"
  "$ours/recurrent.cpp" "$ours/training.cpp")
if [ ! -x "$dir/torch_bench" ] ||
  [ -n "$(find "${sources[@]}" "$ours/both.h" -newer "$dir/torch_bench")" ]; then
  g++ -O2 -std=c++20 -DPEER "${sources[@]}" -o "$dir/torch_bench" -I"$ours/.." -I"$site/torch/include" \
    -I"$site/torch/include/torch/csrc/api/include" -L"$site/torch/lib" -Wl,-rpath,"$site/torch/lib" \
    -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10 -lbenchmark -lpthread -Wl,--allow-shlib-undefined
fi
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} LD_LIBRARY_PATH="$libs${LD_LIBRARY_PATH:-}" "$dir/torch_bench" "$@"
