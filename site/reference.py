"""Operators by their pages, and how pages belong together.

An operator is what `sygen describe` says of it: a dict with the members that
described() in codegen/describe/describe.cpp writes.
"""

import re

from page import Page
from words import first_sentence

HEADS = ("special_", "linalg_", "foreach_", "safe_", "masked_", "native_")
TAILS = ("_double_backward", "_backward", "_copy", "_with_indices")


def prefix(op):
    return "" if op["namespace"] == "aten" else op["namespace"] + "::"


def stem(name):
    """"softmax" of _softmax_backward_data and special_softmax."""
    name = name.rpartition("::")[2].lstrip("_")
    for head in HEADS:
        if len(name) > len(head):
            name = name.removeprefix(head)
    for tail in TAILS:
        if name.find(tail) > 0:
            name = name[:name.index(tail)]
    return name.rstrip("_")


def in_order(operators):
    """Public ones first."""
    return sorted(operators.values(), key=lambda n: (n.internal, n.name))


class Named:
    """The operators of one name: overloads, and those that write."""

    def __init__(self, operators, has_page):
        # Functional ones first.
        self.operators = sorted(operators, key=lambda o: not o["functional"])
        self.op = op = self.operators[0]
        self.has_page = has_page
        self.name = prefix(op) + op["call"]
        self.path = f"ops/{op['page']}.html"
        self.internal = op["internal"]
        # By name, without this one.
        self.made_of = {}  # it calls
        self.used_by = {}  # call it
        self.gradient_of = {}  # call it in gradients
        self.relatives = {}  # of a name like its own
        self.timings = []  # (benchmark, ours, libtorch's or 0)
        if has_page:
            self.doc = op["doc"]
            self.kinds = list(dict.fromkeys(o["kind"] for o in self.operators))
            self.is_differentiable = any(o["gradient"]["exists"]
                                         for o in self.operators)
            forms = [f for o in self.operators for f in o["forms"]]
            self.has_method = any(o["method"] for o in self.operators)
            self.has_inplace = any(f["kind"] == "in place" for f in forms)
            self.has_out = any(f["is_out"] for f in forms)


class Family:
    def __init__(self, described):
        self.name = described["name"]
        self.is_own = described["namespace"] != "aten"
        namespace = described["namespace"]
        self.title = f"{namespace}::{self.name}" if self.is_own else self.name
        dotted = f"{namespace}." if self.is_own else ""
        self.path = f"families/{dotted}{self.name}.html"
        self.source = described["path"]
        self.operators = described["operators"]
        self.comment = described["comment"]
        # The text about all its operators.
        self.more = first_sentence(self.comment)[1]
        self.names = []  # of its operators, in its order

    @property
    def public(self):
        return [n for n in self.names if not n.internal]

    @property
    def internal(self):
        return [n for n in self.names if n.internal]

    def counts(self):
        """"12 operators: 8 pointwise, 4 kernel."."""
        kinds = {}
        for n in self.names:
            kinds[n.op["kind"]] = kinds.get(n.op["kind"], 0) + 1
        order = sorted(kinds.items(), key=lambda k: -k[1])
        many = "" if len(self.names) == 1 else "s"
        return (f"{len(self.names)} operator{many}: "
                f"{', '.join(f'{n} {kind}' for kind, n in order)}.")

    def about(self):
        return self.comment or self.counts()


