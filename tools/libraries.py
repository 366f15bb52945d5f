"""Compares third_party/libraries.txt with what the project does with each
library, both ways: what the table says must be so, and nothing may be used,
installed or shipped that the table lacks.

Usage: libraries.py --checkout ROOT FILE...   FILE: a program or shared library
                                              that was built from it
       libraries.py --installed PREFIX        what `./sy install` made
Exit 1, with a line for each difference.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

import lint

HERE = os.path.dirname(os.path.realpath(__file__))
TABLE = "third_party/libraries.txt"
SENTENCES = ("name", "version", "licence", "does", "instead")
SOURCES = ("packages", "wheel", "trial", "toolkit", "full", "optional", "with")
WHEELS = ("wheel", "trial", "toolkit")
USES = ("includes", "imports", "commands", "loads", "targets", "links",
        "shared")
FIELDS = SENTENCES + SOURCES + USES + ("needed", "ships", "copyright")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.M)
LINK = re.compile(r'"-l([^"]+)"')
LABEL = re.compile(r'"@(\w+)(?://:(\w+)|//[^"]*)?"')
PACKAGE = re.compile(r'"(//third_party/\w+)[":]')
REPOSITORY = re.compile(r'^(?!workspace)\w+\(\s*name = "(\w+)"'
                        r'(?:,\s*path = "([^"]*)")?', re.M)
TARGET = re.compile(r'^cc_library\(\s*name = "(\w+)"', re.M)
COMMENT = re.compile(r"(?:^|\s)#.*", re.M)
# The folders that an installation is made of. Code of others that is compiled
# in there needs its licence beside it.
SHIPPED = ("c10/", "aten/", "autograd/", "backends/", "codegen/", "frontend/",
           "lang/",
           "include/", "runtime/", "third_party/", "tools/sy/")


class Entry:
    """One library: SENTENCES are texts, all else are lists of words."""

    def __init__(self, values):
        for field in FIELDS:
            lines = values.get(field, [])
            if field in SENTENCES or field == "with":
                setattr(self, field, " ".join(lines))
            elif field in WHEELS:
                setattr(self, field, lines)
            else:
                setattr(self, field, " ".join(lines).split())


def parse(text):
    """The entries of a table, and what is wrong with its form."""
    entries, problems = [], []
    for block in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text)):
        values, field = collections.defaultdict(list), None
        for line in filter(None, block.split("\n")):
            match = re.match(r"(\w+): *(.*)", line)
            if match:
                field = match[1]
                if field not in FIELDS:
                    problems.append(f"no field is called '{field}'")
                elif field in values and field not in WHEELS:
                    problems.append(f"'{field}' twice in one entry: {line}")
                values[field].append(match[2])
            elif line.startswith(" ") and field:
                values[field][-1] += " " + line.strip()
            else:
                problems.append(f"neither a field nor more of one: {line}")
        if values:
            entries.append(Entry(values))
    return entries, problems


# A library of others that is loaded by its path.
LOADED = re.compile(r"\b\w+_plugin\.so\b")
# A wheel that setup takes for tests alone.
TRIAL = re.compile(r"^ *install_trial ([\w.-]+) ", re.M)
# A compiler's program of one version, and the browser that tests open.
VERSIONED = re.compile(r"\bclang(?:-[a-z]+)*-\d+\b|\"chromium\"")


class Facts:
    """Facts about a checkout and its builds: the libraries that they use."""

    def __init__(self):
        self.includes = {}         # header -> the files that include it
        self.imports = {}          # module -> a file that imports it
        self.scripts = ""          # the text of all scripts and settings
        self.compilers = {}        # a compiler that a setting or tool names
        self.targets = set()       # of @sysdeps, and "//third_party/fmt"
        self.labels = {}           # "@rules_java", or a target -> a file
        self.repositories = set()  # of WORKSPACE, but those in third_party/
        self.links = {}            # what follows -l -> a file
        self.needed = {}           # file that was built -> sonames
        self.reached = set()       # sonames that these need in the end
        self.shipped = set()       # sonames that an installation copies
        self.packages = []         # what `./sy setup` installs
        self.wheels = []
        self.toolkit = []          # what `./sy setup --cuda` adds to these
        self.versions = {}         # package -> version; {} if nobody knows


def is_own_header(path, kind, name, files):
    top = name.split("/")[0]
    if kind == "<":
        return top == "sy" or "." not in name  # ours, and the standard library
    folder = os.path.dirname(path)
    return (name in files or f"include/{name}" in files or
            os.path.normpath(os.path.join(folder, name)) in files or
            any(f"/{top}/" in f"/{f}" for f in files if "/" in name) or
            any(f.endswith("/" + name) for f in files) or
            # Generated.
            any(f.endswith("/" + name[:-2] + ".yaml") for f in files) or
            re.search(r"_(gen|kernels)\.h$", name) is not None)


def gather_sources(facts, files):
    """Fills in what the texts of a checkout say; `files`: path -> text."""
    scripts = [f for f in files if f.endswith(".py")]
    modules = {os.path.basename(f)[:-3] for f in scripts}
    modules |= {os.path.basename(os.path.dirname(f)) for f in scripts}
    for path, text in files.items():
        name = os.path.basename(path)
        if path.endswith((".h", ".cpp", ".inc", ".cu", ".cuh")):
            for kind, header in INCLUDE.findall(text):
                if not is_own_header(path, kind, header, files):
                    facts.includes.setdefault(header, []).append(path)
        if path.endswith(".py"):
            for module in IMPORT.findall(text):
                if module not in sys.stdlib_module_names | modules:
                    facts.imports.setdefault(module, path)
        build = name in ("BUILD.bazel", "WORKSPACE") or path.endswith(".bzl")
        if build:
            code = COMMENT.sub("", text)
            for link in LINK.findall(code):
                facts.links.setdefault(link, path)
            for repository, target in LABEL.findall(code):
                key = target if repository == "sysdeps" else "@" + repository
                facts.labels.setdefault(key, path)
            for package in PACKAGE.findall(code):
                facts.labels.setdefault(package, path)
        if re.fullmatch(r"third_party/\w+/BUILD\.bazel", path) and \
                os.path.dirname(path) + "/WORKSPACE" not in files:
            facts.targets.add("//" + os.path.dirname(path))
        if path == "WORKSPACE":
            facts.repositories = {
                "@" + repository for repository, at in REPOSITORY.findall(text)
                if not at.startswith("third_party/")}
        if path == "third_party/sysdeps/BUILD.bazel":
            facts.targets |= set(TARGET.findall(text))
            for target in re.findall(r'":(\w+)"', text):
                facts.labels.setdefault(target, path)
        named = (re.findall(r"\bCC=(\S+)", text) if name == ".bazelrc" else
                 VERSIONED.findall(COMMENT.sub("", text))
                 if path.startswith(("tools/", "test/site/")) else ())
        for compiler in named:
            facts.compilers.setdefault(compiler.strip('"'), path)
        if path.endswith((".sh", ".py")) or path in ("sy", ".bazelrc") or build:
            facts.scripts += COMMENT.sub("", text)


def reached_from(binaries):
    """The sonames of all that programs and libraries need, ours apart."""
    text = subprocess.run(["ldd", *binaries], capture_output=True, text=True,
                          check=True).stdout
    return {os.path.basename(s) for s in
            re.findall(r"^\s*(\S+) (?:=> )?[/(n]", text, re.M)
            if not s.startswith(("libswitchyard", "linux-vdso"))}


def gather_needed(facts, binaries):
    # The real path of a file decides where its libraries are found.
    binaries = [os.path.realpath(b) for b in binaries]
    for path in binaries:
        text = subprocess.run(["readelf", "-d", path], capture_output=True,
                              text=True, check=True).stdout
        sonames = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
        # Files that Bazel builds for a test have mangled names for our
        # libraries.
        facts.needed[os.path.basename(path)] = [
            s for s in sonames if not s.startswith("libswitchyard")]
    facts.reached = reached_from(binaries)
    text = subprocess.run([os.path.join(HERE, "shipped.sh"), *binaries],
                          capture_output=True, text=True, check=True).stdout
    facts.shipped = {line.split("\t")[0] for line in text.splitlines()}


STUBS = {
    "dpkg-query": "exit 1",
    "sudo": 'while [ "${1:0:1}" = - ]; do shift; done; exec "$@"',
    "apt-get": 'echo "$@" >>"$RECORD/asked"',
    "python3": """case "$*" in
  *--version*) exit 0 ;;
