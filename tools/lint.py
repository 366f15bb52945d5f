"""House rules that a program can see. Each failure explains its rule.

Usage: lint.py [ROOT]    exit 1 if a rule is broken
"""

import os
import re
import shutil
import subprocess
import sys

CPP = (".h", ".cpp", ".cu", ".cuh")
TEXT = CPP + (".inc", ".py", ".bzl", ".bazel", ".sh", ".yaml", ".md", ".cmake")
MAX_LINES = 800
MAX_FUNCTION_LINES = 100
MAX_FUNCTION_LINES = 100
MAX_README_LINES = 100
MAX_FOLDER_README_LINES = 30

# layer -> (what it may include, why)
LAYERS = {
    "c10": (("c10/",), "c10 is the lowest layer and knows no operator"),
    "c10/schema": (("c10/schema/", "c10/macros.h"),
                   "the signature grammar stands alone: the generator uses it "
                   "without the rest of c10"),
    "aten": (("c10/", "aten/", "lang/"),
             "aten stands on c10, and on lang for operators loaded at "
             "run time; neither gradients nor backends may leak into it"),
    "autograd": (("c10/", "aten/", "autograd/"),
                 "autograd stands on aten; it registers under its key and "
                 "knows no backend, so that either can be dropped"),
    "lang": (("lang/", "c10/schema/"),
             "the language says what entries mean, for the generator and for "
             "the library: of the tree it needs the signature grammar alone"),
    "model": (("model/", "lang/", "c10/schema/"),
              "what an entry becomes, for the generator and for the loader of "
              "schemas: it knows neither"),
    "codegen": (("codegen/", "model/", "lang/", "c10/schema/"),
                "the generator reads schemas and writes text: of the tree it "
                "needs the model, the language and the signature grammar "
                "alone"),
    "frontend": (("c10/", "aten/", "autograd/", "frontend/"),
                 "the front end knows operators and gradients, and no "
                 "backend"),
    "frontend/nn": (("c10/", "aten/", "autograd/", "frontend/io/",
                     "frontend/nn/"),
                    "modules stand on operators, gradients and files"),
    "frontend/optim": (("c10/", "aten/", "autograd/", "frontend/io/",
                        "frontend/nn/", "frontend/optim/"),
                       "optimizers take tensors and their names; swa_utils "
                       "alone takes modules"),
    "frontend/export": (("c10/", "aten/", "autograd/", "frontend/io/",
                         "frontend/nn/", "frontend/export/"),
                        "exported programs are modules read from files"),
    "frontend/export/format": (("c10/", "frontend/io/format/",
                                "frontend/io/file_error.h",
                                "frontend/export/format/"),
                               "descriptions of programs are bytes and what "
                               "they mean, without tensors"),
    "frontend/io": (("c10/", "aten/", "frontend/io/"),
                    "files hold tensors: of the tree they need c10 and aten "
                    "alone"),
    "frontend/io/format": (("c10/", "frontend/io/format/",
                            "frontend/io/file_error.h"),
                           "formats are bytes and what they mean, without "
                           "tensors, so that they can be fuzzed alone"),
    "include": (("c10/", "aten/", "autograd/", "frontend/", "runtime/", "sy/"),
                "the public doors lead to what the SDK installs"),
}
TREE = ("c10/", "aten/", "autograd/", "backends/", "codegen/", "frontend/",
        "lang/", "model/", "runtime/", "sy/")
# A public header is read by every translation unit of every user.
HEAVY = ("iostream", "sstream", "regex", "functional", "map", "fmt/",
         "nlohmann/", "yaml-cpp/")

# Folders of tools/sy, each of which may include itself and those before it.
SY_FOLDERS = ("support", "cases", "calls", "trials", "device", "launch", "fuzz",
              "inspect", "model", "facts", "conform", "prove", "command_line")

COMPOSITE = "aten/composite"

# Paths that name no folder of backends/, but in comments, by way of example.
NAMELESS = ("c10/", "aten/", "autograd/", "codegen/", "frontend/", "include/",
            "runtime/", "schemas/BUILD.bazel", "backends/BUILD.bazel",
            "BUILD.bazel", "WORKSPACE", "tools/backend.bzl",
            "tools/backends.bzl", "tools/sygen.bzl", "tools/sdk.bzl",
            "tools/install.sh", "tools/sy/")
