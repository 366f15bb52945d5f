"""Every overload has a case that fails, four cases that succeed and differ in
kind (dtypes, ranks, emptiness, strides, numbers), and one of more than 10,000
elements, or lacking.txt names what it lacks; what lacking.txt names is lacking.

Usage: counts_test.py TEXTS LACKING    (--write instead of checking, by hand)
"""

import sys

import case_text
from widen import lacks

KINDS = 4
WORDS = ("errors", "kinds", "large")


def lacking(texts):
    """Lines as lacking.txt has them."""
    for reader in case_text.read(texts):
        for word, count in zip(WORDS, lacks(reader.file, KINDS)):
            if count:
                yield f"{word} {reader.file.name}"


def main():
    texts, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    found = set(lacking(texts))
    if "--write" in sys.argv:
        head = [line for line in lines if line.startswith("#")]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*head, *sorted(found), ""]))
        return 0
    known = {line for line in lines if not line.startswith("#")}
    for line in sorted(found - known):
        print(f"FAIL {line}: is lacking and not in lacking.txt")
    for line in sorted(known - found):
        print(f"FAIL {line}: lacking.txt has it, and it is there")
    for word in WORDS:
        count = sum(line.startswith(word) for line in found)
        print(f"{count} overloads lack {word}")
    return found != known


if __name__ == "__main__":
    sys.exit(main())
