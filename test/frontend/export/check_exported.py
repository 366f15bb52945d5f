"""Runs exported programs in Python, and compares with what C++ recorded.

Usage: check_exported.py DIR [--compile NAME]... [NAME...]
(Python with torch 2.15 and safetensors)

  SWITCHYARD_EXPORTED=DIR bazel-bin/test/frontend/export/export_program_test
  SWITCHYARD_EXPORTED=DIR bazel-bin/test/frontend/export/export_sizes_test
  python3 test/frontend/export/check_exported.py DIR --compile layers

For each NAME.pt2, or those that are named: it is loaded; its state dict has the
names and elements of the module, and its signature says which is which;
module(), and the modules of unflatten(), give for each example, of other
sizes too, results, gradients of parameters, buffers and inputs that are
written within 1e-5. So it does after run_decompositions(), and when it is saved
by Python and loaded again. Sizes that are out of range are refused. With
--compile, a package of AOTInductor gives the same results.
"""

import argparse
import operator
import pathlib
import sys
import tempfile

import torch
from safetensors.torch import load_file
from torch.utils import _pytree as pytree

TOLERANCE = 1e-5

# For these PyTorch's own export says "Constraints violated": it takes the steps
# of recurrent networks apart, and does not see that a size that is rounded up
# may be any. Decomposed or compiled, they would be right for the example alone.
GUARDED = {"lstm_lengths", "rounds_up"}


class Record:
    """What a C++ program recorded of a module."""

    def __init__(self, path):
        self.all = load_file(path)

    def examples(self):
        return sorted({int(k.split(".")[0]) for k in self.all
                       if k[0].isdigit()})

    def part(self, prefix):
        return {k[len(prefix):]: v.clone() for k, v in self.all.items()
                if k.startswith(prefix)}

    def list(self, prefix):
        part = self.part(prefix)
        return [part[str(i)] for i in range(len(part))]


def expect_close(got, expected, what, scale=1e-3):
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    assert got.dtype == expected.dtype, (what, got.dtype, expected.dtype)
    if got.numel() == 0:
        return
    a, b = got.detach().double(), expected.double()
    off = torch.where(a == b, 0, (a - b).abs())
    most = torch.where(b.isfinite(), b, 0).abs().max().item()
    assert off.max().item() <= TOLERANCE * max(most, scale), \
        f"{what}: off by {off.max().item()} of {most}"


def tensors(tree):
    return [t for t in pytree.tree_leaves(tree)
            if isinstance(t, torch.Tensor)]


def arguments(program, given):
    """The example's arguments with these tensors."""
    leaves, spec = pytree.tree_flatten(program.example_inputs)
    given = iter(given)
    leaves = [next(given) if isinstance(v, torch.Tensor) else v
              for v in leaves]
    return pytree.tree_unflatten(leaves, spec)


def expect_results(got, expected, what):
    got = tensors(got)
    assert len(got) == len(expected), (what, len(got), len(expected))
    for i, (a, b) in enumerate(zip(got, expected)):
        expect_close(a, b, f"{what}: result {i}")


def check_call(load, record, example, gradients=True):
    """A fresh module gives what the example's call gave."""
    program = load()
    module = program.module()
    what = f"example {example}"
    inputs = record.list(f"{example}.input.")
    args, kwargs = arguments(program, inputs)
    result = module(*args, **kwargs)
    expect_results(result, record.list(f"{example}.output."), what)
    for i, after in enumerate(record.list(f"{example}.after.")):
        expect_close(inputs[i], after, f"{what}: input {i} afterwards")
    buffers = dict(module.named_buffers(remove_duplicate=False))
    for name, expected in record.part(f"{example}.buffer.").items():
        expect_close(buffers[name], expected, f"{what}: buffer {name}")
    if gradients:
        check_gradients(module, result, record.part(f"{example}.grad."), what)


