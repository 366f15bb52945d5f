#include <utility>

#include "codegen/lang/tensor.h"

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
  names.push_back({std::move(name), type, std::move(cpp)});
}

const TensorName* TensorEnv::find(std::string_view name) const {
  for (const TensorName& n : names) {
    if (n.name == name) return &n;
  }
  return nullptr;
}

std::string to_body(const TensorCode& code, int indent) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  std::string out;
  for (const std::string& s : code.statements) out += pad + s + '\n';
  return out + pad + "return " + code.value + ";\n";
}

}  // namespace sy::lang
