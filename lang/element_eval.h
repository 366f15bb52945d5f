#pragma once

#include <map>
#include <string>

#include "lang/ast.h"
#include "lang/program.h"

namespace sy::lang {

// The value of an element expression by walking its tree: slow, obvious, and
// independent of folding and compiling, which are compared with it. Numbers
// and truth values are Uniforms.
Uniform eval_tree(const Expr& e, std::map<std::string, Uniform> values);

inline double eval_double(const Expr& e,
                          const std::map<std::string, double>& values) {
  std::map<std::string, Uniform> all;
  for (const auto& [name, v] : values) all[name] = Uniform::of(v);
  return eval_tree(e, std::move(all)).as_double();
}

}  // namespace sy::lang