def check_gradients(module, result, expected, what):
    loss = sum(t.sin().sum() for t in tensors(result)
               if t.is_floating_point())
    if not expected:
        return
    loss.backward()
    parameters = dict(module.named_parameters(remove_duplicate=False))
    # Tied parameters share memory; the graph uses one of them.
    by_memory = {}
    for p in parameters.values():
        if p.grad is not None:
            by_memory[p.data_ptr()] = p.grad
    # Some are zero but for rounding: a bias before a batch norm.
    scale = max(g.abs().max().item() for g in expected.values())
    for name, grad in expected.items():
        expect_close(by_memory[parameters[name].data_ptr()], grad,
                     f"{what}: gradient of {name}", scale)


def check_state(program, record):
    expected = record.part("state.")
    for state in (program.state_dict, program.module().state_dict()):
        assert set(state) == set(expected), set(state) ^ set(expected)
        for name, tensor in expected.items():
            expect_close(state[name], tensor, f"state dict: {name}")


def check_signature(program, record):
    """What the file says of its inputs: kinds, names, modules."""
    signature = program.graph_signature
    state = set(record.part("state."))
    buffers = set(record.part("0.buffer."))
    hidden = set(signature.non_persistent_buffers)
    assert hidden == buffers - state, hidden
    assert set(signature.parameters) | set(signature.buffers) == state | hidden
    assert not set(signature.parameters) & set(signature.buffers)
    # Writes are calls, as torch.export.export leaves them.
    assert not signature.buffers_to_mutate and not signature.user_inputs_to_mutate
    for node in program.graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem \
                and "aten.sym_size" not in str(node.target):
            stack = list(node.meta["nn_module_stack"].values())
            assert stack[0][0] == "", (node, stack)
    calls = {entry.fqn for entry in program.module_call_graph}
    assert "" in calls and len(calls) == len(program.module_call_graph)


class Shapes(torch.fx.Interpreter):
    """Each value has the shape that the formulas of the file give."""

    def __init__(self, module):
        super().__init__(module)
        self.symbols = {}

    def run_node(self, node):
        result = super().run_node(node)
        said = node.meta.get("val")
        if isinstance(said, torch.Tensor) and isinstance(result, torch.Tensor):
            for size, actual in zip(said.shape, result.shape, strict=True):
                expression = getattr(getattr(size, "node", None), "expr", size)
                if node.op == "placeholder" and getattr(expression, "is_Symbol",
                                                        False):
                    self.symbols.setdefault(expression, actual)
                got = int(expression.subs(self.symbols)) \
                    if hasattr(expression, "subs") else int(size)
                assert got == actual, (node, said.shape, result.shape)
        return result


def check_shapes(load, record, example):
    program = load()
    args, kwargs = arguments(program, record.list(f"{example}.input."))
    given = pytree.tree_leaves((args, kwargs))
    Shapes(program.module()).run(*given)


def check_unflattened(load, record, example):
    """Its modules are modules again."""
    program = load()
    module = torch.export.unflatten(program)
    inputs = record.list(f"{example}.input.")
    args, kwargs = arguments(program, inputs)
    expect_results(module(*args, **kwargs),
                   record.list(f"{example}.output."), "unflattened")


def check_range(program, record):
    """One more than the most of a dynamic size is refused."""
    inputs = record.list("0.input.")
    leaves = [n for n in program.graph.nodes if n.op == "placeholder"
              and n.name in program.graph_signature.user_inputs
              and isinstance(n.meta["val"], torch.Tensor)]
    refused = 0
    for symbol, bounds in program.range_constraints.items():
        if bounds.upper > 1000:
            continue
        given = []
        for tensor, node in zip(inputs, leaves):
            for dim, size in enumerate(node.meta["val"].shape):
                if str(size) == str(symbol):
                    index = torch.arange(int(bounds.upper) + 1) % tensor.size(dim)
                    tensor = tensor.index_select(dim, index)
            given.append(tensor)
        args, kwargs = arguments(program, given)
        try:
            program.module()(*args, **kwargs)
        except (AssertionError, RuntimeError, ValueError):
            refused += 1
        else:
            raise AssertionError(f"{symbol}: a size beyond {bounds} passes")
    return refused