esac
while [ "$1" != -r ]; do shift; done
cp "$2" "$RECORD/wheels"
exit 1""",
}


def setup_asks(record, env, *options):
    """The packages that tools/setup.sh wants, and the wheels it would download."""
    run = subprocess.run([os.path.join(HERE, "setup.sh"), *options], env=env,
                         capture_output=True, text=True, check=False)
    try:
        with open(os.path.join(record, "asked"), encoding="utf-8") as file:
            install = file.read().splitlines()[-1].split()
        with open(os.path.join(record, "wheels"), encoding="utf-8") as file:
            return install, file.read().splitlines()
    except (OSError, IndexError):
        sys.exit(f"libraries: setup.sh asked for nothing:\n{run.stderr}")


def gather_setup(facts):
    """Runs tools/setup.sh on a machine that seems to have nothing."""
    with tempfile.TemporaryDirectory() as record:
        for name, text in STUBS.items():
            path = os.path.join(record, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/bash\n" + text + "\n")
            os.chmod(path, 0o755)
        env = {"PATH": record + ":/usr/bin:/bin", "RECORD": record,
               "HOME": record, "SY_ONEDNN_DIR": os.path.join(record, "onednn")}
        install, facts.wheels = setup_asks(record, env)
        for part in ("lib/libdnnl.so.3", "include/oneapi/dnnl/dnnl.hpp"):
            path = os.path.join(env["SY_ONEDNN_DIR"], part)
            os.makedirs(os.path.dirname(path))
            open(path, "w", encoding="utf-8").close()
        _, facts.toolkit = setup_asks(record, env, "--cuda")
    facts.packages = [p for p in install
                      if p != "install" and not p.startswith("-")]


def gather_versions(facts, packages):
    """Debian's; nothing on another release than that of the table."""
    try:
        with open("/etc/debian_version", encoding="utf-8") as file:
            if not file.read().startswith("12"):
                return
    except OSError:
        return
    run = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages],
        capture_output=True, text=True, check=False)
    for line in run.stdout.splitlines():
        package, version = line.split()
        facts.versions[package] = re.sub(r"^\d+:", "", version)


