"""@nvcc: where nvcc and nvdisasm are, if the machine has them.

nvcc.bzl has NVCC and NVDISASM, their paths or "". tools/nvcc.bzl builds
libswitchyard_cuda_cub.so with nvcc. All other device code is text to the
library; tests compile it, and read what came of it.
"""

def _find(ctx, name, folders):
    env = ctx.os.environ
    places = [
        env[home] + "/bin/" + name
        for home in ["CUDA_HOME", "CUDA_PATH"]
        if env.get(home, "")
    ]
    on_path = ctx.which(name)
    if on_path:
        places.append(str(on_path))
    places.append("/usr/local/cuda/bin/" + name)
    places += [f + "/bin/" + name for f in folders if "/cuda-" in f]
    places += [f + "/" + name for f in folders if "/" + name + "-" in f]
    return ([p for p in places if ctx.path(p).exists] + [""])[0]

def _nvcc_repository_impl(ctx):
    # What `./sy setup` unpacked; tools/bazel lists it.
    folders = ctx.os.environ.get("SWITCHYARD_CUDA_FOLDERS", "").split(":")
    ctx.file("BUILD.bazel", "")
    ctx.file("nvcc.bzl", "".join([
        "%s = %r\n" % (name.upper(), _find(ctx, name, folders))
        for name in ["nvcc", "nvdisasm"]
    ]))

nvcc_repository = repository_rule(
    implementation = _nvcc_repository_impl,
    environ = ["CUDA_HOME", "CUDA_PATH", "PATH", "SWITCHYARD_CUDA_FOLDERS"],
    local = True,
)
