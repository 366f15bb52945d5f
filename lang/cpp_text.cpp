#include "lang/cpp_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "lang/format.h"

namespace sy::lang {

std::string cpp_call(std::string_view function,
                     const std::vector<std::string>& arguments) {
  return fmt::format("{}({})", function, join(arguments, ", "));
}

Cpp cpp_binary(std::string_view op, Cpp::Level level, const Cpp& a,
               const Cpp& b) {
  const auto next = static_cast<Cpp::Level>(level + 1);
  const auto operand = [&](const Cpp& x, Cpp::Level needed) {
    // Compilers warn about `a && b || c`.
    const bool mixed = level == Cpp::kOr && x.level == Cpp::kAnd;
    return mixed ? '(' + x.text + ')' : x.in(needed);
  };
  return {
      fmt::format("{} {} {}", operand(a, level == Cpp::kCompare ? next : level),
                  op, operand(b, next)),
      level};
}

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string cpp_double(double v) {
  if (std::isnan(v)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(v)) {
    return v < 0 ? "-std::numeric_limits<double>::infinity()"
                 : "std::numeric_limits<double>::infinity()";
  }
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string cpp_double(double v, Headers& headers) {
  if (!std::isfinite(v)) headers.insert("<limits>");
  return cpp_double(v);
}

std::string cpp_int(long long v) {
  // The least integer has no literal.
  if (v == std::numeric_limits<long long>::min()) {
    return "(-9223372036854775807 - 1)";
  }
  return std::to_string(v);
}

const std::vector<std::string_view>& dtype_names() {
  static const std::vector<std::string_view> kNames = {
      "uint8",   "int8",    "int16",   "int32", "int64",
      "float16", "float32", "float64", "bool",  "bfloat16"};
  return kNames;
}

std::string cpp_dtype(std::string_view name) {
  const auto& names = dtype_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return {};
  if (name == "uint8") return "kUInt8";
  if (name == "bfloat16") return "kBFloat16";
  std::string text = fmt::format("k{}", name);
  text[1] = static_cast<char>(text[1] - 'a' + 'A');
  return text;
}

Cpp cpp_has_value(const std::string& name, bool is_tensor) {
  const std::string has = name + ".has_value()";
  if (!is_tensor) return {has};
  return {fmt::format("{} && {}->defined()", has, name), Cpp::kAnd};
}

std::string cpp_block(const std::vector<std::string>& statements,
                      const std::string& value) {
  std::string out = "[&] { ";
  for (const std::string& s : statements) append(out, "{} ", s);
  append(out, "return {}; }}()", value);
  return out;
}

}  // namespace sy::lang
