"""@backends//:list.bzl: the folders of backends/ that describe a backend.

A glob does not look into packages, and each backend is one. BACKENDS are the
names of the folders whose backend.yaml describes a part of the library, PLUGINS
of those where it says `plugin: true`.
"""

def _lines(text):
    """The lines of YAML without comments."""
    return [line.split("#")[0].strip() for line in text.splitlines()]

def _backend_list_impl(ctx):
    root = ctx.path(Label("//:WORKSPACE")).dirname
    names = sorted([
        folder.basename
        for folder in root.get_child("backends").readdir()
        if folder.get_child("backend.yaml").exists
    ])
    linked, plugins = [], []
    for name in names:
        # By label, so that an edit of the file is noticed.
        lines = _lines(ctx.read(Label("//backends/%s:backend.yaml" % name)))
        if "plugin: true" in lines:
            plugins.append(name)
        else:
            linked.append(name)
    ctx.file("BUILD.bazel", "")
    ctx.file("list.bzl", "BACKENDS = %r\nPLUGINS = %r\n" % (linked, plugins))

backend_list = repository_rule(
    implementation = _backend_list_impl,
    # Exported by tools/bazel: it changes with the folders.
    environ = ["SWITCHYARD_BACKENDS"],
    local = True,
)
