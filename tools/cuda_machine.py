"""The places of files that were built for CUDA, and the machine's means for it.
test_cuda.py and bench_cuda.py share it; it needs nothing of Bazel. Run by
itself, it exits with 0 if there is a GPU."""

import glob
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACK = "libswitchyard_cuda.pack"


class Built:
    """A folder of cuda_bundle.sh, or the tree with what Bazel built."""

    def __init__(self, folder=ROOT):
        self.folder = os.path.abspath(folder)
        self.bundled = os.path.exists(self.path("bin", "sy"))
        self.libraries = self.path("lib" if self.bundled else "bazel-bin")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def program(self, name, package):
        """`package`: where Bazel has it."""
        if self.bundled:
            return self.path("bin", name)
        return self.path("bazel-bin", package, name)

    def library(self, name):
        return os.path.join(self.libraries, f"libswitchyard_{name}.so")

    def pack(self):
        """Kernels that were compiled beforehand; None if there are none."""
        path = os.path.join(self.libraries, PACK)
        if not self.bundled:
            path = self.path("bazel-bin", "backends", "cuda", "bake", PACK)
        return path if os.path.exists(path) else None

    def cub(self):
        """The library that nvcc made of CUB; None if there was no nvcc."""
        path = self.library("cuda_cub")
        return path if os.path.exists(path) else None

    def environment(self, **more):
        variables = {
            "SWITCHYARD_PLUGINS": self.libraries,
            "SWITCHYARD_LAPACK": self.library("lapack"),
            "SWITCHYARD_ONEDNN": self.library("onednn"),
        }
        if os.path.exists(self.library("jit")):
            variables["SWITCHYARD_JIT_LIBRARY"] = self.library("jit")
        if self.pack() is not None:
            variables["SWITCHYARD_CUDA_PACK"] = self.pack()
        if self.cub() is not None:  # programs that have the backend inside
            variables["SWITCHYARD_CUDA_CUB"] = self.cub()
        if self.bundled:  # the test programs do not know where lib/ is
            more["LD_LIBRARY_PATH"] = os.pathsep.join(
                [self.libraries, os.environ.get("LD_LIBRARY_PATH", "")])
        return {**variables, **os.environ, **more}


def toolkit_homes():
    """The places of a toolkit: as named, as installed, as `./sy setup --cuda`
    leaves it."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"),
             "/usr/local/cuda",
             *sorted(glob.glob(os.path.join(cache, "switchyard", "cuda-*")))]
    return [home for home in homes if home]


def toolkit_program(name):
    """A program of NVIDIA's, of the path or of a toolkit; None if there is
    none."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(
        os.path.join(home, "bin") for home in toolkit_homes()))


def find_nvrtc():
    """The library that compiles kernels, of a toolkit; None if there is none."""
    for home in toolkit_homes():
        for folder in ("lib64", "lib"):
            found = sorted(glob.glob(os.path.join(home, folder,
                                                  "libnvrtc.so*")))
            if found:
                return found[0]
    return None


def notes(built):
    """The lines of `sy doctor`: driver, devices, NVRTC, a line each."""
    run = subprocess.run(
        [built.program("sy", "tools/sy"), "doctor", "--json",
         built.library("cuda")], env=built.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    try:
        said = json.loads(run.stdout)
    except ValueError:
        sys.exit(f"sy doctor failed ({run.returncode}):\n{run.stderr[-2000:]}")
    if not said["loads"]:
        sys.exit(f"{built.library('cuda')} does not load; "
                 "`sy doctor` of it says why")
    return said["notes"]


def look(built, out=print):
    """Prints what there is; False, having said so, if that is no GPU."""
    lines = notes(built)
    if any(line.startswith("cuda:") for line in lines):
        for line in lines:
            out(line)
        return True
    why = [l.removeprefix("driver: ") for l in lines if l.startswith("driver")]
    out(f"no GPU here: {'; '.join(why) or 'the driver has no device'}")
    return False


if __name__ == "__main__":
    sys.exit(0 if look(Built(), lambda _: None) else 1)
