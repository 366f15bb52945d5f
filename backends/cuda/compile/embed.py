"""Writes the C++ file of backends/cuda/compile/sources.h: texts by name.

Usage: embed.py OUT.cpp FILE[=NAME]...

A file's NAME is what device code includes it by: its path below
backends/cuda/device/ or backends/cuda/, or else as it is given.
"""

import sys

# C++ promises no more for one literal.
MOST = 60000
ROOTS = ("backends/cuda/device/", "backends/cuda/")


def name_of(path):
    for root in ROOTS:
        at = path.find(root)
        if at == 0 or (at > 0 and path[at - 1] == "/"):
            return path[at + len(root):]
    return path


def literal(text):
    end = "sy"
    while f"){end}\"" in text:
        end += "_"
    pieces = [text[i:i + MOST] for i in range(0, len(text), MOST)] or [""]
    return "\n".join(f'R"{end}({p}){end}"' for p in pieces)


def main(out, *files):
    table = {}
    for file in files:
        path, _, name = file.partition("=")
        name = name or name_of(path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if table.setdefault(name, text) != text:
            sys.exit(f"embed.py: two files are included by the name {name}")
    lines = [
        "// Generated from backends/cuda by compile/embed.py.",
        '#include "backends/cuda/compile/sources.h"',
        "",
        "namespace sy::cuda {",
        "",
        "ArrayRef<SourceFile> source_files() noexcept {",
        "  using namespace std::string_view_literals;",
        "  static constexpr SourceFile kFiles[] = {",
    ]
    for name, text in sorted(table.items(), key=lambda x: x[0].encode()):
        lines.append(f'{{"{name}"sv, {literal(text)}sv}},')
    lines += ["  };", "  return kFiles;", "}", "", "}  // namespace sy::cuda",
              ""]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
