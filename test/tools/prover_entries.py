"""Entries for prover_test.py: wrong ones, each with a word of what `sy prove`
says of it, and right ones. A name is that of the operator."""

# func, then the lines of the entry, then a word of the problem.
WRONG = {
    # Slopes that are right for positive elements alone.
    "abs": ("(Tensor self) -> Tensor", ["pointwise: abs(self)",
            "derivative: {self: grad}"], "points"),
    "square_root_of_abs": (
        "(Tensor self) -> Tensor",
        ["pointwise: sqrt(abs(self) + 1)",
         "derivative: {self: grad / (2 * result)}"], "points"),
    "leaky": ("(Tensor self, float slope=0.1) -> Tensor",
              ["pointwise: where(self > 0, self, slope * self)",
               "derivative: {self: grad}"], "points"),
    "leaky_slope": ("(Tensor self, float slope=1.0) -> Tensor",
                    ["pointwise: where(self > 0, self, slope * self)",
                     "derivative: {self: grad}"], "slope"),
    "relu": ("(Tensor self) -> Tensor", ["pointwise: relu(self)",
             "derivative: {self: grad}"], "points"),
    # Slopes that are right between two numbers alone.
    "clamped": ("(Tensor self, float low=-3.0, float high=3.0) -> Tensor",
                ["pointwise: clamp(self, low, high)",
                 "derivative: {self: grad}"], "points"),
    "hard": ("(Tensor self) -> Tensor", ["pointwise: clamp(self, -2, 2)",
             "derivative: {self: grad}"], "points"),
    "soft_shrink": (
        "(Tensor self, float by=0.1) -> Tensor",
        ["pointwise: 'if self > by then self - by else if self < -by then "
         "self + by else 0 * self'", "derivative: {self: grad}"], "points"),
    "above": ("(Tensor self, float limit=5.0) -> Tensor",
              ["pointwise: where(self > limit, self * self, self)",
               "derivative: {self: grad}"], "points"),
    # Arguments that the formula leaves out.
    "added": ("(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
              ["pointwise: self + alpha * other",
               "derivative: {self: 'grad.sum_to_size(self.sizes())', "
               "other: 'grad.sum_to_size(other.sizes())'}"], "alpha"),
    "scaled": ("(Tensor self, float by=1.0) -> Tensor",
               ["pointwise: self * by", "derivative: {self: grad}"], "by"),
    "negated": ("(Tensor self, bool negate=False) -> Tensor",
                ["pointwise: if negate then -self else self",
                 "derivative: {self: grad}"], "negate"),
    "both_flags": ("(Tensor self, bool a=False, bool b=False) -> Tensor",
                   ["pointwise: if a and b then -self else self",
                    "derivative: {self: grad}"], "a = True, b = True"),
    "powered": ("(Tensor self, int n=1) -> Tensor",
                ["pointwise: self ** n", "derivative: {self: grad}"], "n"),
    "moded": ("(Tensor self, str mode='plain') -> Tensor",
              ["pointwise: if mode == 'twice' then 2 * self else self",
               "derivative: {self: grad}"], "twice"),
    "limited": ("(Tensor self, float? most=None) -> Tensor",
                ["pointwise: if most == None then self else clamp(self, -most, "
                 "most)", "derivative: {self: grad}"], "most"),
    # Results that are not constant.
    "never": ("(Tensor self) -> Tensor", ["pointwise: self * self",
              "derivative: non_differentiable"], "not constant"),
    "absent": ("(Tensor self) -> Tensor", ["pointwise: sin(self)"],
               "not constant"),
    "absent_below_zero": ("(Tensor self) -> Tensor",
                          ["pointwise: minimum(self, 0 * self)"],
                          "not constant"),
    "by_one": ("(Tensor self, Tensor other) -> Tensor",
               ["pointwise: self * other",
                "derivative: {self: 'grad * other', "
                "other: non_differentiable}"], "derivative of result"),
    # Second and third derivatives.
    "second": ("(Tensor self) -> Tensor", ["pointwise: self * self * self",
               "derivative: {self: '3 * grad * (self * self).detach()'}"],
               "second"),
    "third": ("(Tensor self) -> Tensor",
              ["pointwise: self ** 3",
               "derivative: {self: 'grad * squared3(self)'}"], "order 3"),
    # Singular points of the formula.
    "not_a_number": ("(Tensor self) -> Tensor", ["pointwise: self * abs(self)",
                     "derivative: {self: '2 * grad * result / self'}"], "nan"),
    "ratio": ("(Tensor self) -> Tensor", ["pointwise: self * self",
              "derivative: {self: '2 * grad * result / self'}"], "nan"),
    "infinite": ("(Tensor self) -> Tensor", ["pointwise: self * 1",
                 "derivative: {self: 'grad / where(self == 0, 0.0, 1.0)'}"],
                 "inf"),
    "overflows": ("(Tensor self) -> Tensor",
                  ["pointwise: log1p(exp(-abs(self))) + maximum(self, 0)",
                   "derivative: {self: 'grad * exp(self) / (1 + exp(self))'}"],
                  "nan"),
    # Ways of bringing elements together.
    "difference": ("(Tensor self) -> Tensor",
                   ["reduce: {map: self, combine: a - b}",
                    "derivative: none, because it is wrong"], "associative"),
    "halves": ("(Tensor self) -> Tensor",
               ["reduce: {map: self, combine: (a + b) / 2}",
                "derivative: none, because it is wrong"], "associative"),
    "run_of_halves": ("(Tensor self, int dim) -> Tensor",
                      ["example: 2x3 1", "scan: {combine: 0.5 * a + b}",
                       "derivative: none, because it is wrong"],
                      "associative"),
    "finished": ("(Tensor self) -> Tensor",
                 ["reduce: {map: self * self, combine: (a + b) / 2, "
                  "finish: sqrt(acc)}",
                  "derivative: none, because it is wrong"], "associative"),
    "first": ("(Tensor self) -> Tensor",
              ["reduce: {map: self, combine: a + 0 * b}",
               "derivative: none, because it is wrong"], "order"),
    "one_too_many": ("(Tensor self) -> Tensor",
                     ["reduce: {map: self, identity: 1, combine: a + b}",
                      "derivative: {self: grad.expand(self.sizes())}"],
                     "identity"),
    # Mistakes that only the numbers and words of the schema lead to.
    "band": ("(Tensor self) -> Tensor",
             ["pointwise: 'if self > 7.5 and self < 7.8 then 2 * self else "
              "self'", "derivative: {self: grad}"], "numbers"),
    "at_seven": ("(Tensor self, int n=1) -> Tensor",
                 ["pointwise: 'if n == 7 then self * self else self'",
                  "derivative: {self: grad}"], "n = 7"),
    # Statements of the entry about itself.
    "cut": ("(Tensor self) -> Tensor", ["composite: self.detach() * 2"],
            "not constant"),
    "denied": ("(Tensor self) -> Tensor",
               ["composite: self * self",
                "derivative: none, because nobody wrote it"], "it says"),
    # Sizes.
    "kept": ("(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor",
             ["example: 2x3 1", "reduce: {map: self, identity: 0, "
              "combine: a + b}",
              "derivative: {self: 'grad.unsqueeze(1).expand(self.sizes())'}"],
             "the gradient throws"),
    # Examples that say nothing.
    "empty": ("(Tensor self) -> Tensor", ["example: 0x3", "pointwise: self",
              "derivative: {self: auto}"], "no elements"),
}

