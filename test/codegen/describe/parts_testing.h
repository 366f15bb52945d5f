#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "codegen/describe/describe.h"
#include "model/model.h"

// Operators whose parts show.

namespace sy::codegen {

inline constexpr const char* kOps = R"yaml(# Operators whose parts show.

- func: turn(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
  example: 2x3 0 1
  view:
    sizes: swapped(self.sizes(), dim0, dim1)
    strides: swapped(self.strides(), dim0, dim1)
  derivative:
    self: auto

- func: cut(Tensor(a) self, int dim=0, SymInt? start=None) -> Tensor(a)
  view:
    sizes: with(self.sizes(), dim, slice_size(self.size(dim), start, None, 1))
    strides: self.strides()
    offset: self.storage_offset() + slice_start(self.size(dim), start) * self.stride(dim)
  derivative:
    self: auto

- func: turned_cut(Tensor(a) self) -> Tensor(a)
  composite: cut(turn(self, 0, 1), 1, self.dim() - 1)

- func: total(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  example: 2x3 1
  reduce: {map: self, identity: 0, combine: a + b}
  derivative: non_differentiable

- func: best(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  example: 2x3 0
  reduce: {map: self, combine: "maximum(a, b)"}
  derivative: non_differentiable

- func: running(Tensor self, int dim) -> Tensor
  example: 2x3 1
  scan: {combine: a + b}
  derivative: non_differentiable

- func: highest(Tensor self, int dim) -> (Tensor values, Tensor indices)
  example: 2x3 1
  scan: {choose: b >= a}
  derivative: non_differentiable

- func: plus(Tensor self, Tensor other) -> Tensor
  example: 2x3 3
  pointwise: self + other
  derivative:
    self: auto
    other: auto

- func: plus_same(Tensor self, Tensor other) -> Tensor
  example: 2x3 2x3
  pointwise: self + other
  derivative:
    self: auto
    other: auto

- func: other(Tensor self) -> Tensor
  shape: self.sizes()
  dispatch: {CPU: other_out}
  derivative: non_differentiable

- func: chosen(Tensor self, Tensor target, int reduction=1) -> Tensor
  composite: >-
    let d = plus(self, target) in
    if reduction == 1 then total(d, [0]) else if reduction == 2 then best(d, [0]) else d

- func: again(Tensor self) -> Tensor
  composite: self

- func: long_way(Tensor self) -> Tensor
  composite: LONG
)yaml";

// Calls in a row, more than a picture holds.
inline std::string schema() {
  std::string chain = "self";
  for (int k = 0; k < 21; ++k) chain = "plus(" + chain + ", self)";
  return std::regex_replace(kOps, std::regex("LONG"), chain);
}

class PartsTest : public testing::Test {
 protected:
  PartsTest()
      : model_(Model::load({SourceText{"schemas/ops/parts.yaml", schema()}},
                           diagnostics_)) {
    EXPECT_TRUE(diagnostics_.empty()) << diagnostics_.str();
  }

  const Operator& op(const std::string& name) const {
    return *model_.named(name)->front();
  }
  nlohmann::json flow(const std::string& name) const {
    auto f = describe_flow(op(name));
    EXPECT_FALSE(f.is_null()) << name;
    return f;
  }
  nlohmann::json calls(const std::string& name) const {
    return describe_calls(model_, op(name));
  }

  lang::Diagnostics diagnostics_;
  Model model_;
};

}  // namespace sy::codegen
