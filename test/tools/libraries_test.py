"""third_party/libraries.txt is true of this checkout, and no other table is.

Arguments: the checkout, and what was built from it.
"""

import copy
import os
import sys
import tempfile
import unittest

import libraries

ROOT, *BUILT = sys.argv[1:]


class LibrariesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.facts = libraries.facts_of(ROOT, BUILT)
        cls.text = libraries.read_table(ROOT)
        cls.entries, cls.problems = libraries.parse(cls.text)
        cls.true_problems = list(libraries.check(cls.entries, cls.facts))

    def problems_of(self, entries):
        """The problems of a table that the true one does not have."""
        return [p for p in libraries.check(entries, self.facts)
                if p not in self.true_problems]

    def expect(self, entries, *parts):
        problems = self.problems_of(entries)
        for part in parts:
            self.assertTrue(any(part in p for p in problems),
                            f"{part!r} is not in\n" + "\n".join(problems))

    def change(self, which, **fields):
        """The table with other values in the entry of a library."""
        entries = copy.deepcopy(self.entries)
        entry = next(e for e in entries if e.name == which)
        for field, value in fields.items():
            setattr(entry, field, value)
        return entries

    def test_the_table_is_true(self):
        self.assertEqual(self.problems + self.true_problems, [])

    def test_something_was_looked_at(self):
        facts = self.facts
        self.assertIn("gtest/gtest.h", facts.includes)
        self.assertIn("gtest_main", facts.labels)
        self.assertIn("torch", facts.imports)
        self.assertIn("clang-16", facts.compilers)
        self.assertIn("libopenblas.so.0",
                      facts.needed["libswitchyard_lapack.so"])
        self.assertIn("libgfortran.so.5", facts.shipped)
        self.assertIn("libhwy-dev", facts.packages)
        self.assertEqual(len(facts.wheels), 2)

    # The table without any one entry lacks something that is used.
    def test_every_entry_is_needed(self):
        for entry in self.entries:
            with self.subTest(entry.name):
                rest = [e for e in self.entries if e is not entry]
                self.assertNotEqual(self.problems_of(rest), [])

    def test_every_word_is_needed(self):
        # These fields are by hand: the test cannot see their uses.
        fields = set(libraries.FIELDS) - {"full", "optional", "commands",
                                          "with"}
        for index, entry in enumerate(self.entries):
            for field in sorted(fields):
                value = getattr(entry, field)
                words = range(len(value)) if isinstance(value, list) else [0]
                for at in words if value else ():
                    with self.subTest(f"{entry.name}: {field} {at}"):
                        entries = copy.deepcopy(self.entries)
                        less = "" if isinstance(value, str) else \
                            value[:at] + value[at + 1:]
                        setattr(entries[index], field, less)
                        if field == "version" and not self.facts.versions:
                            continue
                        self.assertNotEqual(self.problems_of(entries), [])

    # Nothing uses a word that is added.
    def test_every_word_is_used(self):
        # The name is in two parts, so that it does not stand here.
        program = "no-such" "-program"
        added = {"packages": "liblz4-dev", "wheel": "lz4==4.3 --hash=sha256:0",
                 "with": "LZ4", "includes": "lz4.h", "imports": "lz4",
                 "commands": program, "targets": "lz4", "links": "lz4",
                 "shared": "liblz4.so.1", "needed": "sygen",
                 "ships": "liblz4.so.1", "copyright": "liblz4-1"}
        for field, word in added.items():
            for name in ("CMake", "GoogleTest"):
                with self.subTest(f"{name}: {field}"):
                    value = word if field == "with" else [
                        *getattr(next(e for e in self.entries
                                      if e.name == name), field), word]
                    self.assertNotEqual(
                        self.problems_of(self.change(name, **{field: value})),
                        [])

    def test_an_unused_library_is_named(self):
        text = self.text + """
name: LZ4
version: 1.9.4
licence: BSD-2-Clause
does: Nothing.
instead: Nothing.
packages: liblz4-dev
includes: lz4.h
targets: lz4
links: lz4
shared: liblz4.so.1
needed: libswitchyard.so
ships: liblz4.so.1
copyright: liblz4-1
"""
        entries, problems = libraries.parse(text)
        self.assertEqual(problems, [])
        self.expect(entries, "LZ4: no source includes lz4.h",
                    "packages liblz4-dev: setup does not install it",
                    "targets lz4: there is none",
                    "links lz4: no BUILD file links it",
                    "LZ4: libswitchyard.so does not need it",
                    "LZ4: nothing needs liblz4.so.1",
                    "ships liblz4.so.1: it is not shipped")

    def test_what_the_table_lacks_is_named(self):
        self.expect([e for e in self.entries if e.name != "OpenBLAS"],
                    "libswitchyard_lapack.so needs libopenblas.so.0, which no "
                    "entry names under `shared`",
                    "third_party/sysdeps/BUILD.bazel links openblas, which no "
                    "entry names under `links`",
                    "Bazel has openblas, which no entry names under `targets`",
                    "setup installs libopenblas-openmp-dev, which no entry",
                    "an installation ships libopenblas.so.0, which no entry",
                    "libgfortran, libquadmath: comes with OpenBLAS, no entry")
        self.expect([e for e in self.entries if e.name != "nlohmann-json"],
                    "includes nlohmann/json.hpp, which 0 entries name")
        self.expect([e for e in self.entries if e.name != "PyTorch"],
                    "imports torch, which no entry names under `imports`")

    def test_wrong_words_are_named(self):
        self.expect(self.change("zlib", version="1.2.1"),
                    *(["zlib: is version 1.2.1 here and 1.2.13"]
                      if self.facts.versions else []))
        self.expect(self.change("zlib", name="CLI11"),
                    "CLI11: has two entries")
        self.expect(self.change("zlib", licence=""),
                    "zlib: does not say `licence`")
        self.expect(self.change("zlib", packages=[]),
                    "zlib: does not say where it comes from",
                    "setup installs zlib1g-dev, which no entry names")
        self.expect(self.change("zlib", ships=["libz.so.1"]),
                    "ships libz.so.1: it is not shipped",
                    "zlib: its code is shipped without its copyright")
        self.expect(self.change("CLI11", copyright=[]),
                    "CLI11: its code is shipped without its copyright")
        self.expect(self.change("GoogleTest", copyright=["libgtest-dev"]),
                    "GoogleTest: has a copyright, and no code of it is shipped")
        self.expect(self.change("CMake", commands=["no-such" "-program"]),
                    "CMake: no script runs no-such" "-program")

    def test_other_versions_are_told_apart(self):
        for debian, upstream, same in (
                ("9.1.0+ds1-2", "9.1.0", True), ("9.1.0", "9.1.0", True),
                ("1.2.13.dfsg-1", "1.2.13", True), ("6.0-28", "6.0", True),
                ("9.10.0-1", "9.1", False), ("9.1.1-1", "9.1", False),
                ("9.1.0-1", "9.2.0", False)):
            self.assertEqual(libraries.is_version(debian, upstream), same,
                             (debian, upstream))

    def test_the_form_is_checked(self):
        for text, part in (
                ("nam: x\n", "no field is called 'nam'"),
                ("name: x\nname: y\n", "'name' twice in one entry"),
                ("name x\n", "neither a field nor more of one: name x")):
            self.assertIn(part, "\n".join(libraries.parse(text)[1]))
        entries, problems = libraries.parse(
            "# none\nname: a\ndoes: one\n  and more\nwheel: w==1 --hash=x\n"
            "wheel: v==2\n\n\nname: b\nincludes: b/ c.h\n  d.h\n")
        self.assertEqual(problems, [])
        self.assertEqual([e.name for e in entries], ["a", "b"])
        self.assertEqual(entries[0].does, "one and more")
        self.assertEqual(entries[0].wheel, ["w==1 --hash=x", "v==2"])
        self.assertEqual(entries[1].includes, ["b/", "c.h", "d.h"])

    def test_an_installation_is_checked(self):
        ships = [s for e in self.entries for s in e.ships]
        with tempfile.TemporaryDirectory() as prefix:
            for folder in ("bin", "lib"):
                os.mkdir(os.path.join(prefix, folder))
            for name in ("sy", "sygen"):
                os.symlink("/bin/true", os.path.join(prefix, "bin", name))
            for name in ("libextra.so.1", *ships[1:]):
                open(os.path.join(prefix, "lib", name), "w").close()
            text = "\n".join(libraries.check_installed(self.entries, prefix))
        self.assertIn("lib/libextra.so.1: no entry ships it", text)
        self.assertIn(f"lib/{ships[0]}: is not there", text)
        self.assertIn(f"lib/{ships[1]}: nothing needs it", text)
        self.assertIn("third_party/libgfortran5: is not there", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
