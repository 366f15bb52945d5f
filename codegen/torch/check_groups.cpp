#include <algorithm>
#include <set>
#include <unordered_map>

#include "codegen/torch/world.h"
#include "lang/format.h"

// The rules that the forms of one operator must keep together.

namespace sy::codegen::torch {
namespace {

class Checker {
 public:
  Checker(const World& world, const Group& group, Diagnostics& diagnostics)
      : world_(world),
        group_(group),
        members_(group.members()),
        generated_(generate_functions(std::span(&group, 1))),
        diagnostics_(diagnostics) {}

  void run() {
    surplus();
    const bool out = get(Variant::kOut);
    const bool functional = get(Variant::kFunctional);
    if (members_.size() + generated_.size() == 1) {
      if (out) alone();
      return;
    }
    if (!functional) {
      const NativeFunction& f = *members_.front();
      error(f, "'{}' has other forms, but none that is functional", f.name());
    } else if (out) {
      autogen();
      structured();
      mutable_form();
    }
  }

 private:
  template <class... Args>
  void error(const NativeFunction& f, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(f.func.start(), fmt::format(format, args...));
  }

  const NativeFunction* get(Variant v) const {
    if (const NativeFunction* f = group_.get(v)) return f;
    for (const NativeFunction& f : generated_) {
      if (variant_of(f.schema) == v) return &f;
    }
    return nullptr;
  }

  void surplus() {
    for (const NativeFunction* f : group_.surplus) {
      const NativeFunction& first = *group_.get(variant_of(f->schema));
      if (first.schema.name() == f->schema.name()) continue;  // said already
      error(*f,
            "'{}' and '{}' have the same arguments and write the same; the "
            "first is at {}",
            f->name(), first.name(), to_string(first.func.start()));
    }
  }

  // PyTorch excepts two functions, whose other forms do not match.
  void alone() {
    const NativeFunction& f = *group_.get(Variant::kOut);
    const std::string name = f.name();
    if (f.manual_cpp_binding || group_.has_view() ||
        (f.is_composite_implicit() && !f.has_tag("core")) ||
        name == "adaptive_avg_pool3d_backward.grad_input" ||
        name == "_slow_conv2d_backward.grad_input") {
      return;
    }
    error(f, "no functional form has the arguments and results of '{}'", name);
  }

  void autogen() {
    std::set<std::string> wanted;
    std::set<std::string> made;
    for (const NativeFunction& f : generated_) made.insert(f.name());
    const NativeFunction* where = nullptr;
    for (const NativeFunction* f : members_) {
      for (const Text& name : f->autogen) {
        const NativeFunction* known = world_.find(name.str());
        if (known && !known->generated) return;  // said already
        wanted.insert(name.str());
      }
      if (!f->autogen.empty()) where = f;
    }
    if (wanted == made) return;
    const NativeFunction& f = where ? *where : *members_.front();
    diagnostics_.error(
        f.place("autogen"),
        made.empty()
            ? fmt::format("nothing is made for '{}', which has all its forms: "
                          "leave out 'autogen: {}'",
                          f.name(), lang::join(wanted, ", "))
            : fmt::format(
                  "expected 'autogen: {}' for '{}'{}", lang::join(made, ", "),
                  f.name(),
                  wanted.empty()
                      ? ", which lacks these forms"
                      : fmt::format(", got '{}'", lang::join(wanted, ", "))));
  }

  void structured() {
    const NativeFunction& out = *get(Variant::kOut);
    for (const NativeFunction* f : members_) {
      if (f == &out) continue;
      const Text* delegate =
          f->structured_delegate ? &*f->structured_delegate : nullptr;
      if (delegate && !f->structured) {
        // One that is missing or not structured was said already.
        const NativeFunction* to = world_.find(delegate->str());
        if (!to || !to->structured) continue;
      }
      if (f->is_structured() != out.structured) {
        if (out.structured) {
          error(*f,
                "'{0}' is structured: '{1}' needs 'structured_delegate: {0}'",
                out.name(), f->name());
        } else {
          error(*f, "'{}' is structured, but '{}' is not", f->name(),
                out.name());
        }
      } else if (delegate && delegate->str() != out.name() && !f->structured) {
        diagnostics_.error(delegate->start(),
                           "'{}' delegates to '{}', but its out= form is '{}'",
                           f->name(), delegate->str(), out.name());
      }
    }
    if (!out.structured) return;
    for (const char* key : {"CompositeImplicitAutograd",
                            "CompositeImplicitAutogradNestedTensor"}) {
      if (const Kernel* k = out.find_kernel(key)) {
        diagnostics_.error(k->key.start(),
                           "a structured function cannot be composite");
      }
    }
  }

  void mutable_form() {
    const NativeFunction* m = get(Variant::kMutable);
    const NativeFunction& f = *get(Variant::kFunctional);
    if (!m || f.generated ||
        f.schema.name().name.view().ends_with("_functional")) {
      return;
    }
    error(f,
          "the functional form of '{}', which writes arguments, is named "
          "'{}_functional'",
          m->name(), m->schema.name().name);
  }

  const World& world_;
  const Group& group_;
  const std::vector<const NativeFunction*> members_;
  const std::vector<NativeFunction> generated_;
  Diagnostics& diagnostics_;
};

bool needs_copy(const NativeFunction& f) {
  return f.is_view() && !f.is_composite_implicit() &&
         !f.has_tag("inplace_view") && !f.schema.is_inplace() &&
         !f.schema.name().name.view().ends_with("_inverse");
}

// A view has a form that copies, for programs that know no aliases.
void check_view_copies(const World& world, Diagnostics& diagnostics) {
  std::unordered_map<std::string, const NativeFunction*> copies;
  for (const NativeFunction& f : world.functions()) {
    const std::string_view name = f.schema.name().name.view();
    if (variant_of(f.schema) != Variant::kFunctional || f.is_view()) continue;
    if (name.ends_with("_copy") || name.ends_with("_scatter")) {
      copies[group_key(f.schema, true)] = &f;
    }
  }
  for (const NativeFunction& f : world.functions()) {
    if (f.broken || !needs_copy(f)) continue;
    const auto found = copies.find(group_key(f.schema));
    if (found == copies.end()) {
      OperatorName name = f.schema.name();
      name.name = InternedString(fmt::format("{}_copy", name.name));
      diagnostics.error(f.func.start(),
                        "view '{}' needs a function '{}' that copies", f.name(),
                        to_string(name));
    } else if (!found->second->has_tag("view_copy")) {
      diagnostics.error(
          found->second->func.start(),
          "'{}' copies what the view '{}' shows and needs the tag 'view_copy'",
          found->second->name(), f.name());
    }
  }
}

}  // namespace

void check_groups(const World& world, Diagnostics& diagnostics) {
  // A group with a form that could not be read is not checked.
  std::set<std::string> broken;
  for (const NativeFunction& f : world.functions()) {
    if (f.broken) broken.insert(f.schema.name().functional_name());
  }
  for (const Group& group : world.groups()) {
    const NativeFunction& first = *group.members().front();
    if (broken.count(first.schema.name().functional_name())) continue;
    Checker(world, group, diagnostics).run();
  }
  check_view_copies(world, diagnostics);
}

}  // namespace sy::codegen::torch