def is_version(debian, upstream):
    """Whether Debian's version, 9.1.0+ds1-2, is one of upstream's 9.1.0."""
    rest = debian[len(upstream):]
    return debian.startswith(upstream) and not re.match(r"\.?\d", rest)


def covers(prefix, header):
    """includes: a folder, "hwy/", or a header."""
    return header == prefix or (prefix.endswith("/") and
                                header.startswith(prefix))


def both_ways(entries, field, used, what, where):
    """Yields differences between the words of a field and what is used."""
    known = collections.Counter(w for e in entries for w in getattr(e, field))
    for word, count in known.items():
        if count > 1:
            yield f"{field} {word}: is in {count} entries"
        if word not in used:
            yield f"{field} {word}: {where}"
    for word in sorted(set(used) - set(known)):
        at = used[word] if isinstance(used, dict) else ""
        yield f"{at + ' ' if at else ''}{what} {word}, which no entry names " \
              f"under `{field}`"


def check_form(entries):
    names = collections.Counter(e.name for e in entries)
    for entry in entries:
        name = entry.name or "an entry"
        if names[entry.name] > 1:
            yield f"{name}: has two entries"
        for field in SENTENCES:
            if not getattr(entry, field):
                yield f"{name}: does not say `{field}`"
        if not any(getattr(entry, f) for f in SOURCES):
            yield f"{name}: does not say where it comes from"
        if getattr(entry, "with") and getattr(entry, "with") not in names:
            yield f"{name}: comes with {getattr(entry, 'with')}, no entry"
        if not any(getattr(entry, f) for f in USES if f != "links"):
            yield f"{name}: does not say where it is used"
        for soname in entry.ships:
            if soname not in entry.shared:
                yield f"{name}: ships {soname}, which is not under `shared`"


def check_headers(entries, facts):
    compiled_in = set()
    for header, paths in facts.includes.items():
        owners = [e for e in entries
                  if any(covers(p, header) for p in e.includes)]
        if len(owners) != 1:
            yield f"{paths[0]} includes {header}, which {len(owners)} " \
                  "entries name under `includes`"
        elif any(p.startswith(SHIPPED) for p in paths):
            compiled_in.add(owners[0].name)
    for entry in entries:
        part = entry.ships or (entry.name in compiled_in and not entry.shared)
        if entry.copyright and not part:
            yield f"{entry.name}: has a copyright, and no code of it is shipped"
        # A wheel brings its licence.
        if part and not (entry.copyright or entry.wheel or entry.toolkit):
            yield f"{entry.name}: its code is shipped without its copyright"


def check_needed(entries, facts):
    owner = {s: e for e in entries for s in e.shared}
    for soname in sorted(facts.reached - set(owner)):
        users = [b for b, s in facts.needed.items() if soname in s]
        yield f"{', '.join(users) or 'something that is shipped'} needs " \
              f"{soname}, which no entry names under `shared`"
    for entry in entries:
        users = {b for b, sonames in facts.needed.items()
                 if set(sonames) & set(entry.shared)}
        for binary in sorted(users - set(entry.needed)):
            yield f"{entry.name}: {binary} needs it, which is not under " \
                  "`needed`"
        for binary in sorted(set(entry.needed) - users):
            yield f"{entry.name}: {binary} does not need it"
        for soname in entry.shared:
            if soname not in facts.reached:
                yield f"{entry.name}: nothing needs {soname}"