class Reference:
    """All operators of a description, with the facts about some of them."""

    def __init__(self, description, facts, timings):
        self.families = [Family(f) for f in description["families"]]
        self.facts_by_name = facts.get("operators", {})
        self.devices = facts.get("devices", [])
        self.of = {}  # the Named of an operator, by id()
        self.overloads = {}  # the same by "add.Tensor"
        self.group(description["others"])
        self.by_page = {n.op["page"]: n for n in self.names}
        self.pages = {prefix(o) + o["call"]: n.path
                      for n in reversed(self.names) for o in n.operators}
        for n in self.names:
            for op in n.operators:
                self.relate(op)
        self.find_relatives()
        for timing in timings:
            self.assign(timing)

    def group(self, others):
        """Makes `names`, those with pages by name, and `all`."""
        groups = {}  # by page, those with pages apart
        for f in self.families:
            for op in f.operators:
                groups.setdefault((op["page"], True), []).append(op)
        for op in others:
            groups.setdefault((op["page"], False), []).append(op)
        self.all = []
        for (_, has_page), operators in groups.items():
            named = Named(operators, has_page)
            self.all.append(named)
            for op in operators:
                self.of[id(op)] = named
        self.names = sorted((n for n in self.all if n.has_page),
                            key=lambda n: n.name)
        family_of = {}
        for f in self.families:
            names = {id(self.of[id(op)]): self.of[id(op)] for op in f.operators}
            f.names = list(names.values())
            family_of.update((id(op), f) for op in f.operators)
        for n in self.names:
            n.family = family_of[id(n.op)]
            # Families and the first operator's place in each.
            n.places = {}
            for op in n.operators:
                n.places.setdefault(family_of[id(op)], op["source"])
        for op in [o for f in self.families for o in f.operators] + others:
            for name in op["overloads"]:
                # The first of several namespaces, as in the lookup of formulas.
                self.overloads.setdefault(name, self.of[id(op)])

    def relate(self, op):
        caller = self.of[id(op)]
        for name in op["calls"]:
            to = self.overloads.get(name, caller)
            if to is not caller:
                caller.made_of[to.name] = to
                to.used_by[caller.name] = caller
        for name in op["gradient"]["calls"]:
            to = self.overloads.get(name, caller)
            if to is not caller:
                to.gradient_of[caller.name] = caller

    def find_relatives(self):
        stems = {}
        for n in self.names:
            stems.setdefault(stem(n.name), []).append(n)
        for group in stems.values():
            for n in group:
                n.relatives = {o.name: o for o in group if o is not n}

    def assign(self, timing):
        """A figure belongs to the operator with the longest name that the
        benchmark's begins with."""
        name = re.split("[/<]", timing[0])[0]
        fitting = [n for n in self.all
                   if name == n.name or name.startswith(n.name + "_")]
        if fitting:
            max(fitting, key=lambda n: len(n.name)).timings.append(timing)

    def facts(self, op):
        """The facts from running this operator, or {}."""
        if op["name"] != op["call"]:
            found = self.facts_by_name.get(prefix(op) + op["name"])
            if found is not None:
                return found
        if any(o["call"] == op["call"] and o is not op
               for o in self.of[id(op)].operators):
            return {}
        return self.facts_by_name.get(prefix(op) + op["call"], {})

    def flow(self, op):
        """The flow that running this operator tells, or None."""
        facts = self.facts_by_name.get(prefix(op) + op["call"], {})
        return facts.get("flows", {}).get(prefix(op) + op["name"])

    def shared_facts(self, named):
        """The facts from running one of several overloads, nobody knows which;
        or {}."""
        found = self.facts_by_name.get(prefix(named.op) + named.op["call"], {})
        return {} if found is self.facts(named.op) else found

    def facts_of_any(self, named):
        return self.shared_facts(named) or next(
            filter(None, map(self.facts, named.operators)), {})

    def operator_pages(self):
        for n in self.names:
            page = Page(n.path, n.name, n.doc, n.op["source"], n.family)
            page.named = n
            yield page

    def family_pages(self):
        for f in self.families:
            yield Page(f.path, f.title, f.about(), f.source, f)

    def figures(self):
        """(number, of what), for the start page."""
        own = sum(any(o["gradient"]["own"] for o in n.operators)
                  for n in self.names)
        overloads = sum(len(o["forms"]) for n in self.names
                        for o in n.operators)
        return [
            (len(self.names), "operator" if len(self.names) == 1
             else "operators"),
            (overloads, "overload" if overloads == 1
             else "overloads and forms"),
            (own, "with a gradient of their own"),
            (len(self.families), "family" if len(self.families) == 1
             else "families")]

