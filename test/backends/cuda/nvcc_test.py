"""Compiles the sources of kernels with nvcc, for sm_80 and sm_90.

Usage: nvcc_test.py NVCC INSTANCES SOURCES FOLDER...    exit 1 if one does not

Kernels are compiled by NVRTC when they are needed; nvcc accepts the same text.
INSTANCES lists the definitions that the library compiles a source of the folder
SOURCES with, a line for each: `SOURCE NAME=VALUE ...`. With SY_ALL_KERNELS=1
each is compiled, without it the first of each source.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile


def read_instances(path):
    """Source -> the definitions of each of its lines."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                found.setdefault(words[0], []).append(words[1:])
    return found


def compile_one(nvcc, source, definitions, folders):
    """What nvcc says if it refuses, else nothing."""
    with tempfile.TemporaryDirectory() as out:
        command = [
            nvcc, "-std=c++17", "--fmad=false", "-fatbin",
            "-gencode=arch=compute_80,code=sm_80",
            "-gencode=arch=compute_90,code=sm_90",
            *["-D" + d for d in definitions], *["-I" + f for f in folders],
            "-o", os.path.join(out, "kernels.fatbin"), source,
        ]
        run = subprocess.run(command, check=False, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return " ".join(command) + "\n" + run.stdout if run.returncode else ""


def main(nvcc, instances, sources, *folders):
    if not nvcc:
        print("SKIPPED: this machine has no nvcc")
        return 0
    listed = read_instances(instances)
    there = sorted(f for f in os.listdir(sources) if f.endswith(".cu"))
    failures = [f"{instances}: has no line for {s}"
                for s in there if s not in listed]
    failures += [f"{instances}: there is no {s}"
                 for s in listed if s not in there]
    every = os.environ.get("SY_ALL_KERNELS") == "1"
    jobs = [(os.path.join(sources, s), d) for s in there if s in listed
            for d in (listed[s] if every else listed[s][:1])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures += [said for said in pool.map(
            lambda job: compile_one(nvcc, *job, folders), jobs) if said]
    print("\n".join(failures))
    print(f"{len(jobs)} instances of {len(there)} sources, "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