def check(entries, facts):
    """Yields each difference between a table and the facts."""
    yield from check_form(entries)
    for entry in entries:
        for prefix in entry.includes:
            if not any(covers(prefix, h) for h in facts.includes):
                yield f"{entry.name}: no source includes {prefix}"
        for library in entry.loads:
            if library not in facts.scripts:
                yield f"{entry.name}: no script names {library}"
        for command in entry.commands:
            if not re.search(rf"(?<![\w-]){re.escape(command)}(?![\w-])",
                             facts.scripts):
                yield f"{entry.name}: no script runs {command}"
        installed = facts.versions.get(next(iter(entry.packages), ""))
        if installed and not is_version(installed, entry.version):
            yield f"{entry.name}: is version {entry.version} here and " \
                  f"{installed} on this machine"
    for library in sorted(set(LOADED.findall(facts.scripts))):
        if not any(library in e.loads for e in entries):
            yield f"a script names {library}, which no entry has under `loads`"
    for compiler, path in facts.compilers.items():
        if not any(compiler in e.commands for e in entries):
            yield f"{path} names {compiler}, which no entry names under " \
                  "`commands`"
    yield from check_headers(entries, facts)
    yield from both_ways(entries, "imports", facts.imports, "imports",
                         "no script imports it")
    yield from both_ways(entries, "links", facts.links, "links",
                         "no BUILD file links it")
    defined = facts.targets | facts.repositories
    yield from both_ways(entries, "targets", defined, "Bazel has",
                         "there is none")
    for target in sorted(facts.targets):
        if target not in facts.labels:
            yield f"targets {target}: no BUILD file uses it"
    yield from check_needed(entries, facts)
    yield from both_ways(entries, "ships", facts.shipped,
                         "an installation ships", "it is not shipped")
    yield from both_ways(entries, "packages", facts.packages, "setup installs",
                         "setup does not install it")
    wheels = [w for e in entries for w in e.wheel]
    if sorted(wheels) != sorted(facts.wheels):
        yield f"wheel: setup takes {facts.wheels}"
    toolkit = [w for e in entries for w in e.toolkit]
    if sorted(toolkit) != sorted(facts.toolkit):
        yield f"toolkit: setup takes {facts.toolkit}"
    names = {w.split("==")[0] for w in toolkit}
    trials = [w.split("==")[0] for e in entries for w in e.trial]
    taken = [t for t in TRIAL.findall(facts.scripts) if t not in names]
    if sorted(trials) != sorted(taken):
        yield f"trial: setup takes {taken}"


def read_table(root):
    with open(os.path.join(root, TABLE), encoding="utf-8") as file:
        return file.read()


def facts_of(root, binaries):
    facts = Facts()
    files = {}
    for path in lint.source_files(root):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                files[path] = file.read()
        except (OSError, UnicodeDecodeError):
            continue
    # @backends is ours: Bazel's description of the folders makes it.
    gather_sources(facts, files)
    facts.repositories -= {"@backends"}
    gather_needed(facts, binaries)
    gather_setup(facts)
    entries, _ = parse(read_table(root))
    gather_versions(facts, [p for e in entries for p in e.packages])
    return facts


def check_installed(entries, prefix):
    """Yields what an installation has too much or too little."""
    lib = os.path.join(prefix, "lib")
    copied = {n for n in os.listdir(lib)
              if ".so" in n and not n.startswith("libswitchyard")}
    ships = {s for e in entries for s in e.ships}
    for soname in sorted(copied - ships):
        yield f"lib/{soname}: no entry ships it"
    for soname in sorted(ships - copied):
        yield f"lib/{soname}: is not there"
    own = [os.path.join(lib, n) for n in os.listdir(lib)
           if n.startswith("libswitchyard")]
    programs = [os.path.join(prefix, "bin", n) for n in ("sy", "sygen")]
    reached = reached_from(own + programs)
    for soname in sorted(copied - reached):
        yield f"lib/{soname}: nothing needs it"
    known = {s for e in entries for s in e.shared}
    for soname in sorted(reached - known):
        yield f"{soname}: is needed, and no entry names it under `shared`"
    licences = os.path.join(prefix, "share/doc/switchyard/third_party")
    for package in sorted(p for e in entries for p in e.copyright):
        if not os.path.exists(os.path.join(licences, package)):
            yield f"{licences}/{package}: is not there"


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("--checkout", "--installed"):
        sys.exit(__doc__)
    mode, place, *binaries = arguments
    root = place if mode == "--checkout" else os.path.dirname(HERE)
    entries, problems = parse(read_table(root))
    if mode == "--checkout":
        problems += check(entries, facts_of(root, binaries))
    else:
        problems += check_installed(entries, place)
    for problem in problems:
        print(f"{TABLE}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
