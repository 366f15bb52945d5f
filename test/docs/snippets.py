"""Reads the blocks of code of a page, and makes tests of them.

`snippets.py PAGE` prints a GoogleTest test for each C++ block that is no
program. With --program NAME it prints that program as it stands, with --file
NAME a file, with --entries the blocks of YAML. follow.py does what a page says.

Comments, which readers of the page do not see, say more of a block. Before it:
  <!-- file: NAME -->   it is the file NAME; a program is called as the page
                        if it has no other name
  <!-- output -->       it is what the program or the commands before it print
  <!-- not run -->      commands that only a reader gives
  <!-- given: NAME = PATH -->  a file that a reader has; PATH is the repository's
  <!-- with: CODE -->   runs before a C++ block
and after it:
  <!-- check: CODE -->  runs behind it
"""

import dataclasses
import pathlib
import re
import sys

WORDS = ("file", "output", "not run", "with", "given")

HEAD = """#include <gtest/gtest.h>
#include <sy/cuda.h>
#include <sy/distributed.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <any>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "autograd/backward_callbacks.h"

"""


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    file: str
    before: list  # of (word, text): the comments
    checks: list

    def says(self, word):
        return any(w == word for w, _ in self.before)

    @property
    def is_program(self):
        return self.language == "cpp" and "int main(" in self.text


def blocks(path):
    found, comments, inside = [], [], None
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if inside is not None:
            if text == "```":
                found[-1].text = "".join(line + "\n" for line in inside)
                inside = None
            else:
                inside.append(text)
        elif text.startswith("```"):
            file = dict(comments).get("file", "")
            found.append(Block(number, text[3:], "", file, comments, []))
            comments, inside = [], []
        elif comment := re.fullmatch(r"<!-- ([a-z ]+)(?:: (.*))? -->", text):
            if comment[1] == "check":
                found[-1].checks.append(comment[2])
            elif comment[1] in WORDS:
                comments.append((comment[1], comment[2]))
            else:
                sys.exit(f"{path}:{number}: expected one of {WORDS}")
        elif comments:
            sys.exit(f"{path}:{number}: the comments before it are of no block")
    for block in found:
        if block.is_program and not block.file:
            block.file = path.stem + ".cpp"
    return found


def tests(path):
    print(HEAD)
    name = "".join(w.capitalize() for w in path.stem.split("_"))
    for block in blocks(path):
        if block.language == "cpp" and not block.is_program and not block.file:
            print(f"TEST({name}, Line{block.line}) {{")
            print("std::filesystem::current_path(testing::TempDir());")
            print(*[code for word, code in block.before if word == "with"],
                  block.text, *block.checks, "}\n", sep="\n")


def main():
    path = pathlib.Path(sys.argv[-1])
    found = blocks(path)
    if sys.argv[1] == "--program":
        print(*[b.text for b in found if b.file == sys.argv[2] + ".cpp"], end="")
    elif sys.argv[1] == "--file":
        print(*[b.text for b in found if b.file == sys.argv[2]], end="")
    elif sys.argv[1] == "--entries":
        print(*[b.text for b in found if b.language == "yaml"], end="")
    else:
        tests(path)


if __name__ == "__main__":
    main()
