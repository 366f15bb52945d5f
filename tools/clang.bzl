"""clang_check: checks that gcc cannot make. Clang reads; it makes no objects.

An aspect for C++ targets and their dependencies, generated code included:

- A file includes only headers of its target, or of one that the target names
  in `deps`. This is clang's check of layers. Bazel's layering_check would
  compile everything again for it.
- Each header is read by itself, and so includes all that it needs. Bazel 4.2
  has no parse_headers.
"""

_Module = provider(
    doc = "What targets need to know of one that they depend on.",
    fields = {
        "lends": "depset of the modules whose headers they may include",
        "maps": "depset of module maps, its own and those below it",
    },
)

# Only gcc knows these. Without OpenMP clang needs no runtime of its own.
_GCC = ["-fno-gnu-unique", "-fno-thread-jumps", "-fopenmp"]

_CLANG = [
    "-Wno-unknown-pragmas",
    "-Wno-unknown-warning-option",
    "-Wno-unused-command-line-argument",
    "-fmodules-decluse",
    "-Xclang",
    "-fmodule-map-file-home-is-cwd",
]

def _module_map(ctx, name, public, private, uses):
    """Says which headers are whose. Textual: no module is compiled."""
    lines = ['  textual header "%s"' % f.path for f in public]
    lines += ['  private textual header "%s"' % f.path for f in private]
    lines += ['  use "%s"' % u for u in uses]
    file = ctx.actions.declare_file(ctx.label.name + ".clang/module.map")
    lines = ['module "%s" {' % name] + lines + ["}"]
    ctx.actions.write(file, "\n".join(lines) + "\n")
    return file

def _flags(ctx, context, name, maps):
    flags = (ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts +
             ctx.rule.attr.copts)
    args = ctx.actions.args()
    args.add_all([f for f in flags if f not in _GCC])
    args.add_all(_CLANG)
    args.add_all(ctx.rule.attr.local_defines, format_each = "-D%s")
    args.add_all(context.defines, format_each = "-D%s")
    args.add_all(context.quote_includes, before_each = "-iquote")
    args.add_all(context.includes, before_each = "-I")
    args.add_all(context.system_includes, before_each = "-isystem")
    args.add("-fmodule-name=" + name)
    args.add_all(maps, format_each = "-fmodule-map-file=%s")
    return args

def _inputs_list(ctx, inputs):
    file = ctx.actions.declare_file(ctx.label.name + ".clang/inputs")
    lines = ctx.actions.args()
    lines.set_param_file_format("multiline")
    lines.add_all(inputs)
    ctx.actions.write(file, lines)
    return file

def _read(ctx, file, flags, inputs, inputs_list):
    base = "%s.clang/%s" % (ctx.label.name, file.short_path)
    done = ctx.actions.declare_file(base + ".ok")
    unused = ctx.actions.declare_file(base + ".unused")
    places = ctx.actions.args()
    places.add_all([inputs_list, unused, done, file])
    ctx.actions.run(
        executable = ctx.executable._script,
        arguments = [places, flags],
        inputs = inputs,
        outputs = [done, unused],
        # An edit of a header concerns only the files that include it.
        unused_inputs_list = unused,
        mnemonic = "ClangCheck",
        progress_message = "Reading %s with clang" % file.short_path,
        use_default_shell_env = True,
    )
    return done

def _context(target, ctx):
    """The include folders and headers that compile the target's sources."""
    infos = [d[CcInfo] for d in ctx.rule.attr.deps if CcInfo in d]
    if CcInfo in target:
        infos.append(target[CcInfo])
    return cc_common.merge_cc_infos(cc_infos = infos).compilation_context

def _clang_check_impl(target, ctx):
    deps = getattr(ctx.rule.attr, "deps", [])
    deps = [d[_Module] for d in deps if _Module in d]
    below = depset(transitive = [d.maps for d in deps])
    lent = depset(transitive = [d.lends for d in deps])

    # Others' libraries, and rules that only pass on what their deps have.
    if ctx.label.workspace_name or not hasattr(ctx.rule.attr, "copts"):
        return [_Module(maps = below, lends = lent)]

    public = (getattr(ctx.rule.files, "hdrs", []) +
              getattr(ctx.rule.files, "textual_hdrs", []))
    private = [f for f in ctx.rule.files.srcs if f.extension in ("h", "inc")]
    sources = [f for f in ctx.rule.files.srcs if f.extension == "cpp"]
    name = str(ctx.label)
    module_map = _module_map(ctx, name, public, private, lent.to_list())
    maps = depset([module_map], transitive = [below])

    context = _context(target, ctx)
    inputs = depset(
        public + private + sources,
        transitive = [context.headers, maps],
    )
    inputs_list = _inputs_list(ctx, inputs)
    headers = getattr(ctx.rule.files, "hdrs", []) + private
    files = sources + [f for f in headers if f.extension == "h"]
    flags = _flags(ctx, context, name, maps)
    inputs = depset([inputs_list], transitive = [inputs])
    read = [_read(ctx, f, flags, inputs, inputs_list) for f in files]
    return [
        _Module(maps = maps, lends = depset([name]) if files else lent),
        OutputGroupInfo(clang_check = depset(read)),
    ]

clang_check = aspect(
    implementation = _clang_check_impl,
    attr_aspects = ["deps"],
    fragments = ["cpp"],
    attrs = {
        "_script": attr.label(
            default = "//tools:clang_check.sh",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
    },
)
