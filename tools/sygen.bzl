"""Rules that run the generator.

sygen_files() runs it once with any arguments; sygen_family_files() once for all
families, with some files for each, so that an edit rebuilds its shard.
Outputs are declared one by one, never as a directory: Bazel applies no C++
options to the sources of a directory.
"""

load("//tools:cc.bzl", "sy_cc_library")

def _sygen_files_impl(ctx):
    args = ctx.actions.args()
    for arg in ctx.attr.args:
        args.add(ctx.expand_location(arg, ctx.attr.srcs + ctx.attr.deps_srcs))
    args.add_all(ctx.files.srcs, before_each = ctx.attr.srcs_flag or None)
    args.add_all(ctx.files.deps_srcs, before_each = "--extra")
    args.add_all(ctx.outputs.outs, before_each = "--out")
    ctx.actions.run(
        executable = ctx.executable.tool,
        arguments = [args],
        inputs = ctx.files.srcs + ctx.files.deps_srcs,
        outputs = ctx.outputs.outs,
        mnemonic = "Sygen",
        progress_message = "Generating from %s" % (
            ctx.files.srcs[0].short_path if ctx.files.srcs else ctx.label.name
        ),
    )
    headers = [f for f in ctx.outputs.outs if f.extension == "h"]
    sources = [f for f in ctx.outputs.outs if f.extension == "cpp"]
    return [
        DefaultInfo(files = depset(ctx.outputs.outs)),
        OutputGroupInfo(hdrs = depset(headers), srcs = depset(sources)),
    ]

_sygen_files = rule(
    implementation = _sygen_files_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True),
        "srcs_flag": attr.string(),
        "deps_srcs": attr.label_list(allow_files = True),
        "args": attr.string_list(),
        "outs": attr.output_list(mandatory = True),
        # "target" and not "exec": the generator and its libraries are built
        # once, for tests and for generating alike.
        "tool": attr.label(
            default = "//codegen:sygen",
            executable = True,
            cfg = "target",
        ),
    },
)

def sygen_files(name, outs, srcs = [], args = [], deps_srcs = [], **kwargs):
    """TOOL ARGS… SRC… --extra DEPS_SRC… --out OUT…, in one action.

    args may use $(location …) of srcs and deps_srcs; srcs_flag is put before
    each of srcs. Output groups `hdrs` and `srcs` split outs by extension.
    """
    _sygen_files(
        name = name,
        outs = outs,
        srcs = srcs,
        args = args,
        deps_srcs = deps_srcs,
        **kwargs
    )

def sygen_library(name, src, deps, **kwargs):
    """A library of the operators of one YAML file, NAME.yaml or another.

    Generates NAME.cpp and NAME.h, which is included by that name.
    """
    sygen_files(
        name = name + "_files",
        srcs = [src],
        srcs_flag = "--input",
        args = ["emit", "--kind", "library"],
        deps_srcs = ["//schemas:operators"],
        outs = [name + ".cpp", name + ".h"],
    )
    sy_cc_library(
        name = name,
        srcs = [name + ".cpp"],
        hdrs = [name + ".h"],
        includes = ["."],
        alwayslink = True,
        deps = deps,
        **kwargs
    )

def sygen_family_files(
        name,
        srcs,
        outs_patterns,
        kind = "ops",
        args = [],
        deps_srcs = [],
        visibility = None,
        **kwargs):
    """emit --kind KIND ARGS… --input SRC… --out OUT…, for all of srcs at once.

    Reading the files is most of the work, so one action makes them all; an
    output that has not changed is not built again. A pattern holds {family},
    a file's name without folder and .yaml: "ops/{family}.h". NAME_hdrs and
    NAME_srcs are all .h and all .cpp, NAME is everything.
    """
    families = [
        src.split("/")[-1].split(":")[-1].rsplit(".", 1)[0]
        for src in srcs
    ]
    sygen_files(
        name = name,
        srcs = srcs,
        srcs_flag = "--input",
        args = ["emit", "--kind", kind] + args,
        deps_srcs = [d for d in deps_srcs if d not in srcs],
        outs = [p.format(family = f) for f in families for p in outs_patterns],
        visibility = visibility,
        **kwargs
    )
    for group in ["hdrs", "srcs"]:
        native.filegroup(
            name = "%s_%s" % (name, group),
            srcs = [name],
            output_group = group,
            visibility = visibility,
        )
