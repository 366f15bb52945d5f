"""Kernels that a library holds: packs as an object file."""

def _baked_kernels_impl(ctx):
    packs = []
    shards = ctx.attr.shards if ctx.attr.nvrtc else 0
    for shard in range(shards):
        pack = ctx.actions.declare_file("%s_%d.pack" % (ctx.label.name, shard))
        args = ctx.actions.args()
        args.add("--instances", ctx.file.instances)
        args.add_all(ctx.attr.sources, before_each = "--source")
        args.add("--shard", "%d/%d" % (shard, shards))
        args.add("--processes", "1")
        args.add("--out", pack)
        ctx.actions.run(
            executable = ctx.executable.tool,
            arguments = [args],
            inputs = [ctx.file.instances],
            outputs = [pack],
            env = {"SWITCHYARD_NVRTC": ctx.attr.nvrtc},
            mnemonic = "BakeKernels",
            progress_message = "Compiling kernels for GPUs, part %d of %d" %
                               (shard + 1, shards),
        )
        packs.append(pack)
    object = ctx.actions.declare_file(ctx.label.name + ".o")
    ctx.actions.run_shell(
        command = """
object=$1; shift
{
  echo '.section .rodata.sy_cuda_built_in, "a", @progbits'
  echo '.balign 64'
  echo '.globl sy_cuda_built_in_begin'
  echo '.hidden sy_cuda_built_in_begin'
  echo 'sy_cuda_built_in_begin:'
  for pack; do echo ".incbin \\"$pack\\""; done
  echo '.globl sy_cuda_built_in_end'
  echo '.hidden sy_cuda_built_in_end'
  echo 'sy_cuda_built_in_end:'
  echo '.byte 0'
  echo '.section .note.GNU-stack, "", @progbits'
} | g++ -c -x assembler -o "$object" -
""",
        arguments = [object.path] + [p.path for p in packs],
        inputs = packs,
        outputs = [object],
        mnemonic = "EmbedKernels",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([object]))]

# Without nvrtc, the file of the compiler, the object holds none.
baked_kernels = rule(
    implementation = _baked_kernels_impl,
    attrs = {
        "instances": attr.label(allow_single_file = True, mandatory = True),
        "nvrtc": attr.string(mandatory = True),
        "shards": attr.int(default = 8),
        # Takes the instances of these sources; none: of all.
        "sources": attr.string_list(),
        # "target": its objects are the library's.
        "tool": attr.label(
            default = "//backends/cuda/bake",
            executable = True,
            cfg = "target",
        ),
    },
)
