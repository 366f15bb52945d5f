"""The headers of a set of libraries, for an installation.

sdk_headers(deps) gathers every header of this repository that deps can reach,
generated ones included. The output group `manifest` is NAME.tsv, which tools/
install.sh copies from: `PATH TAB NAME-IT-IS-INCLUDED-BY` a line.
"""

def _included_as(path, roots):
    """The shortest name that one of the include folders gives to a path."""
    best = path
    for root in roots:
        if path.startswith(root + "/") and len(path) - len(root) <= len(best):
            best = path[len(root) + 1:]
    return best

def _sdk_headers_impl(ctx):
    headers = []
    roots = {ctx.bin_dir.path: None}
    for dep in ctx.attr.deps:
        context = dep[CcInfo].compilation_context
        headers.append(context.headers)
        for root in context.system_includes.to_list():
            roots[root] = None
        for root in context.includes.to_list():
            roots[root] = None
    files = depset(transitive = headers)
    chosen = []
    lines = {}
    for f in files.to_list():
        name = _included_as(f.path, roots)
        left_out = any([name.startswith(p) for p in ctx.attr.without])
        if f.owner.workspace_name == "" and not left_out:
            chosen.append(f)
            lines["%s\t%s" % (f.path, name)] = None
    manifest = ctx.actions.declare_file(ctx.label.name + ".tsv")
    ctx.actions.write(manifest, "".join([
        line + "\n"
        for line in sorted(lines)
    ]))
    return [
        DefaultInfo(files = depset(chosen)),
        OutputGroupInfo(manifest = depset([manifest])),
    ]

sdk_headers = rule(
    implementation = _sdk_headers_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "without": attr.string_list(doc = "prefixes of names to leave out"),
    },
)

def _headers_only_impl(ctx):
    contexts = [d[CcInfo].compilation_context for d in ctx.attr.deps]
    infos = [CcInfo(compilation_context = c) for c in contexts]
    return [cc_common.merge_cc_infos(cc_infos = infos)]

cc_headers_only = rule(
    implementation = _headers_only_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
    doc = "The headers of deps without their objects: for programs that link " +
          "the shared library that holds those objects.",
)
