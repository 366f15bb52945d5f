"""Facts that running the operators tells: the JSON of `sy facts`, and the
timings of `./sy bench --peer --json`.

    {"version": 1, "devices": ["cpu"],
     "operators": {"softplus": {
       "example": {"lines": ["sy::Tensor self = sy::tensor(…);"],
                   "call": "sy::softplus(self)", "output": "0.3133 …"},
       "errors": [{"call": "sy::softplus(self.to(sy::kBool))",
                   "type": "TypeError", "text": "[softplus] …"}],
       "curves": {"axis": "self",
                  "lines": [{"label": "beta=2", "x": [], "y": [], "dy": []}]},
       "dtypes": {"cpu": [["native", "float32,float64"]]},
       "dispatch": [["CPU", "own: CPU", "schemas/gen/…cpp:573"]],
       "flows": {"softplus": what pictures/flow.py draws}}}}

Operators stand under the names of their bases ("add", "mine::bump"). Any part
may be missing. null is NaN, which parts the line of a curve.
"""

import json
import math

WAYS = ("native", "composed", "cpu")
MOST_CELLS = 10000
GRID = {"name": str, "sizes": [int], "texts": [str], "plain": bool,
        "note": str, "shape": str}
# A list has items of one kind, a tuple is a list of just these, a dict has
# these members, and of all names the one of `...`.
OPERATOR = {
    "example": {"lines": [str], "call": str, "output": str},
    "errors": [{"call": str, "type": str, "text": str}],
    "curves": {"axis": str, "lines": [
        {"label": str, "x": [float], "y": [float], "dy": [float]}]},
    "dtypes": {...: [(str, str)]},
    "dispatch": [(str, str, str)],
    "flows": {...: {"call": str, "moves": bool, "inputs": [GRID],
                    "outputs": [GRID], "from": [[int]]}},
}
FACTS = {"version": int, "devices": [str], "operators": {...: OPERATOR}}
TIMINGS = {...: {"ns": float, "peer_ns": float}}
NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a bool",
         int: "a number", float: "a number", type(None): "null"}


class Checker:
    """Reports what is not as a kind says, by its path."""

    def __init__(self, path, problems):
        self.path, self.problems = path, problems
        self.good = True

    def error(self, where, text):
        self.good = False
        self.problems.error(f"{where or 'the whole'}: {text}", self.path)

    def check(self, value, kind, where=""):
        is_number = isinstance(value, (int, float)) and \
            not isinstance(value, bool)
        if kind is float:
            fits, expected = is_number or value is None, "a number"
        elif kind is int:
            fits = is_number and isinstance(value, int)
            expected = "a whole number"
        else:
            base = kind if isinstance(kind, type) else \
                dict if isinstance(kind, dict) else list
            fits, expected = isinstance(value, base), NAMES[base]
        if not fits:
            self.error(where, f"expected {expected}, got {NAMES[type(value)]}")
        elif isinstance(kind, dict):
            for name, member in value.items():
                if name in kind or ... in kind:
                    self.check(member, kind.get(name, kind.get(...)),
                               f"{where}.{name}" if where else name)
        elif isinstance(kind, tuple) and len(value) != len(kind):
            self.error(where, f"expected {len(kind)} items, got {len(value)}")
        elif isinstance(kind, (list, tuple)):
            for i, item in enumerate(value):
                self.check(item, kind[0], f"{where}[{i}]")

    def operator(self, op, where):
        """Checks what one value says of another."""
        for i, c in enumerate(op.get("curves", {}).get("lines", ())):
            x, y, dy = (c.setdefault(key, []) for key in ("x", "y", "dy"))
            if len(x) != len(y) or (dy and len(dy) != len(x)):
                self.error(f"{where}.curves.lines[{i}]",
                           "expected x, y and dy of one length, got "
                           f"{len(x)}, {len(y)} and {len(dy)}")
            for key in ("x", "y", "dy"):
                c[key] = [math.nan if v is None else v for v in c[key]]
        for device, rows in op.get("dtypes", {}).items():
            for i, (way, _) in enumerate(rows):
                if way not in WAYS:
                    self.error(f"{where}.dtypes.{device}[{i}][0]", "expected "
                               f"native, composed or cpu, got '{way}'")
        for name, flow in op.get("flows", {}).items():
            self.flow(flow, f"{where}.flows.{name}")

    def flow(self, flow, where):
        cells = {}
        for key in ("inputs", "outputs"):
            if not flow.get(key):
                return self.error(f"{where}.{key}",
                                  "expected at least one tensor")
            for i, grid in enumerate(flow[key]):
                for member in ("name", "sizes"):
                    if member not in grid:
                        return self.error(f"{where}.{key}[{i}]",
                                          f"expected a member '{member}'")
                n = math.prod(grid["sizes"])
                if min(grid["sizes"], default=0) < 0 or n > MOST_CELLS:
                    return self.error(f"{where}.{key}[{i}].sizes",
                                      "expected a small tensor")
                cells[key] = cells.get(key, 0) + n
        for member in ("call", "from"):
            if member not in flow:
                return self.error(where, f"expected a member '{member}'")
        if len(flow["from"]) != cells["outputs"]:
            self.error(f"{where}.from", f"expected {cells['outputs']} lists")
        for k, sources in enumerate(flow["from"]):
            if not all(0 <= f < cells["inputs"] for f in sources):
                self.error(f"{where}.from[{k}]",
                           f"expected numbers in [0, {cells['inputs']})")


def read_json(path, kind, problems):
    """The JSON of a file, and whether it is of this kind."""
    text = problems.read(path)
    if text is None:
        return {}, False
    checker = Checker(path, problems)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as e:
        problems.error(f"bad JSON: {e.msg}", path, e.lineno, e.colno)
        return {}, False
    checker.check(value, kind)
    if checker.good and kind is FACTS:
        version = value.get("version", 1)
        if version != 1:
            checker.error("version", f"expected 1, got {version}")
        for name, op in value.get("operators", {}).items():
            checker.operator(op, f"operators.{name}")
    return value, checker.good


def read_facts(path, problems):
    value, good = read_json(path, FACTS, problems)
    return value if good else {}


def read_timings(path, problems):
    """[(name, ours, libtorch's or 0)], in ns. A figure belongs to the operator
    whose name its name begins with."""
    value, good = read_json(path, TIMINGS, problems)
    return [(name, t.get("ns", 0), t.get("peer_ns") or 0)
            for name, t in sorted(value.items())] if good else []
