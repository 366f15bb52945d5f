"""Objects of libraries without those of their dependencies.

For a shared object that finds the rest in another one: linked statically once
more, registries and tables of names would be there twice.
"""

def _own_archives_impl(ctx):
    wanted = [d.label for d in ctx.attr.deps]
    inputs = []
    contexts = []
    for dep in ctx.attr.deps:
        contexts.append(dep[CcInfo].compilation_context)
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            if linker_input.owner in wanted:
                inputs.append(linker_input)
    linking = cc_common.create_linking_context(
        linker_inputs = depset(inputs, order = "topological"),
    )
    own = CcInfo(linking_context = linking)
    headers = [CcInfo(compilation_context = c) for c in contexts]
    return [cc_common.merge_cc_infos(cc_infos = [own] + headers)]

own_archives = rule(
    implementation = _own_archives_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
    doc = "Only what the libraries named in deps are made of themselves.",
)
