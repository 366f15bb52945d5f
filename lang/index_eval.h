#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lang/ast.h"

// Evaluates the index typing by walking the tree. Tests hold generated code and
// runtime/ against it, and it draws pictures of views.

namespace sy::lang {

struct TensorMeta {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  std::string dtype;  // "float32"; may be empty where nothing asks
};
using IndexValue = std::variant<std::monostate, std::int64_t, bool, double,
                                std::string, std::vector<std::int64_t>,
                                TensorMeta, std::vector<TensorMeta>>;
using IndexValues = std::map<std::string, IndexValue, std::less<>>;

// `e` has passed compile_index; a name without a value is None. Throws
// std::out_of_range for an index that is out of range and std::domain_error
// for every other value that has no answer, with the message of the C++ form.
IndexValue eval_index(const Expr& e, const IndexValues& values,
                      std::string_view op);

}  // namespace sy::lang
