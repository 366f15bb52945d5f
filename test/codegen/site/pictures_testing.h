#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/site/flow.h"
#include "codegen/site/pictures.h"
#include "model/model.h"

// Operators to draw, and what every picture must be.

namespace sy::codegen::site {

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

- func: same(Tensor(a) self) -> Tensor(a)
  view:
    sizes: self.sizes()
    strides: self.strides()
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

class PicturesTest : public testing::Test {
 protected:
  PicturesTest()
      : model_(Model::load({SourceText{"schemas/ops/parts.yaml", schema()}},
                           diagnostics_)) {
    EXPECT_TRUE(diagnostics_.empty()) << diagnostics_.str();
  }

  const Operator& op(const std::string& name) const {
    return *model_.named(name)->front();
  }
  Flow flow(const std::string& name) const {
    auto f = flow_of(model_, op(name));
    EXPECT_TRUE(f.has_value()) << name;
    return f.value_or(Flow());
  }
  // Its calls, each with a page.
  std::string drawn(const std::string& name) const {
    return composition_svg(model_, op(name), model_.families());
  }

  lang::Diagnostics diagnostics_;
  Model model_;
};

// Why `xml` is not well formed; "" if it is.
inline std::string fault(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < xml.size()) {
    if (xml[at] == '&') {
      static const std::regex kEntity("&(lt|gt|amp|quot);.*",
                                      std::regex::extended);
      if (!std::regex_match(xml.substr(at, 6), kEntity)) return "an entity";
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == xml.npos) return "an open tag";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "</" + tag;
      open.pop_back();
      continue;
    }
    static const std::regex kTag("([a-z]+)( [a-zA-Z-]+=\"[^\"<]*\")*(/?)");
    std::smatch m;
    if (!std::regex_match(tag, m, kTag)) return "<" + tag;
    if (m[3] == "") open.push_back(m[1]);
  }
  return open.empty() ? "" : "no end of " + open.back();
}

inline void expect_good(const std::string& svg) {
  ASSERT_FALSE(svg.empty());
  EXPECT_EQ(fault(svg), "") << svg;
  EXPECT_LE(svg.size(), 8192u);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_NE(svg.find("role=\"img\""), svg.npos);
  EXPECT_NE(svg.find("aria-label=\""), svg.npos);
  EXPECT_NE(svg.find("<title>"), svg.npos);
  EXPECT_EQ(svg.find("script"), svg.npos);
  EXPECT_EQ(svg.find("id=\""), svg.npos);
  // Colours are the page's, and no letter is smaller than 11.
  static const std::regex kPaint("(?:fill|stroke)=\"([^\"]*)\"");
  for (std::sregex_iterator i(svg.begin(), svg.end(), kPaint), end; i != end;
       ++i) {
    const std::string colour = (*i)[1];
    EXPECT_TRUE(colour == "none" || colour.starts_with("var(--")) << colour;
  }
  static const std::regex kSize("font-size=\"([0-9.]+)\"");
  for (std::sregex_iterator i(svg.begin(), svg.end(), kSize), end; i != end;
       ++i) {
    EXPECT_GE(std::stod((*i)[1]), 11);
  }
}

inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos;
       at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}

}  // namespace sy::codegen::site
