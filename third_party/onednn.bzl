"""@onednn: headers and libdnnl.so.3 from the folder `./sy setup` fills."""

def _default_dir(env):
    cache = env.get("XDG_CACHE_HOME", "") or env.get("HOME", "") + "/.cache"
    return cache + "/switchyard/onednn-2023.2.0"

def _onednn_repository_impl(ctx):
    env = ctx.os.environ
    folder = env.get("SY_ONEDNN_DIR", "") or _default_dir(env)
    if not ctx.path(folder + "/lib/libdnnl.so.3").exists:
        fail("no oneDNN in %s: run `./sy setup`, " % folder +
             "or point SY_ONEDNN_DIR at a folder with include/ and lib/")
    ctx.symlink(folder + "/include", "include")
    ctx.symlink(folder + "/lib", "lib")
    if ctx.path(folder + "/share").exists:
        ctx.symlink(folder + "/share", "share")
    ctx.symlink(Label("//third_party:onednn.BUILD"), "BUILD.bazel")

onednn_repository = repository_rule(
    implementation = _onednn_repository_impl,
    environ = ["SY_ONEDNN_DIR", "XDG_CACHE_HOME", "HOME"],
    local = True,
    doc = "Local: the folder is looked at again whenever a server starts.",
)
