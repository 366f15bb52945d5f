"""@backends//:list.bzl: the folders of backends/ that describe a backend.

A glob does not look into packages, and each backend is one. BACKENDS are the
names of the folders that have a backend.yaml, SDK_HEADERS the headers that
their `engines:` name.
"""

def _words(text):
    """The words of YAML without its comments."""
    out = []
    for line in text.splitlines():
        out += line.split("#")[0].replace(",", " ").split(" ")
    return out

def _backend_list_impl(ctx):
    root = ctx.path(Label("//:WORKSPACE")).dirname
    names = sorted([
        folder.basename
        for folder in root.get_child("backends").readdir()
        if folder.get_child("backend.yaml").exists
    ])
    headers = []
    for name in names:
        # By label, so that an edit of the file is noticed.
        text = ctx.read(Label("//backends/%s:backend.yaml" % name))
        headers += [w for w in _words(text) if w.endswith(".h")]
    ctx.file("BUILD.bazel", "")
    ctx.file("list.bzl", "BACKENDS = %r\nSDK_HEADERS = %r\n" %
                         (names, sorted(headers)))

backend_list = repository_rule(
    implementation = _backend_list_impl,
    # Exported by tools/bazel: it changes with the folders.
    environ = ["SWITCHYARD_BACKENDS"],
    local = True,
)
