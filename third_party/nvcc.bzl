"""@nvcc: where nvcc is, if the machine has one.

nvcc.bzl has NVCC, its path or "". Nothing is built with it: device code is text
to the library. Tests compile that text with it.
"""

def _nvcc_repository_impl(ctx):
    env = ctx.os.environ
    places = [
        env[name] + "/bin/nvcc"
        for name in ["CUDA_HOME", "CUDA_PATH"]
        if env.get(name, "")
    ]
    on_path = ctx.which("nvcc")
    if on_path:
        places.append(str(on_path))
    places.append("/usr/local/cuda/bin/nvcc")
    found = [p for p in places if ctx.path(p).exists] + [""]
    ctx.file("BUILD.bazel", "")
    ctx.file("nvcc.bzl", "NVCC = %r\n" % found[0])

nvcc_repository = repository_rule(
    implementation = _nvcc_repository_impl,
    environ = ["CUDA_HOME", "CUDA_PATH", "PATH"],
    local = True,
)
