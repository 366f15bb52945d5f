#include <ostream>
#include <sstream>

#include "frontend/nn/module.h"

namespace sy::nn {

namespace {

void print(std::ostream& stream, const Module& module,
           const std::string& indent) {
  module.pretty_print(stream);
  const Module::Modules& children = module.named_children();
  if (children.empty()) return;
  const std::string inner = indent + "  ";
  stream << "(\n";
  for (const auto& [name, child] : children) {
    stream << inner << "(" << name << "): ";
    print(stream, *child, inner);
    stream << "\n";
  }
  stream << indent << ")";
}

}  // namespace

void Module::pretty_print(std::ostream& stream) const {
  stream << name();
  const std::string inside = extra_repr();
  if (children_.empty() || !inside.empty()) stream << "(" << inside << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  print(stream, module, "");
  return stream;
}

}  // namespace sy::nn
