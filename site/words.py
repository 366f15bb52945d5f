"""Signatures in words."""

import re

KINDS = {
    "pointwise": "each element of the result from the elements at its place",
    "reduce": "elements along some dims become one",
    "scan": "each element combined with all before it",
    "composite": "made of other operators",
    "foreach": "the same for each of some tensors",
    "view": "other sizes and strides on the same memory",
    "kernel": "a function written for it",
}
TYPES = {
    "Tensor": "tensor", "Scalar": "number", "int": "int", "SymInt": "int",
    "float": "float", "SymFloat": "float", "bool": "bool", "SymBool": "bool",
    "str": "text", "ScalarType": "dtype", "Layout": "layout",
    "Device": "device", "MemoryFormat": "memory format",
    "Generator": "generator",
}
# Arguments whose names mean the same in every operator, by name and words of
# the type without lists and options.
COMMON = {
    ("dim", "int"): "negative ones count from the end",
    ("keepdim", "bool"): "whether the result keeps `dim`, with size 1",
    ("dtype", "dtype"): "of the result",
    ("layout", "layout"): "of the result",
    ("device", "device"): "of the result",
    ("generator", "generator"):
        "of the random numbers; the device has one of its own",
    ("memory_format", "memory format"):
        "in which order the dims lie in memory",
    ("output_mask", "bool"): "which gradients are wanted",
    ("grad_output", "tensor"): "gradient of the result",
}
TAGS = {
    "dynamic_output_shape": "Its sizes depend on the values in the tensors.",
    "nondeterministic_seeded":
        "It draws random numbers, if asked to; the same state of the generator "
        "gives the same result.",
}


def type_words(text):
    """"2 ints, or one for all" of "int[2]"."""
    if text.endswith("?"):
        return type_words(text[:-1]) + ", or none"
    found = re.fullmatch(r"(.*)\[(\d*)\]", text)
    if not found:
        return TYPES.get(text, text)
    element, size = found.groups()
    each = type_words(element.removesuffix("?")) + "s"
    if element.endswith("?"):
        return each + ", some of them none"
    if not size:
        return each
    if element == "bool":
        return f"{size} {each}"
    if size == "1":
        return each + ", or one"
    return f"{size} {each}, or one for all"


def base_words(text):
    return type_words(re.sub(r"[\[\]?\d]", "", text))


def requirement(r):
    condition = f"`{r['condition']}`"
    return f"{r['message']}: {condition}" if r["message"] else condition


def argument_words(op, a):
    """The notes on an argument: sentences with `code`."""
    out = ["is written"] if a["written"] else []
    out.append(COMMON.get((a["name"], base_words(a["type"]))))
    if op["kind"] == "pointwise" and len(op["tensors"]) > 1 and \
            a["type"].removesuffix("?") == "Tensor":
        out.append("broadcast with the other tensors" if a["promotes"]
                   else "broadcast; its dtype does not count")
    if a["length"]:
        out.append(f"exactly {a['length']} values")
    out += [requirement(r) for r in op["requires"]
            if r["arguments"] == [a["name"]]]
    return "; ".join(filter(None, out))


def joint_requirements(op):
    """Those about several arguments, or none."""
    return [requirement(r) for r in op["requires"] if len(r["arguments"]) != 1]


def result_words(returns):
    """"2 tensors: `values`, `indices`"."""
    if not returns:
        return "nothing"
    out = type_words(returns[0]["type"])
    if len(returns) > 1:
        same = len({r["type"] for r in returns}) == 1
        out = f"{len(returns)} {out}s" if same else f"{len(returns)} values"
    names = [f"`{r['name']}`" for r in returns if r["name"]]
    return f"{out}: {', '.join(names)}" if names else out


def tag_words(op):
    out = []
    if op["kind"] == "view":
        out.append("It shares the memory of its argument.")
    elif "maybe_aliasing_or_mutating" in op["tags"]:
        out.append("It may share the memory of its argument.")
    return " ".join(out + [w for t, w in TAGS.items() if t in op["tags"]])


def first_sentence(text):
    """"One. Two." as "One." and "Two."."""
    first, end, rest = text.partition(". ")
    return first + end.strip(), rest


def time_text(nanoseconds):
    """"1.5 µs"."""
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        v = nanoseconds / size
        if v < 1000 or unit == "ms":
            return f"{v:.3g} {unit}" if v < 100 else f"{v:.0f} {unit}"
