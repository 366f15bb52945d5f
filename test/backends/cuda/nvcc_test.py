"""Compiles the sources of kernels with nvcc, for sm_80 and sm_90.

Usage: nvcc_test.py NVCC INSTANCES SOURCES FOLDER...    exit 1 if one does not

Kernels are compiled by NVRTC when they are needed; nvcc accepts the same text.
INSTANCES lists the definitions that the library compiles a source of the folder
SOURCES with, a line for each: `SOURCE NAME=VALUE ...`. With SY_ALL_KERNELS=1
each is compiled, without it the first of each source. What was compiled before
with the same headers is not compiled again.
"""

import concurrent.futures
import os
import sys

import nvcc

TARGETS = ("sm_80", "sm_90")


def read_instances(path):
    """Source -> the definitions of each of its lines."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                found.setdefault(words[0], []).append(words[1:])
    return found


def sources_below(folder):
    """The names of the sources, by their paths in the folder."""
    return sorted(os.path.relpath(os.path.join(place, f), folder)
                  for place, _, names in os.walk(folder, followlinks=True)
                  for f in names if f.endswith(".cu"))


def main(program, instances, sources, *folders):
    if not program:
        print("SKIPPED: this machine has no nvcc")
        return 0
    listed = read_instances(instances)
    there = sources_below(sources)
    failures = [f"{instances}: has no line for {s}"
                for s in there if s not in listed]
    failures += [f"{instances}: there is no {s}"
                 for s in listed if s not in there]
    every = os.environ.get("SY_ALL_KERNELS") == "1"
    jobs = [(os.path.join(sources, s), d, t) for s in there if s in listed
            for d in (listed[s] if every else listed[s][:1]) for t in TARGETS]
    compiler = nvcc.Compiler(program, folders, nvcc.default_cache())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compiler.compile(*job), jobs)
        failures += [r.log for r in results if not r.cubin]
    print("\n".join(failures))
    print(f"{len(jobs)} cubins of {len(there)} sources, {compiler.compiled} "
          f"compiled now, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
