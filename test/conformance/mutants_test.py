"""`sy conform` notices every kernel that is wrong: each mutant of mutants.cpp
makes it fail, and says in which trial; without one it passes.

Usage: mutants_test.py SY PLUGIN CASES_FOLDER PASSING
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

# mutant: the operator whose trials find it. There is one of each kind of entry
# (pointwise, reduce, scan, foreach, view, composite, dispatch) and of each
# engine that kernels stand on.
MUTANTS = {
    "clamps an index": "index_select",
    "clamps at a million": "add.Tensor",
    "clamps infinity": "relu",
    "computes int64 as float64": "add.Tensor",
    "computes int64 as int32": "add.Tensor",
    "copies as if rows lay together": "_copy_from",
    "copies what it should view": "transpose.int",
    "crashes on no elements": "relu",
    "does not start at zero": "sum.dim_IntList",
    "drops NaN": "relu",
    "fails beyond 6,000 elements": "add.Tensor",
    "fails every 997th call": "add.Tensor",
    "fails for 257 rows": "add.Tensor",
    "fails for a first that broadcasts": "add.Tensor",
    "fails for an offset": "add.Tensor",
    "fails for both that broadcast": "add.Tensor",
    "fails for one tensor twice": "add.Tensor",
    "fails for views of one storage": "add.Tensor",
    "fails in 4 dims": "add.Tensor",
    "fails in 5 dims": "add.Tensor",
    "fails in 6 dims": "add.Tensor",
    "fails in 7 dims": "add.Tensor",
    "fails in rows beyond 4,096": "add.Tensor",
    "fails without dims": "add.Tensor",
    "fills from the start on": "fill_.Scalar",
    "flushes what is small": "add.Tensor",
    "forgets alpha": "add.Tensor",
    "gives indices as numbers": "argmax",
    "ignores descending": "sort.stable",
    "ignores dilation": "convolution",
    "ignores dtype": "sum.dim_IntList",
    "ignores keepdim": "sum.dim_IntList",
    "ignores strides": "add.Tensor",
    "ignores the probability": "bernoulli_.float",
    "ignores upper": "linalg_cholesky_ex",
    "keeps a tensor of each call": "add.Tensor",
    "leaks": "add.Tensor",
    "leaves K beyond 100": "mm",
    "leaves its result": "relu",
    "leaves the end of a range": "linspace.out",
    "leaves the last of a list": "_foreach_add.Scalar",
    "leaves the last of a row": "sum.dim_IntList",
    "leaves the odd end of a product": "mm",
    "leaves copies between devices": "_copy_from",
    "loses bits of bfloat16": "add.Tensor",
    "loses the last index": "max_pool2d_with_indices",
    "passes NaN over": "argmax",
    "reads behind its input": "add.Tensor",
    "reads the first tile again": "add.Tensor",
    "records no gradient": "relu",
    "returns its argument for alpha 0": "add.Tensor",
    "shares a buffer between threads": "add.Tensor",
    "skips the last tile": "add.Tensor",
    "stops a scan too early": "cumsum",
    "sums 128 rows": "sum.dim_IntList",
    "sums 4,096 of a row": "sum.dim_IntList",
    "takes a matrix for row-major": "mm",
    "takes alpha as a whole number": "add.Tensor",
    "takes alpha for 1 or 2": "add.Tensor",
    "takes dim -1 for 0": "sum.dim_IntList",
    "takes the arguments of a composite in reverse": "outer",
    "takes the dtype of the first": "add.Tensor",
    "takes the last of equals": "argmax",
    "takes the size of alpha": "add.Tensor",
    "throws what is no Error": "relu",
    "writes before its result": "add.Tensor",
    "writes behind its result": "add.Tensor",
    "writes past the end": "add_.Tensor",
    "writes to an input": "add.Tensor",
}

# The operators that the backend lists: `--supported` and `--size soak` notice
# their mutants as well.
CLAIMED = {"_copy_from", "add.Tensor", "add_.Tensor", "argmax", "fill_.Scalar",
           "mm", "relu", "sum.dim_IntList"}
AXES = {"rank", "size", "broadcast", "strides", "offset", "sharing",
        "magnitude", "special", "scalars", "repetition", "threads"}


def conform(sy, plugin, mutant, op, folder, size="full"):
    out = os.path.join(folder, "report.json")
    environment = dict(os.environ, SWITCHYARD_MUTANT=mutant,
                       SWITCHYARD_CONFORMANCE=folder)
    command = [sy, "conform", "--plugin", plugin, "--jobs", "1", "--timeout",
               "20", "--size", size, "--json", out]
    command += ["--op", op] if op else ["--supported"]
    done = subprocess.run(command, env=environment, capture_output=True,
                          text=True, check=False, timeout=120)
    with open(out, encoding="utf-8") as file:
        report = json.load(file)
    os.remove(out)
    return done, report


def main():
    sy, plugin, cases, passing = map(os.path.abspath, sys.argv[1:])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(cases, os.path.join(folder, "cases"))
        shutil.copy(passing, os.path.join(folder, "passing.txt"))
        done, report = conform(sy, plugin, "", None, folder)
        if done.returncode != 0:
            print(done.stdout + done.stderr)
            print("FAIL the kernels that the backend lists")
            failed += 1
        done, _ = conform(sy, plugin, "", None, folder, "soak")
        if done.returncode != 0:
            print(done.stdout + done.stderr)
            print("FAIL the kernels that the backend lists, by --size soak")
            failed += 1
        axes = report["overloads"]["add.Tensor"].get("axes", {})
        if {axis for axis, calls in axes.items() if calls} != AXES:
            print(f"FAIL add.Tensor is tried on {axes}")
            failed += 1
        for op in sorted(set(MUTANTS.values())):
            done, report = conform(sy, plugin, "", op, folder)
            calls = sum(r["ways"].get("native", 0)
                        for r in report["overloads"].values())
            if done.returncode != 0 or calls == 0:
                print(done.stdout + done.stderr)
                print(f"FAIL {op} without a mutant")
                failed += 1
        for mutant, op in MUTANTS.items():
            done, report = conform(sy, plugin, mutant, op, folder)
            failures = [(f["id"], f["why"].splitlines()[0])
                        for r in report["overloads"].values()
                        for f in r["failures"]]
            if done.returncode != 1 or not failures:
                print(f"NOT NOTICED {mutant}")
                failed += 1
                continue
            if op in CLAIMED:
                for way, only, size in [("--supported", None, "full"),
                                        ("--size soak", op, "soak")]:
                    done, _ = conform(sy, plugin, mutant, only, folder, size)
                    if done.returncode != 1:
                        print(f"NOT NOTICED {mutant} by {way}")
                        failed += 1
            print(f"{mutant}: {op}, {failures[0][0]}: {failures[0][1]}")
    print(f"{len(MUTANTS)} mutants, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