def check_exported_again(load, refused):
    """Python's own export of the module allows the same sizes."""
    program = load()
    dims = {str(symbol): torch.export.Dim(f"d{i}", min=int(bounds.lower),
                                          max=limit(bounds.upper))
            for i, (symbol, bounds) in
            enumerate(program.range_constraints.items())}
    leaves, spec = pytree.tree_flatten(program.example_inputs)
    values = iter([n.meta["val"] for n in program.graph.nodes
                   if n.op == "placeholder"
                   and n.name in program.graph_signature.user_inputs
                   and isinstance(n.meta["val"], torch.Tensor)])
    shapes = []
    for leaf in leaves:
        sizes = next(values).shape if isinstance(leaf, torch.Tensor) else ()
        shapes.append({i: dims[str(s)] for i, s in enumerate(sizes)
                       if str(s) in dims} or None)
    args, kwargs = program.example_inputs
    positional, named = pytree.tree_unflatten(shapes, spec)
    try:
        again = torch.export.export(program.module(), args, kwargs,
                                    dynamic_shapes=(*positional,
                                                    *named.values()))
    except torch._dynamo.exc.UserError as e:
        assert refused and "Constraints violated" in str(e), e
    else:
        assert not refused, "it was expected to be refused"
        got = sorted(str(b) for b in again.range_constraints.values())
        expected = sorted(str(b) for b in program.range_constraints.values())
        assert got == expected, (got, expected)


def limit(bound):
    return int(bound) if bound.is_Integer else None


def check_decomposed(load, record, example):
    decomposed = lambda: load().run_decompositions()
    ranges = decomposed().range_constraints
    assert ranges == load().range_constraints, (ranges, "after decompositions")
    # Core operators such as copy have no gradients.
    check_call(decomposed, record, example, gradients=False)


def check_compiled(load, record):
    with tempfile.TemporaryDirectory() as folder:
        package = torch._inductor.aoti_compile_and_package(
            load(), package_path=f"{folder}/model.pt2")
        for example in record.examples():
            runner = torch._inductor.aoti_load_package(package)
            program = load()
            args, kwargs = arguments(program, record.list(f"{example}.input."))
            with torch.no_grad():
                result = runner(*args, **kwargs)
            expect_results(result, record.list(f"{example}.output."),
                           f"AOTInductor, example {example}")


def check(path, compiled):
    record = Record(path.with_suffix(".safetensors"))
    load = lambda: torch.export.load(path)
    program = load()
    check_state(program, record)
    check_signature(program, record)
    refused = check_range(program, record)
    examples = record.examples()
    for example in examples:
        check_call(load, record, example)
        check_shapes(load, record, example)
    check_unflattened(load, record, examples[0])
    check_exported_again(load, path.stem in GUARDED)
    if path.stem not in GUARDED:
        check_decomposed(load, record, examples[-1])
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(program, f"{folder}/again.pt2")
        again = lambda: torch.export.load(f"{folder}/again.pt2")
        check_call(again, record, examples[-1])
    if compiled:
        check_compiled(load, record)
    return f"{len(examples)} examples, {refused} ranges" + \
        (", compiled" if compiled else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--compile", action="append", default=[])
    options = parser.parse_args()
    names = options.names or sorted(p.stem for p in options.dir.glob("*.pt2"))
    failed = 0
    for name in names:
        try:
            said = check(options.dir / f"{name}.pt2", name in options.compile)
            print(f"{name}: {said}", flush=True)
        except Exception as e:  # all programs are checked
            failed += 1
            print(f"{name}: FAILED: {type(e).__name__}: {e}", flush=True)
    print(f"{len(names)} programs, {failed} failed")
    sys.exit(failed > 0)


main()
