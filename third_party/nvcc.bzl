"""@nvcc: where nvcc, nvdisasm and NVRTC are, if the machine has them.

nvcc.bzl has NVCC, NVDISASM and NVRTC, their paths or "", NVCC_RELEASE, (13, 0),
and NVCC_HAS_CUB. tools/nvcc.bzl builds libswitchyard_cuda_cub.so with nvcc. All
other device code is text to the library; tests compile it, and read what came
of it. With --config=kernels NVRTC compiles kernels that the library then holds
(backends/cuda/bake).
"""

def _homes(ctx):
    env = ctx.os.environ
    return [
        env[home]
        for home in ["CUDA_HOME", "CUDA_PATH"]
        if env.get(home, "")
    ]

def _first(ctx, places):
    return ([p for p in places if ctx.path(p).exists] + [""])[0]

def _find(ctx, name, folders):
    places = [home + "/bin/" + name for home in _homes(ctx)]
    on_path = ctx.which(name)
    if on_path:
        places.append(str(on_path))
    places.append("/usr/local/cuda/bin/" + name)
    places += [f + "/bin/" + name for f in folders if "/cuda-" in f]
    places += [f + "/" + name for f in folders if "/" + name + "-" in f]
    return _first(ctx, places)

def _find_nvrtc(ctx, folders):
    found = _first(ctx, [
        "%s/%s/libnvrtc.so.%d" % (root, lib, version)
        for root in _homes(ctx) + ["/usr/local/cuda"] +
                    [f for f in folders if "/cuda-" in f]
        for version in [13, 12]
        for lib in ["lib64", "targets/x86_64-linux/lib", "lib"]
    ])

    # Links resolved: the name may have the version, and another compiles anew.
    return str(ctx.path(found).realpath) if found else ""

def _release(ctx, nvcc):
    """(13, 0) of "release 13.0, V13.0.88"; (0, 0) if there is none."""
    if not nvcc:
        return (0, 0)
    words = ctx.execute([nvcc, "--version"]).stdout.split("release ")
    numbers = words[-1].split(",")[0].split(".")
    known = len(words) == 2 and all([n.isdigit() for n in numbers])
    return tuple([int(n) for n in numbers]) if known else (0, 0)

def _has_cub(ctx, nvcc):
    """Whether CUB and the runtime to link are beside it."""
    if not nvcc:
        return False
    root = str(ctx.path(nvcc).realpath.dirname.dirname)
    return all([
        any([ctx.path(root + place).exists for place in places])
        for places in [
            ["/include/cccl/cub/cub.cuh", "/include/cub/cub.cuh"],
            ["/lib64/libcudart_static.a", "/lib/libcudart_static.a"],
        ]
    ])

def _nvcc_repository_impl(ctx):
    # The folders that `./sy setup` unpacked; tools/bazel lists them.
    folders = ctx.os.environ.get("SWITCHYARD_CUDA_FOLDERS", "").split(":")
    nvcc = _find(ctx, "nvcc", folders)
    ctx.file("BUILD.bazel", "")
    ctx.file("nvcc.bzl", "".join([
        "%s = %r\n" % pair
        for pair in [
            ("NVCC", nvcc),
            ("NVCC_HAS_CUB", _has_cub(ctx, nvcc)),
            ("NVCC_RELEASE", _release(ctx, nvcc)),
            ("NVDISASM", _find(ctx, "nvdisasm", folders)),
            ("NVRTC", _find_nvrtc(ctx, folders)),
        ]
    ]))

nvcc_repository = repository_rule(
    implementation = _nvcc_repository_impl,
    environ = ["CUDA_HOME", "CUDA_PATH", "PATH", "SWITCHYARD_CUDA_FOLDERS"],
    local = True,
)
