#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "codegen/torch/function_errors.h"
#include "codegen/torch/vocabulary.h"
#include "codegen/torch/world.h"
#include "lang/format.h"

namespace sy::codegen::torch {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

class Checker : private FunctionErrors {
 public:
  Checker(const World& world, const std::vector<std::string_view>& tags,
          const NativeFunction& f, Diagnostics& diagnostics)
      : FunctionErrors(f, diagnostics),
        world_(world),
        tags_(tags),
        s_(f.schema),
        name_(f.name()) {}

  void run() {
    name();
    arguments();
    variants();
    structured();
    check_dispatch(f_, diagnostics_);
    tags();
    autogen();
  }

 private:
  std::string quoted() const { return fmt::format("'{}'", name_); }

  // The place of an argument in the text of the signature.
  Location place_of(const Argument& a) const {
    const std::string& text = f_.func.str();
    const std::string_view name = a.name.view();
    std::size_t at = text.find('(');
    while ((at = text.find(name, at)) != std::string::npos) {
      const std::size_t end = at + name.size();
      const bool whole =
          !is_word(text[at - 1]) && (end >= text.size() || !is_word(text[end]));
      if (whole && text[at - 1] == ' ') return f_.func.at(at);
      at = end;
    }
    return f_.func.start();
  }

  void name() {
    const std::string_view name = s_.name().name.view();
    const Location at = f_.func.start();
    if (name.ends_with("_out")) {
      error(at,
            "a name must not end with '_out': write 'out' as the overload, as "
            "in '{}.out'",
            name.substr(0, name.size() - 4));
    }
    if (s_.name().is_dunder() && !s_.is_inplace() && name[2] == 'i') {
      error(at, "'{}' begins with 'i' and is no augmented assignment of Python",
            name);
    }
    if (s_.is_inplace() &&
        s_.name().functional_name().ends_with("_functional")) {
      error(at, "a '_functional' form cannot be in-place");
    }
    if (s_.name().overload.view().find("functional") !=
            std::string_view::npos &&
        variant_of(s_) != Variant::kFunctional) {
      error(at, "an overload named 'functional' must not write an argument");
    }
    if (s_.is_inplace() && s_.self_index() < 0 && s_.is_mutable()) {
      error(at, "in-place {} needs an argument named 'self'", quoted());
    }
  }

  void arguments() {
    const int self = s_.self_index();
    for (std::size_t i = 0; i < s_.arguments().size(); ++i) {
      const Argument& a = s_.arguments()[i];
      if (a.is_write() && static_cast<int>(i) < self) {
        error(place_of(a),
              "argument '{}' stands before 'self' and cannot be written",
              a.name);
      }
      // Functions of PyTorch that are older than the rule.
      constexpr std::string_view kExcepted[] = {
          "_has_compatible_shallow_copy_type", "random_.from", "uniform_"};
      if (is_python_keyword(a.name.view()) &&
          (a.name != "from" ||
           std::find(std::begin(kExcepted), std::end(kExcepted), name_) ==
               std::end(kExcepted))) {
        error(place_of(a), "argument name '{}' is a keyword of Python", a.name);
      }
    }
    if (tensor_options(s_.arguments()) < s_.arguments().size() &&
        variant_of(s_) != Variant::kFunctional) {
      error(f_.func.start(),
            "only a functional form has dtype, layout, device and pin_memory");
    }
    for (const Text& name : f_.cpp_no_default_args) {
      const int i = s_.argument_index(name.str());
      if (i < 0) {
        diagnostics_.error(name.start(), unknown_argument(name));
      } else if (!s_.arguments()[static_cast<std::size_t>(i)].default_value) {
        error(name.start(),
              "argument '{}' has no default that could be left out",
              name.str());
      }
    }
  }

  std::string unknown_argument(const Text& name) const {
    std::vector<std::string_view> names;
    for (const Argument& a : s_.arguments()) names.push_back(a.name.view());
    return fmt::format("{} has no argument '{}'{}", quoted(), name.str(),
                       lang::suggest(name.str(), names));
  }

  void variants() {
    if (s_.num_out() > 0 && f_.method_variant) {
      error("variants", "an out= form is a function only, no method");
    }
    if (f_.method_variant && s_.self_index() < 0) {
      error("variants", "a method needs an argument named 'self'");
    }
    if (f_.method_variant && f_.python_module) {
      error("python_module", "a function of a module cannot be a method");
    }
    if (f_.use_const_ref_for_mutable_tensors && s_.num_out() > 0) {
      error("use_const_ref_for_mutable_tensors",
            "'use_const_ref_for_mutable_tensors' is not for out= forms");
    }
    if (s_.name().name.view().starts_with("_foreach") && f_.device_check) {
      error(f_.place("device_check"),
            "a _foreach function needs 'device_check: NoCheck': its tensors "
            "may lie on several devices");
    }
  }