# (path, folder) -> why it may all the same.
NAMES_A_BACKEND = {
    ("BUILD.bazel", "backends/cpu"):
        "libswitchyard_onednn.so and libswitchyard_lapack.so are files of an "
        "installation, which the CPU's kernels load by these names",
    ("BUILD.bazel", "backends/cuda"):
        "libswitchyard_cuda_cub.so is a file of an installation, which CUDA's "
        "kernels load by this name",
    ("tools/install.sh", "backends/cuda"):
        "a pack of compiled kernels is installed if it was made",
    ("codegen/commands.cpp", "backends/cpu"):
        "where emit-all, which makes golden files, puts the loops that the CPU "
        "has compiled for entries with `compiled:`",
}

# Pages whose paths must lead somewhere, and what generation makes.
PAGE = re.compile(r"(README|CONTRIBUTING|docs/\w+|\w+/README)\.md")
GENERATED = re.compile(r"_gen\.|^aten/ops/|^docs/ops/")
PATH = re.compile(r"(?<![\w./-])(\w+(?:/[\w-]+)+"
                  r"\.(?:h|cpp|inc|yaml|py|sh|bzl))\b")

INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
MACHINE_PATH = re.compile(r"(?<![\w.}])/(home|work|root|tmp|mnt|Users)/\w")
# The words are split, so that this line is no match.
UNNUMBERED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b(?!\(#?\d+)")

# A call into the namespace of one instruction set. The call of a function that
# only gathers pointers may be compiled to instructions that the machine lacks.
OTHER_ISA = re.compile(r"(?<!return )(?<!&)\bN_AVX[23]::\w+(<[\w:]+>)?\(")


# Folders that programs link. A child of fork uses their code, and so may a
# set-user-ID program.
LIBRARY = ("c10/", "aten/", "autograd/", "backends/", "frontend/", "runtime/")
GETENV = re.compile(r"\bgetenv\s*\(")
LOCK = re.compile(r"\bstd::(?:recursive_|shared_|timed_)*mutex\s+\w|"
                  r"new std::(?:recursive_|shared_)*mutex|std::once_flag")
# path -> why its locks are not of c10/process/fork.h.
PLAIN_LOCKS = {
    "c10/process/fork.h": "the others are made of it",
    "c10/process/fork.cpp": "the others are made of it",
    "c10/memory/cpu_allocator.cpp": "c10/process/fork.cpp holds them while it copies",
    "c10/memory/pool.cpp": "c10/process/fork.cpp holds them while it copies",
    "c10/process/parallel.cpp": "of threads that a child does not have",
    "c10/schema/": "held while text is interned; the grammar stands alone",
    "backends/cpu/lapack/threads.cpp": "within InLapack's ForkSection",
    "backends/cpu/jit/kernels.cpp": "within ForkSections",
    "backends/cpu/gemm/packed_weight.cpp": "within ForkSections",
    "backends/cuda/": "a child refuses CUDA",
    "backends/pjrt/": "a plugin's threads do not outlive a fork",
    "frontend/distributed/": "a child is no rank",
}


def check_library(path, line):
    """Yields what is wrong with a line of what programs link."""
    code = line.split("//")[0]
    if GETENV.search(code) and path != "c10/process/environment.h" and \
            not path.startswith("backends/cuda/bake/"):
        yield ("calls getenv: environment() of c10/process/environment.h says nothing "
               "to set-user-ID programs")
    if LOCK.search(code) and not path.startswith(tuple(PLAIN_LOCKS)):
        yield ("has a lock that a child of fork may find taken for ever: take "
               "one of c10/process/fork.h")


def source_files(root):
    """Tracked and new files; without git, all but what builds leave."""
    if shutil.which("git"):
        run = subprocess.run(
            ["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
            capture_output=True, text=True, check=False)
        if run.returncode == 0 and run.stdout:
            return sorted(set(run.stdout.splitlines()))
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [d for d in subfolders
                         if not d.startswith((".git", "bazel-", "build"))
                         or d == ".ci"]
        found += [os.path.relpath(os.path.join(folder, n), root)
                  for n in names]
    return sorted(found)


def layer_of(path):
    """The key of LAYERS that holds for a file, or None."""
    parts = path.split("/")[:-1]
    for end in range(len(parts), 0, -1):
        if "/".join(parts[:end]) in LAYERS:
            return "/".join(parts[:end])
    return None


def check_include(path, target):
    """Yields what is wrong with including `target` from the file `path`."""
    own = path.split("/")
    if target.startswith(".") or "/../" in target:
        yield (f"includes {target}: name the path from the project's root, so "
               "that a name tells the place")
    if own[0] == "backends" and target.startswith(TREE):
        # Special functions are functions of numbers: text that stands on std
        # alone. The table of primitives is text that stands on nothing.
        allowed = ("c10/", "aten/", "lang/special/", "lang/primitives.inc",
                   f"backends/{own[1]}/")
        if not target.startswith(allowed):
            yield (f"includes {target}: a backend stands on c10 and aten "
                   "alone, so that it could as well live outside this tree")
    if own[:2] == ["tools", "sy"] and target.startswith("tools/sy/"):
        folders = [p.split("/")[2] for p in (path, target) if p.count("/") > 2]
        for folder in sorted(set(folders) - set(SY_FOLDERS)):
            yield (f"tools/sy/{folder}/ is not in SY_FOLDERS of tools/lint.py: "
                   "say there which folders it stands on")
        places = [SY_FOLDERS.index(f) for f in folders if f in SY_FOLDERS]
        if places != sorted(places, reverse=True):
            yield (f"includes {target}: tools/sy/{own[2]}/ comes before that "
                   "folder in SY_FOLDERS of tools/lint.py, so that no two "
                   "folders need each other")
    layer = layer_of(path)
    if layer and target.startswith(TREE):
        allowed, why = LAYERS[layer]
        if not target.startswith(allowed):
            yield f"includes {target}: {why}"
    if own[0] in ("c10", "aten") and path.endswith(".h"):
        if target.startswith(tuple(h for h in HEAVY if h.endswith("/"))) or \
                target in HEAVY:
            yield (f"includes <{target}> in a header: every user would pay "
                   "for it; include it in the .cpp")


# Lines with the indent of a block that do not begin it.
BESIDE = re.compile(r"\s*(?:#|//|\}|(?:public|private|protected):)|\w+:$")
NO_FUNCTION = re.compile(
    r"\s*(?:for|if|while|switch|do|else|try|case|default|namespace)\b|[^(]*$")


def functions(lines):
    """Yields (line number, lines) of each function of formatted C++.

    It ends at the first `}` alone that has the indent of its first line.
    """
    begins = {}  # indent -> the last line that begins something there
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if line.strip() == "}" and indent in begins:
            begin = begins[indent]
            if not NO_FUNCTION.match(lines[begin - 1]):
                yield begin, number - begin + 1
        elif line.strip() and not BESIDE.match(line):
            begins[indent] = number


def check_file(path, lines):
    """Yields (line number, what is wrong)."""
    cpp = path.endswith(CPP)
    data = "golden" in path or "/data/" in path
    if len(lines) > MAX_LINES and path.endswith(TEXT) and not data:
        yield len(lines), (f"has {len(lines)} lines, over {MAX_LINES}: split "
                           "it by topic")
    readme = MAX_README_LINES if path == "README.md" else \
        MAX_FOLDER_README_LINES if re.fullmatch(r"\w+/README\.md", path) else 0
    if readme and len(lines) > readme:
        yield len(lines), (f"has {len(lines)} lines, over {readme}: details "
                           "belong in docs/")
    if path.endswith(".h") and cpp and not data:
        if not any(l.strip() == "#pragma once" for l in lines):
            yield 1, "has no #pragma once"
    for number, length in functions(lines) if cpp and not data else ():
        if length > MAX_FUNCTION_LINES:
            yield number, (f"begins a function of {length} lines, over "
                           f"{MAX_FUNCTION_LINES}: name its parts")
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line) and not path.startswith("test/"):
            yield number, ("names a path of one machine: a fresh clone "
                           "elsewhere must work")
        if cpp and OTHER_ISA.search(line) and \
                path != "backends/cpu/tiles/targets.h":
            yield number, ("calls a function of an instruction set that the "
                           "machine may not have: SY_TILE_RETURN calls that "
                           "of the active one")
        if UNNUMBERED.search(line):
            yield number, ("leaves work without an issue number: do it, or "
                           "write TODO(#12)")
        if cpp and path.startswith(LIBRARY):
            for problem in check_library(path, line):
                yield number, problem
        if cpp:
            match = INCLUDE.match(line)
            for problem in check_include(path, match[1]) if match else ():
                yield number, problem


def check_paths(files):
    """Yields (path, line number, problem) for paths that pages name."""
    tops = {path.split("/")[0] for path in files if "/" in path}
    for page, lines in files.items():
        if not PAGE.fullmatch(page):
            continue
        fenced = False  # an example of somebody's own files
        for number, line in enumerate(lines, 1):
            fenced ^= line.startswith("```")
            for path in () if fenced else PATH.findall(line):
                beside = os.path.join(os.path.dirname(page), path)
                if path.split("/")[0] in tops and path not in files and \
                        beside not in files and not GENERATED.search(path):
                    yield page, number, (
                        f"names {path}, which is not there: a reader would "
                        "search for it")


def dispatched(lines):
    """Yields (line number, key, function) for what `dispatch:` entries name."""
    indent = None  # of the entry that is open
    for number, line in enumerate(lines, 1):
        text = line.strip()
        own = len(line) - len(line.lstrip())
        if indent is not None and text and own <= indent:
            indent = None
        if text.startswith("dispatch:"):
            indent = own
            text = text[len("dispatch:"):]
        if indent is not None:
            for key, function in re.findall(r"(\w+):\s*(\w+)", text):
                yield number, key, function


def families_of(files, schemas):
    """Operator -> its family, by the entries of the files `schemas`."""
    found = {}
    for family, path in schemas.items():
        for line in files[path]:
            match = re.match(r"\s*- func: ['\"]?([\w.]+)\(", line)
            if match:
                found[match[1]] = family
    return found


def listed(lines):
    """Yields (line number, operator) for the `supported:` of a backend.yaml."""
    inside = False
    for number, line in enumerate(lines, 1):
        text = re.sub(r"\{.*?\}", "", line.split("#")[0])
        if re.match(r"\w", text):
            inside = text.startswith("supported:")
        if inside:
            for name in re.findall(r"(?:-|\[|,)\s*([\w.]+)", text):
                yield number, name


def defined(lines):
    """The functions that a formatted C++ source defines at namespace scope."""
    text = "\n".join(lines)
    head = r"(?m)^(?!using\b|namespace\b)[A-Za-z_][\w:<>,&*\s]*?\b(\w+)\("
    found = set()
    for match in re.finditer(head, text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        if text[at:].lstrip().startswith("{"):
            found.add(match[1])
    return found


def backends(files):
    """Yields (description, dispatch key) for each folder of backends/."""
    for path, lines in files.items():
        if re.fullmatch(r"backends/\w+/backend\.yaml", path):
            for line in lines:
                if line.startswith("backend: "):
                    yield path, line.split()[1]


def folder_of(key, files):
    """The folder of the kernels of a dispatch key."""
    if key.startswith("Composite"):
        return COMPOSITE
    for path, own in backends(files):
        if own == key:
            return os.path.dirname(path)
    return f"backends/{key.lower()}"


def family_of(path, families):
    """The longest family that a source's name begins with, or None."""
    stem = os.path.splitext(os.path.basename(path))[0]
    fitting = [f for f in families if stem == f or stem.startswith(f + "_")]
    return max(fitting, key=len, default=None)


def check_families(files):
    """Yields (path, line number, problem); `files`: the lines of each path."""
    schemas = {os.path.basename(p)[:-len(".yaml")]: p for p in files
               if re.fullmatch(r"schemas/ops/\w+\.yaml", p)}
    entries = [(family, path, *entry) for family, path in schemas.items()
               for entry in dispatched(files[path])]
    known = families_of(files, schemas)
    for path, key in backends(files):
        for number, name in listed(files[path]):
            # The in-place form has the entry of the functional one.
            functional = re.sub(r"_(?=\.|$)", "", name)
            family = known.get(name) or known.get(functional)
            if family:
                entries.append((family, path, number, key,
                                name.replace(".", "_")))
    folders = {key: folder_of(key, files)
               for key in {entry[3] for entry in entries}}
    sources = {}  # folder -> {function: the files that define it}
    for path, lines in files.items():
        folder = os.path.dirname(path)
        if not path.endswith((".cpp", ".cu")) or \
                folder not in folders.values():
            continue
        for function in defined(lines):
            sources.setdefault(folder, {}).setdefault(function, []).append(path)
        if schemas and not family_of(path, schemas):
            yield path, 1, (
                "is named after no family of schemas/ops/: here each file "
                "holds kernels of one family, so that they are found without "
                "a search; common parts of kernels are in a folder beside them")
    named_by = {}  # (folder, function) -> families
    for family, _, _, key, function in entries:
        named_by.setdefault((folders[key], function), set()).add(family)
    for family, path, number, key, function in entries:
        folder = folders[key]
        homes = sources.get(folder, {}).get(function, [])
        own = f"{folder}/{family}.cpp or {family}_<topic>.cpp"
        if not homes:
            yield path, number, (f"names {function} for {key}, which no file "
                                 f"of {folder}/ defines: it belongs into {own}")
        elif not any(family_of(home, schemas) in named_by[folder, function]
                     for home in homes):
            yield path, number, (
                f"names {function}, which is in {homes[0]}: the kernels of a "
                f"family are in files of its name ({own}) on every backend, "
                "so that they are found without a search")


def check_backend_names(files):
    """Yields (path, line number, problem) for files that name a backend."""
    folders = [os.path.dirname(path) for path, _ in backends(files)]
    if not folders:
        return
    name = re.compile(r"\b(" + "|".join(map(re.escape, folders)) + r")\b")
    for path, lines in files.items():
        if not path.startswith(NAMELESS) or path.endswith(".md"):
            continue
        mark = "//" if path.endswith(CPP) else "#"
        for number, line in enumerate(lines, 1):
            # "//" of a label is none: a comment has a space after it.
            code = re.split(rf"(?:^|\s){mark}(?:\s|$)", line)[0]
            for folder in sorted(set(name.findall(code))):
                if (path, folder) not in NAMES_A_BACKEND:
                    yield path, number, (
                        f"names {folder}: a backend costs a folder, which "
                        "backend.yaml describes; facts of all "
                        "backends come from the descriptions "
                        "(@backends//:list.bzl, Model::backends(), "
                        "aten/backend/engines.h)")


def check_faults(files):
    """Yields (path, line number, problem) for a fault that cannot be put in."""
    path = "test/frontend/compile/faults.py"
    if path not in files:
        return
    names = {"__file__": os.path.abspath(path), "__name__": "faults"}
    exec(compile("\n".join(files[path]), path, "exec"), names)
    for name, fault in names["FAULTS"].items():
        for changed, old, _ in fault:
            count = "\n".join(files.get(changed, [])).count(old)
            if count != 1:
                yield path, 1, (f"'{name}': {changed} has {count} times "
                                f"'{old}', not once")


def check_skips(files):
    """Yields (path, line number, problem) for a line that no test reads."""
    for path in filter(is_skips, files):
        for number, line in enumerate(files[path], 1):
            family = line.split(" ")[0]
            if (family not in ("", "#") and
                    f"test/backends/{family}_test.cpp" not in files):
                yield path, number, (f"names the family {family}, which has "
                                     "no test: nobody reads the line")


def check_family_tests(files):
    """Yields (path, line number, problem) for a family without a test."""
    schemas = {os.path.basename(p)[:-len(".yaml")] for p in files
               if re.fullmatch(r"schemas/ops/\w+\.yaml", p)}
    folders = {}  # family -> {folder: a file of it}
    for path in files:
        if re.fullmatch(r"backends/\w+/\w+\.(cpp|cu)", path):
            folders.setdefault(family_of(path, schemas), {})[
                os.path.dirname(path)] = path
    tested = {family_of(p[:-len("_test.cpp")], schemas) for p in files
              if re.fullmatch(r"test/backends/\w+_test\.cpp", p)}
    for family, homes in folders.items():
        if family and len(homes) > 1 and family not in tested:
            yield max(homes.values()), 1, (
                f"holds kernels of {family}, which {len(homes)} backends "
                f"have: test/backends/{family}_test.cpp, which runs on every "
                "device, says what is right")


def is_skips(path):
    return re.fullmatch(r"test/backends/skips_\w+\.txt", path) is not None


def exempt(path):
    return not (path.endswith(TEXT) or path in ("sy", ".ci/run") or
                is_skips(path))


def problems(root):
    files = {}
    for path in source_files(root):
        if exempt(path):
            continue
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                files[path] = file.read().splitlines()
        except UnicodeDecodeError:
            yield f"{path}:1: is not UTF-8"
        except OSError:
            continue  # deleted since git listed it
    for path, lines in files.items():
        for number, problem in check_file(path, lines):
            yield f"{path}:{number}: {problem}"
    for check in (check_families, check_paths, check_backend_names,
                  check_faults, check_skips, check_family_tests):
        for path, number, problem in check(files):
            yield f"{path}:{number}: {problem}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    found = list(problems(root))
    for line in found:
        print(line)
    print(f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
