"""Puts faults into guards, one at a time, and sees whether state_programs_test
fails: python3 test/frontend/compile/faults.py [FOLDER [FAULT...]]

A random test finds only what its generator varies. Each fault below takes away
one thing that keeps a replay right, as if nobody had thought of it. It is built
in a clone of the last commit, in FOLDER if that is given; the folder stays then,
and the next run is faster. Without a fault the test has to pass, or nothing is
shown. Part of ./sy test --full.
"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
TEST = "//test/frontend/compile:state_programs_test"
COMPILE = "frontend/compile/"
BAZEL_PASSED, BAZEL_FAILED = 0, 3

# Faults, by what is not seen any more: (file, text that is there once, what it
# becomes)...
FAULTS = {
    "modes and members of modules": [
        ("frontend/nn/module_reads.cpp", "if (SY_LIKELY(b.hold())) continue;",
         "if (b.hold() || true) continue;")],
    "modules that are put in the place of others": [
        ("frontend/nn/module_reads.cpp", "return now_ == was_;\n  }",
         "return true;\n  }"),
        (COMPILE + "watch.cpp", "bool Watch::owners_hold() {",
         "bool Watch::owners_hold() {\n  return true;"),
        (COMPILE + "variant.cpp", "if (o.is_forgotten()) {",
         "if (false) {")],
    "options of optimizers": [
        ("frontend/optim/captured_options.cpp",
         "differs_ = reads_[i].difference(groups_[i], &differing_);",
         "static_cast<void>(&differing_);")],
    "arguments that the code has in another way": [
        (COMPILE + "watch.cpp", "SY_UNLIKELY(!places_.hold(a))", "false")],
    "sizes and strides of captured tensors": [
        (COMPILE + "variant.cpp", "!o.guard.holds(o.tensor)) {", "false) {"),
        (COMPILE + "watch.cpp", "         guard.holds(t);", "         true;")],
    "captured tensors that are replaced": [
        (COMPILE + "watch.cpp", "bool Watch::owners_hold() {",
         "bool Watch::owners_hold() {\n  return true;"),
        (COMPILE + "watch.cpp", "bool Watch::references_hold() {",
         "bool Watch::references_hold() {\n  return true;"),
        (COMPILE + "variant.cpp", "if (o.is_forgotten()) {",
         "if (false) {")],
    "arguments that share memory with captured tensors": [
        (COMPILE + "variant.cpp",
         "if (shares_memory(a.tensors[i], grad) == shares[i]) continue;",
         "if (shares_memory(a.tensors[i], grad) || true) continue;"),
        (COMPILE + "watch.cpp",
         "if (was.any || was.storage == nullptr) continue;",
         "if (was.storage == nullptr || true) continue;")],
    "default dtype and modes of the thread": [
        (COMPILE + "guards.cpp", "Modes::now() != modes_) {", "false) {")],
    "types of numbers": [
        (COMPILE + "compile.h",
         "&compiling::types<std::decay_t<A>...>));",
         "&compiling::types<void>));")],
    # A hook is an owner of the tensor too.
    "hooks of tensors": [
        (COMPILE + "variant.cpp",
         "if (has_hooks(at(h.of, a)) == h.hooks) continue;",
         "if (has_hooks(at(h.of, a)) || true) continue;"),
        (COMPILE + "watch.cpp", "bool Watch::owners_hold() {",
         "bool Watch::owners_hold() {\n  return true;")],
    "values of numbers": [
        (COMPILE + "compile.h",
         "std::bit_cast<uint64_t>(static_cast<double>(a)));",
         "uint64_t{0} * sizeof a);")],
    "numbers that the callable refers to": [
        (COMPILE + "watch.cpp", "bool Watch::references_hold() {",
         "bool Watch::references_hold() {\n  return true;")],
    "sizes of arguments": [
        (COMPILE + "guards.cpp",
         "         std::equal(sizes.begin(), sizes.end(), dims_.begin()) &&\n",
         "")],
    "whether arguments require gradients": [
        (COMPILE + "guards.cpp",
         "         autograd::requires_grad(t) == requires_grad_ &&\n", "")],
    "elements that the code branches on": [
        (COMPILE + "walk.cpp", "v->seen[d] != seen;",
         "(v->seen[d] != seen && false);")],
}


def run(folder, *command):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)


def prepare(folder):
    """Makes the folder a clone of the last commit."""
    if not os.path.exists(os.path.join(folder, ".git")):
        run(ROOT, "git", "clone", "-q", ROOT, folder)
    run(folder, "git", "fetch", "-q", ROOT, "HEAD")
    run(folder, "git", "checkout", "-q", "--force", "--detach", "FETCH_HEAD")


def clear(folder):
    run(folder, "git", "checkout", "-q", "--", ".")


def put_in(folder, fault):
    """Writes the fault; says what is wrong with it, or ""."""
    for path, old, new in fault:
        path = os.path.join(folder, path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(old) != 1:
            return f"{path} has {text.count(old)} times '{old}'"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
    return ""


def judge(folder, fault, code, otherwise):
    """Builds and tests with a fault: "" if `bazel test` ends with the code."""
    wrong = put_in(folder, fault)
    if wrong:
        return wrong
    tested = run(folder, "bazel", "test", TEST)
    if tested.returncode == code:
        return ""
    return (otherwise if tested.returncode in (BAZEL_PASSED, BAZEL_FAILED)
            else "does not build") + ":\n" + tested.stdout[-3000:]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = sys.argv[1] if len(sys.argv) > 1 else scratch
        names = sys.argv[2:] or list(FAULTS)
        prepare(folder)
        why = judge(folder, [], BAZEL_PASSED, "fails without a fault")
        if why:
            print(why)
            return 1
        missed = 0
        for name in names:
            why = judge(folder, FAULTS[name], BAZEL_FAILED, "nothing fails")
            clear(folder)
            print(f"{'seen' if not why else 'MISSED'}: {name}", why, flush=True)
            missed += bool(why)
        if len(sys.argv) == 1:
            run(folder, "bazel", "clean", "--expunge")
    print(f"{len(names) - missed} of {len(names)} faults are seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
