#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sy::lang {

// A piece of C++ and how tightly it binds, so that parentheses are put only
// where they are needed.
struct Cpp {
  enum Level { kTernary, kOr, kAnd, kCompare, kSum, kProduct, kSign, kPrimary };

  std::string text;
  Level level = kPrimary;

  // The text as an operand of something that binds like `needed`.
  std::string in(Level needed) const {
    return level < needed ? '(' + text + ')' : text;
  }
};

// Headers that a piece of C++ needs: "aten/result_type.h", "<cmath>".
using Headers = std::set<std::string>;

// "f(a, b)"
std::string cpp_call(std::string_view function,
                     const std::vector<std::string>& arguments);
// `a op b` for the arithmetic and comparison operators of C++.
Cpp cpp_binary(std::string_view op, Cpp::Level level, const Cpp& a,
               const Cpp& b);
// "abc" with quotes and escapes.
std::string cpp_string(std::string_view text);
// A double that reads back as itself, infinities and NaN included.
std::string cpp_double(double v);
// The same, with what it needs.
std::string cpp_double(double v, Headers& headers);
std::string cpp_int(long long v);
// kFloat32 for "float32"; empty if it is no dtype.
std::string cpp_dtype(std::string_view name);
// The names that cpp_dtype knows.
const std::vector<std::string_view>& dtype_names();
// Whether an optional has a value: "x.has_value()". An undefined tensor is
// none, as in ATen.
Cpp cpp_has_value(const std::string& name, bool is_tensor);
// "[&] { statements return value; }()"
std::string cpp_block(const std::vector<std::string>& statements,
                      const std::string& value);

}  // namespace sy::lang
