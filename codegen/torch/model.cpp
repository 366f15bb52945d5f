#include "codegen/torch/model.h"

#include <algorithm>

namespace sy::codegen::torch {

bool NativeFunction::has_tag(std::string_view tag) const {
  return std::any_of(tags.begin(), tags.end(),
                     [&](const Text& t) { return t.str() == tag; });
}

const Kernel* NativeFunction::find_kernel(std::string_view key) const {
  for (const Kernel& k : dispatch) {
    if (k.key.str() == key) return &k;
  }
  return nullptr;
}

bool NativeFunction::is_composite_implicit() const {
  if (generated) return false;
  if (!has_dispatch) return !is_structured();
  return find_kernel("CompositeImplicitAutograd") != nullptr;
}

bool NativeFunction::is_view() const {
  for (const Return& r : schema.returns()) {
    if (r.alias && !r.alias.is_write()) return true;
  }
  for (const Argument& a : schema.arguments()) {
    if (a.alias.has_after() && a.alias.after().is_wildcard()) return true;
  }
  const std::string name = this->name();
  return has_tag("inplace_view") && name != "resize_" && name != "resize_as_";
}

Location NativeFunction::place(std::string_view key) const {
  for (const auto& [name, at] : keys) {
    if (name == key) return at;
  }
  return func.start();
}

Variant variant_of(const FunctionSchema& schema) {
  if (schema.is_inplace()) return Variant::kInplace;
  bool out = false;
  bool written = false;
  for (const Argument& a : schema.arguments()) {
    if (a.is_out() && a.name.view().starts_with("_scratch_")) {
      return Variant::kScratch;
    }
    out |= a.is_out();
    written |= a.is_write() && a.name != "self";
  }
  if (out) return Variant::kOut;
  return written ? Variant::kMutable : Variant::kFunctional;
}

}  // namespace sy::codegen::torch
