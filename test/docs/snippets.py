"""Makes a test of the C++ blocks of a page: one for each, under its line.

A line `<!-- check: CODE -->` after a block is run behind it. With --program the
first block is a program and is printed as it stands; --entries prints the blocks
of YAML instead.
"""

import pathlib
import re
import sys

HEAD = """#include <gtest/gtest.h>
#include <sy/sy.h>

#include <any>
#include <string>
#include <vector>

"""


def tests(path):
    block, code, line = None, [], 0
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if block is not None:
            if text == "```":
                code, block = block, None
            else:
                block.append(text)
        elif text == "```cpp":
            if code:
                yield line, code
            block, code, line = [], [], number
        elif check := re.fullmatch(r"<!-- check: (.*) -->", text):
            code.append(check[1])
    if code:
        yield line, code


def entries(path):
    inside = False
    for text in path.read_text().splitlines():
        if text.startswith("```"):
            inside = text == "```yaml"
        elif inside:
            yield text


def main():
    path = pathlib.Path(sys.argv[-1])
    if sys.argv[1] == "--program":
        print("\n".join(next(tests(path))[1]))
        return
    if sys.argv[1] == "--entries":
        print("\n".join(entries(path)))
        return
    name = "".join(w.capitalize() for w in path.stem.split("_"))
    print(HEAD)
    for line, code in tests(path):
        print(f"TEST({name}, Line{line}) {{")
        print("\n".join(code))
        print("}\n")


main()
