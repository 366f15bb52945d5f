"""nvcc_shared_library(): a shared library of CUDA sources, where there is nvcc."""

load("@nvcc//:nvcc.bzl", "NVCC", "NVCC_HAS_CUB", "NVCC_RELEASE")

# For sm_80 and sm_90, and PTX for newer ones, as small as nvcc makes it.
_OPTIONS = " ".join([
    "-std=c++17",
    "-O3",
    "-cudart=static",
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_90,code=compute_90",
    "-Xfatbin=-compress-all",
    "--compress-mode=size",
    "-Xcompiler=-fPIC,-fvisibility=hidden",
    "-I.",
])

# Older ones do not know all of _OPTIONS, and have an older CUB.
_OLDEST = (12, 8)

def nvcc_shared_library(name, srcs, hdrs, visibility = None):
    """NAME, "libX.so", with the CUDA runtime inside and its own symbols hidden.

    Each source, a label, is compiled by an action of its own. Without an nvcc
    of CUDA 12.8 or newer, CUB and the runtime NAME has no files: a target that
    has it in its data does without.
    """
    if not NVCC_HAS_CUB or NVCC_RELEASE < _OLDEST:
        native.filegroup(name = name, visibility = visibility)
        return
    objects = []
    for src in srcs:
        object = src.split(":")[-1].replace(".cu", ".o")
        objects.append(object)
        native.genrule(
            name = object.replace("/", "_").replace(".", "_"),
            srcs = [src] + hdrs,
            outs = [object],
            cmd = "%s %s -c -o $@ $(location %s)" % (NVCC, _OPTIONS, src),
            message = "Compiling by nvcc",
        )
    native.genrule(
        name = name.replace(".", "_"),
        srcs = objects,
        outs = [name],
        cmd = "%s -shared -cudart=static -Xlinker --exclude-libs,ALL -o $@ $(SRCS)" % NVCC,
        message = "Linking by nvcc",
        visibility = visibility,
    )
