#include <array>
#include <utility>

#include "lang/cpp_names.h"
#include "lang/format.h"
#include "lang/tensor.h"

namespace sy::lang {

TensorEnv TensorEnv::of(const FunctionSchema& schema) {
  TensorEnv env;
  env.op = std::string(schema.name().name);
  for (const Argument& a : schema.arguments()) {
    if (!a.is_out()) env.add(std::string(a.name.view()), a.type);
  }
  return env;
}

void TensorEnv::add(std::string name, Type type, std::string cpp) {
  if (cpp.empty()) cpp = cpp_name(name);
  names.push_back({std::move(name), type, std::move(cpp)});
}

const TensorName* TensorEnv::find(std::string_view name) const {
  for (const TensorName& n : names) {
    if (n.name == name) return &n;
  }
  return nullptr;
}

std::string gradient_name(std::size_t result) {
  return fmt::format("grads[{}]", result);
}

int options_index(const FunctionSchema& schema) {
  constexpr std::array<std::string_view, 4> kNames = {"dtype", "layout",
                                                      "device", "pin_memory"};
  const auto args = schema.arguments();
  for (std::size_t i = 0; i + kNames.size() <= args.size(); ++i) {
    bool all = args[i].kwarg_only;
    for (std::size_t k = 0; k < kNames.size(); ++k) {
      all = all && args[i + k].name.view() == kNames[k] &&
            args[i + k].type.is_optional();
    }
    if (all) return static_cast<int>(i);
  }
  return -1;
}

std::string to_body(const TensorCode& code, int indent) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  std::string out;
  for (const std::string& s : code.statements) append(out, "{}{}\n", pad, s);
  append(out, "{}return {};\n", pad, code.value);
  return out;
}

}  // namespace sy::lang