  void structured() {
    const Variant variant = variant_of(s_);
    if (f_.structured && f_.structured_delegate) {
      error("structured_delegate",
            "a function is 'structured' or has a 'structured_delegate', not "
            "both");
    } else if (f_.structured && variant != Variant::kOut) {
      error("structured",
            "'structured' belongs to the out= form; the others have "
            "'structured_delegate'");
    } else if (f_.structured_delegate && variant == Variant::kOut) {
      error("structured_delegate",
            "an out= form has no 'structured_delegate' but 'structured: "
            "True'");
    }
    if (f_.is_structured() && !f_.device_guard) {
      error("device_guard", "structured kernels always have a device guard");
    }
    if (!f_.structured) {
      if (f_.structured_inherits) {
        error("structured_inherits",
              "'structured_inherits' needs 'structured: True'");
      }
      if (!f_.precomputed.empty()) {
        error("precomputed", "'precomputed' needs 'structured: True'");
      }
    }
    precomputed();
    if (!f_.structured_delegate) return;
    const Text& name = *f_.structured_delegate;
    const NativeFunction* to = world_.find(name.str());
    if (to && to->broken) return;
    if (!to) {
      std::vector<std::string> known;
      for (const NativeFunction& f : world_.functions()) {
        if (f.structured) known.push_back(f.name());
      }
      const std::vector<std::string_view> names(known.begin(), known.end());
      error(name.start(), "the delegate '{}' of {} does not exist{}",
            name.str(), quoted(), lang::suggest(name.str(), names));
    } else if (!to->structured) {
      error(name.start(), "the delegate '{}' of {} is not 'structured: True'",
            name.str(), quoted());
    }
  }

  void precomputed() {
    for (const Precomputed& p : f_.precomputed) {
      if (!p.argument.empty() && s_.argument_index(p.argument.str()) < 0) {
        diagnostics_.error(p.argument.start(), unknown_argument(p.argument));
      }
      for (const Argument& a : p.values) {
        const std::string_view name = a.name.view();
        if (std::any_of(name.begin(), name.end(), [](char c) {
              return std::islower(static_cast<unsigned char>(c));
            })) {
          continue;
        }
        error("precomputed",
              "a precomputed value is not named in capitals only, as '{}' is",
              name);
      }
    }
  }

  void tags() {
    if (world_.tags()) {
      for (const Text& tag : f_.tags) {
        if (std::find(tags_.begin(), tags_.end(), tag.str()) == tags_.end()) {
          error(tag.start(), "unknown tag '{}'{}", tag.str(),
                lang::suggest(tag.str(), tags_));
        }
      }
    }
    if (is_random() && !f_.has_tag("nondeterministic_seeded")) {
      error(f_.func.start(),
            "{} is random by its name or its generator and needs the tag "
            "'nondeterministic_seeded'",
            quoted());
    }
    if (!f_.has_tag("inplace_view") || name_ == "resize_" ||
        name_ == "resize_as_" || s_.name().name == "set_") {
      return;
    }
    if (!s_.is_inplace()) {
      error("tags",
            "a function with the tag 'inplace_view' is in-place, its "
            "name ends with '_'");
      return;
    }
    const std::string base = s_.name().functional_name();
    const auto functions = world_.functions();
    if (std::none_of(functions.begin(), functions.end(),
                     [&](const NativeFunction& f) {
                       return f.schema.name().name == base;
                     })) {
      error("tags", "{} has the tag 'inplace_view', but there is no view '{}'",
            quoted(), base);
    }
  }

  bool is_random() const {
    const auto has = [&](std::string_view part) {
      return name_.find(part) != std::string::npos;
    };
    bool dropout = has("dropout");
    for (const Argument& a : s_.arguments()) {
      if (a.type.base() == TypeKind::kGenerator && !a.is_out()) return true;
      dropout |= a.name.view().find("dropout") != std::string_view::npos;
    }
    if (has("rand") && !has("_philox_")) return true;
    return dropout && !has("backward") &&
           s_.name().name != "_cudnn_init_dropout_state";
  }

  void autogen() {
    for (const Text& name : f_.autogen) {
      const NativeFunction* known = world_.find(name.str());
      if (!known || known->generated) continue;
      error(name.start(),
            "'{}' is written already, at {}; 'autogen' names functions that "
            "are not",
            name.str(), to_string(known->func.start()));
    }
  }

  const World& world_;
  const std::vector<std::string_view>& tags_;
  const FunctionSchema& s_;
  const std::string name_;
};

void check_names(const World& world, Diagnostics& diagnostics) {
  for (const NativeFunction& f : world.functions()) {
    const NativeFunction* first = world.find(f.name());
    if (first == &f) continue;
    diagnostics.error(f.func.start(),
                      "function '{}' is written twice; the first is at {}",
                      f.name(), to_string(first->func.start()));
  }
}

}  // namespace

void check_functions(const World& world, Diagnostics& diagnostics) {
  check_names(world, diagnostics);
  std::vector<std::string_view> tags;
  if (world.tags()) {
    for (const Tag& t : *world.tags()) tags.push_back(t.name.str());
  }
  for (const NativeFunction& f : world.functions()) {
    if (!f.broken) Checker(world, tags, f, diagnostics).run();
  }
}

}  // namespace sy::codegen::torch
