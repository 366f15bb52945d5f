"""Compares the operators of namespace aten with those of Python.

Usage: bin/sy ops | check_operators.py    (Python with torch 2.15)

An exported program calls PyTorch's operators by name, with arguments as
Switchyard's schemas have them. So each operator has PyTorch's schema, or stands
in kOwn of frontend/export/write/operators.cpp, and nothing stands there that
PyTorch has with the same schema. Says what differs; exits with 1 if anything
does.
"""

import pathlib
import re
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
OPERATORS = ROOT / "frontend/export/write/operators.cpp"


def own_operators():
    text = OPERATORS.read_text()
    block = text[text.index("kOwn[] = {"):]
    return set(re.findall(r'"([^"]+)"', block[:block.index("};")]))


def full_name(schema):
    overload = schema.overload_name
    return schema.name + ("." + overload if overload else "")


def plain(type_):
    text = str(type_)
    for symbolic, number in (("SymInt", "int"), ("SymFloat", "float"),
                             ("SymBool", "bool")):
        text = text.replace(symbolic, number)
    return text


def signature(schema):
    """What a call by name and place depends on."""
    arguments = [(a.name, plain(a.type), a.kwarg_only, a.is_out,
                  str(a.default_value) if a.has_default_value() else None)
                 for a in schema.arguments]
    return arguments, [plain(r.type) for r in schema.returns]


def main():
    python = {full_name(s): s for s in torch._C._jit_get_all_schemas()}
    own = own_operators()
    missing, others, count = set(), [], 0
    for line in sys.stdin:
        if not line.startswith("aten::"):
            continue
        count += 1
        schema = torch._C.parse_schema(line.strip())
        name = full_name(schema)
        if name not in python:
            missing.add(name[6:])
        elif signature(schema) != signature(python[name]):
            others.append((schema, python[name]))
            missing.add(name[6:])
    assert count > 1000, f"expected the operators as input, got {count}"
    for name in sorted(missing - own):
        print(f"{name}: not in Python, nor in kOwn")
    for name in sorted(own - missing):
        print(f"{name}: in kOwn, but Python has it")
    for ours, theirs in others:
        if full_name(ours)[6:] not in own:
            print(f"ours    {ours}\nPython's {theirs}")
    print(f"{count} operators, {len(missing)} of our own")
    sys.exit(missing != own)


main()
