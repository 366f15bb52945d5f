"""Makes special functions device code.

Usage: annotate.py OUT.inc IN.cpp

The text of IN.cpp stays what it is. Functions and tables get the words
that device code needs; what the file includes is left out, for std.cuh has it;
and the file's names are put into a namespace of their own, since all files are
included into one unit. Fails on what it does not know.
"""

import os
import re
import sys

FUNCTION = re.compile(r"^(double|bool|int64_t) (\w+)\([^;]*(\{|,)$")
ONE_LINE = re.compile(r"^(double|bool|int64_t) (\w+)\(.*\{ .* \}$")
CONSTRUCTOR = re.compile(r"^( +)(explicit )?[A-Z]\w*\([^;]*\) \{$")
TABLE = re.compile(r"^constexpr \w+ \w+\[.*\] = \{$")
CONSTANT = re.compile(r"^constexpr (double|int|int64_t) \w+ = ")


def annotate(text, name):
    out, exported = [], []
    local = 0  # open namespaces without a name
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#include"):
            continue
        if line.startswith("#"):
            sys.exit(f"annotate.py: {name}:{number}: a directive")
        if line in ("namespace sy::special {", "}  // namespace sy::special"):
            continue
        if line == "namespace {":
            local += 1
            continue
        if line == "}  // namespace":
            local -= 1
            continue
        match = FUNCTION.match(line) or ONE_LINE.match(line)
        if match:
            if not local:
                exported.append(match.group(2))
            line = "SY_FN_SPECIAL " + line
        elif CONSTRUCTOR.match(line):
            line = CONSTRUCTOR.match(line).group(1) + "SY_FN " + line.lstrip()
        elif TABLE.match(line):
            line = "__device__ " + line
        elif CONSTANT.match(line) or not line[:1].isalpha():
            # One object made at the first call would have to be shared.
            line = re.sub(r"^( +)static const (?=[A-Z])", r"\1const ", line)
        elif not line.startswith("struct "):
            sys.exit(f"annotate.py: {name}:{number}: unknown: {line}")
        out.append(line)
    return out, exported


def main(out, source):
    with open(source, encoding="utf-8") as f:
        text = f.read()
    name = os.path.splitext(os.path.basename(source))[0]
    lines, exported = annotate(text, source)
    # Functions call each other before they are defined.
    declared = [
        re.sub(r" \{.*", ";", line) for line in lines
        if line.startswith("SY_FN_SPECIAL ") and " {" in line
        and re.search(r" (\w+)\(", line).group(1) in exported
    ]
    with open(out, "w", encoding="utf-8") as f:
        f.write(f"// Generated from {source} by annotate.py.\n")
        f.write(f"namespace {name}_functions {{\n")
        f.write("\n".join(declared + lines))
        f.write(f"\n}}  // namespace {name}_functions\n")
        for function in sorted(set(exported)):
            f.write(f"using {name}_functions::{function};\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
