#include "codegen/torch/commands.h"

#include <algorithm>
#include <ostream>

#include "codegen/torch/world.h"

namespace sy::codegen::torch {
namespace {

// "  self, other: grad, self_sym_sizes"
void print_uses(const DerivativeSection& section, std::ostream& out) {
  for (const DerivativeFormula& f : section.formulas) {
    out << "  ";
    if (section.key.str() != "Default") out << section.key.str() << ' ';
    for (std::size_t i = 0; i < f.names.size(); ++i) {
      out << (i ? ", " : "") << f.names[i].str();
    }
    out << ':';
    const char* gap = " ";
    const auto add = [&](const std::string& what) {
      out << gap << what;
      gap = ", ";
    };
    if (f.kind != DerivativeFormula::Kind::kBackward &&
        f.kind != DerivativeFormula::Kind::kForward) {
      add(f.text.str());
    }
    if (f.uses.grad) add("grad");
    if (f.uses.grads > 0) add("grads");
    for (const std::string& name : f.uses.named_grads) add("grad_" + name);
    for (const SavedUse& s : f.uses.saved) add(s.name);
    out << '\n';
  }
}

}  // namespace

void print(std::span<const SourceFile> files, const PrintOptions& options,
           std::ostream& out, lang::Diagnostics& diagnostics) {
  const World world = World::load(files, diagnostics);
  for (const NativeFunction& f : world.functions()) {
    out << to_string(f.schema) << '\n';
  }
  if (options.autogen) {
    for (const NativeFunction& f : world.generated()) {
      out << to_string(f.schema) << '\n';
    }
  }
  for (const Derivative& d : world.derivatives()) {
    out << to_string(d.schema) << '\n';
    if (!options.uses) continue;
    for (const DerivativeSection& s : d.sections) print_uses(s, out);
  }
  for (const Backend& b : world.backends()) {
    for (const NonNative& n : b.non_native) out << to_string(n.schema) << '\n';
  }
}

void check(std::span<const SourceFile> files, lang::Diagnostics& diagnostics) {
  check_world(World::load(files, diagnostics), diagnostics);
}

}  // namespace sy::codegen::torch