# The operators that `third` calls: its second derivative is right, its third is
# not.
HELPERS = """
- func: mine::squared3(Tensor self) -> Tensor
  pointwise: 3 * self * self
  derivative: {self: '6 * grad * self.detach()'}
- func: mine::bare(Tensor self) -> Tensor
  pointwise: sin(self)
  derivative: none, because nobody wrote it
"""

RIGHT = {
    "abs": ("(Tensor self) -> Tensor", ["pointwise: abs(self)",
            "derivative: {self: auto}"]),
    "leaky": ("(Tensor self, float slope=0.1) -> Tensor",
              ["pointwise: where(self > 0, self, slope * self)",
               "derivative: {self: auto}"]),
    "relu": ("(Tensor self) -> Tensor", ["pointwise: relu(self)",
             "derivative: {self: auto}"]),
    "clamped": ("(Tensor self, float low=-3.0, float high=3.0) -> Tensor",
                ["pointwise: clamp(self, low, high)",
                 "derivative: {self: auto}"]),
    "added": ("(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
              ["pointwise: self + alpha * other",
               "derivative: {self: auto, other: auto}"]),
    "scaled": ("(Tensor self, float by=1.0) -> Tensor",
               ["pointwise: self * by", "derivative: {self: grad * by}"]),
    "negated": ("(Tensor self, bool negate=False) -> Tensor",
                ["pointwise: if negate then -self else self",
                 "derivative: {self: auto}"]),
    "moded": ("(Tensor self, str mode='plain') -> Tensor",
              ["pointwise: if mode == 'twice' then 2 * self else self",
               "derivative: {self: auto}"]),
    "step": ("(Tensor self) -> Tensor", ["pointwise: floor(self)",
             "derivative: non_differentiable"]),
    "sign": ("(Tensor self) -> Tensor", ["pointwise: where(self > 0, 1, -1)"]),
    "unwritten": ("(Tensor self) -> Tensor", ["pointwise: sin(self)",
                  "derivative: none, because nobody wrote it"]),
    "product": ("(Tensor self, Tensor other) -> Tensor",
                ["pointwise: self * other",
                 "derivative: {self: auto, other: auto}"]),
    "waves": ("(Tensor self) -> Tensor", ["pointwise: sin(self) * exp(-self * "
              "self)", "derivative: {self: auto}"]),
    "total": ("(Tensor self) -> Tensor",
              ["reduce: {map: self, identity: 0, combine: a + b}",
               "derivative: {self: grad.expand(self.sizes())}"]),
    "largest": ("(Tensor self) -> Tensor",
                ["reduce: {map: self, combine: 'maximum(a, b)'}",
                 "derivative: none, because nobody wrote it"]),
    "running": ("(Tensor self, int dim) -> Tensor",
                ["example: 2x3 1", "scan: {combine: a + b}",
                 "derivative: none, because nobody wrote it"]),
    "kept": ("(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor",
             ["example: 2x3 1", "reduce: {map: self, identity: 0, "
              "combine: a + b}",
              "derivative: {self: auto}"]),
    "whole": ("(Tensor self) -> Tensor", ["composite: self * self + 1"]),
    # The slope at a kink may be that of any of its sides, or between.
    "squared_relu": ("(Tensor self) -> Tensor",
                     ["pointwise: 'if self > 0 then self * self else 0 * "
                      "self'", "derivative: {self: auto}"]),
    "ordered": ("(Tensor self) -> Tensor",
                ["composite: 'self.msort() * self.msort()'"]),
    "least_and_most": ("(Tensor self) -> Tensor",
                       ["composite: self.amax() - self.amin()"]),
    "between": ("(Tensor self, Tensor low, Tensor high) -> Tensor",
                ["composite: 'self.maximum(low).minimum(high)'"]),
    "middle": ("(Tensor self) -> Tensor", ["composite: self.median()"]),
    # Not for all numbers.
    "bump": ("(Tensor self, Scalar width=1) -> Tensor",
             ["promote: int_to_float", "pointwise: exp(-square(self / width))",
              "derivative: {self: auto}"]),
    "root": ("(Tensor self) -> Tensor", ["pointwise: sqrt(self)",
             "derivative: {self: auto}"]),
    "logarithm": ("(Tensor self, float base=2.0) -> Tensor",
                  ["pointwise: log(self) / log(base)",
                   "derivative: {self: auto}"]),
    "rms": ("(Tensor self, int dim, *, float eps=1e-6) -> Tensor",
            ["example: 2x3 1", "promote: int_to_float",
             "reduce: {map: self * self, identity: 0, combine: a + b, "
             "finish: sqrt(acc / n + eps)}",
             "derivative: {self: 'grad.unsqueeze(dim) * self / "
             "(result.unsqueeze(dim) * self.size(dim))'}"]),
    # Other ways to write the same words.
    "folded": ("(Tensor self) -> Tensor",
               ["pointwise: sin(self)", "derivative: >-",
                "  none, because nobody wrote it"]),
    "quoted": ("(Tensor self) -> Tensor",
               ["pointwise: sin(self)",
                "derivative: 'none, because nobody wrote it'"]),
    "cut": ("(Tensor self) -> Tensor",
            ["composite: self.detach() * 2",
             "derivative: none, because callers want it so"]),
    "wide": ("(Tensor self) -> Tensor",
             ["pointwise: sin(self)",
              "derivative: none,  because nobody wrote it"]),
    "stopped": ("(Tensor self) -> Tensor",
                ["pointwise: sin(self)",
                 "derivative: non_differentiable, because callers want it so"]),
    # A gradient is recorded, and backward throws.
    "relayed": ("(Tensor self) -> Tensor",
                ["composite: bare(self)",
                 "derivative: none, because what it calls has none"]),
}
