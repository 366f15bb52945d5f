#!/usr/bin/env bash
# `./sy bench --cuda` measures all that it should, on the fake driver: that it
# runs, not what it takes. Programs are interpreted. Without a driver, it says
# so.
set -euo pipefail

ln -s "$PWD" "$TEST_TMPDIR/bazel-bin"
bench=(python3 tools/bench_cuda.py --built "$TEST_TMPDIR" --smoke --alone
  --rounds 1 --json "$TEST_TMPDIR/out.json")

SWITCHYARD_CUDA_DRIVER=/nowhere "${bench[@]}" >"$TEST_TMPDIR/none"
grep -q '^no GPU here: .*/nowhere' "$TEST_TMPDIR/none"
grep -q '^SKIPPED' "$TEST_TMPDIR/none"
[ ! -e "$TEST_TMPDIR/out.json" ]

SWITCHYARD_CUDA_JIT=off "${bench[@]}"
python3 - "$TEST_TMPDIR/out.json" <<'END'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    rows = {row["name"]: row for row in json.load(file)["figures"]}
expected = ["bare_launch", "own_add", "submit_add", "empty", "first_pointwise",
            "first_reduction", "first_other", "sort_f32", "sort_f32_own",
            "sort_rows_16", "unique_i32", "bincount_i32", "nonzero_bool",
            "cumsum_f32"]
shares = [f"{what}_{dtype}" for dtype in ("f32", "bf16")
          for what in ("add", "mul", "gelu", "sum_all", "sum_dim0", "sum_dim1",
                       "argmax", "add_transposed")]
shares += [f"{what}_{n}" for what in ("softmax", "layer_norm")
           for n in (32, 64)]
for name in expected + shares:
    assert name in rows, f"{name} was not measured"
for name in shares:
    assert rows[name]["ns"] > 0 and rows[name]["share"] > 0, rows[name]
    assert rows[name]["goal"].endswith("%"), rows[name]
assert rows["bare_launch"]["ns"] > 0 and rows["submit_add"]["goal"]
assert rows["library"]["mb"] > 0
END
