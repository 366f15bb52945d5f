"""Promises of compiled kernels about speed, read from their machine code: the
words of nvdisasm, and what ptxas said of registers."""

import collections
import re
import subprocess
import tempfile

FUNCTION = re.compile(r"^\.text\.(\w+):", re.M)
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s*(?:\{\s*)?(?:@!?\w+\s+)?"
                         r"([A-Z]\w*(?:\.\w+)*)", re.M)
ENTRY = re.compile(r"Compiling entry function '(\w+)'")
PROPERTIES = re.compile(r"Function properties for (\w+)\s*\n\s*(\d+) bytes "
                        r"stack frame, (\d+) bytes spill stores, (\d+) bytes "
                        r"spill loads")
USED = re.compile(r"Used (\d+) registers")
# An atomic addition of floats: its sum depends on the order.
FLOAT_ATOMIC = re.compile(r"^(?:RED|ATOM)\w*\..*\bADD\b.*\bB?F(?:16|32|64)")
LOCAL = re.compile(r"^(?:LDL|STL)\b")
FUSED = re.compile(r"^(?:FFMA|DFMA)\b")
# Registers more than were recorded that are none to speak of.
SLACK = 4


class Kernel:
    """words: instruction -> how often it stands there."""

    def __init__(self, name, words=None, registers=0, stack=0, spills=0):
        self.name = name
        self.words = collections.Counter(words)
        self.registers = registers
        self.stack = stack
        self.spills = spills

    def count(self, pattern):
        return sum(n for word, n in self.words.items()
                   if re.search(pattern, word))


def parse(assembly, log):
    """The kernels of one cubin. `assembly`: of nvdisasm; `log`: ptxas -v."""
    kernels = {}
    parts = FUNCTION.split(assembly)
    for name, text in zip(parts[1::2], parts[2::2]):
        # Other sections follow the code.
        text = text.split("//---")[0]
        kernels[name] = Kernel(name, INSTRUCTION.findall(text))
    said = ENTRY.split(log)
    for name, text in zip(said[1::2], said[2::2]):
        used, held = USED.search(text), PROPERTIES.search(text)
        if name in kernels and used and held:
            kernels[name].registers = int(used[1])
            kernels[name].stack = int(held[2])
            kernels[name].spills = int(held[3]) + int(held[4])
    return kernels


def read(nvdisasm, compiled):
    """The kernels of what nvcc.Compiler gives."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.cubin)
        file.flush()
        run = subprocess.run([nvdisasm, "-c", file.name], check=False,
                             text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    if run.returncode:
        raise RuntimeError(f"{nvdisasm}: {run.stderr.strip()}")
    return parse(run.stdout, compiled.log)


class Promise:
    """The promise of a kernel, beyond that of all kernels.

    loads, stores: so many instructions that move 16 bytes of a thread
    fused: whether the program asks for fma, so that one may stand there
    stack, spills: bytes of local memory, and of registers that are written
    there, that it may have, and why
    """

    def __init__(self, loads=0, stores=0, fused=True, stack=0, spills=0,
                 why=""):
        assert bool(stack) == bool(why)
        self.loads = loads
        self.stores = stores
        self.fused = fused
        self.stack = stack
        self.spills = spills


def broken(kernel, promise, recorded):
    """A line for each promise that the kernel breaks. `recorded`: registers
    that it had before; None if it is new."""
    if kernel.spills > promise.spills:
        yield f"spills {kernel.spills} bytes of registers into memory"
    local = kernel.count(LOCAL)
    if kernel.stack > promise.stack or (local and not promise.stack):
        yield f"has {kernel.stack} bytes of local memory, which {local} " \
              "instructions use: registers are spilled, or an array has an " \
              "index that the compiler does not know"
    for word in sorted(kernel.words):
        if FLOAT_ATOMIC.search(word):
            yield f"adds floats by {word}: the sum would depend on the order"
    for what, word, least in (("loads", "LDG", promise.loads),
                              ("stores", "STG", promise.stores)):
        wide = kernel.count(rf"^{word}\b.*\b128\b")
        if wide < least:
            yield f"{wide} {what} of 16 bytes, expected {least}: it has " \
                  f"{kernel.count(rf'^{word}')} of any size"
    fused = kernel.count(FUSED)
    if fused and not promise.fused:
        yield f"{fused} fused multiplications and additions, and the " \
              "program has none: is --fmad=false there?"
    if recorded is not None and kernel.registers > recorded + SLACK:
        yield f"{kernel.registers} registers, recorded are {recorded}"
