#include <algorithm>
#include <set>

#include "codegen/model_names.h"
#include "codegen/torch/vocabulary.h"
#include "codegen/torch/world.h"
#include "model/backends.h"

namespace sy::codegen::torch {
namespace {

class Checker {
 public:
  Checker(const World& world, const Backend& b, Diagnostics& diagnostics)
      : world_(world), b_(b), diagnostics_(diagnostics) {}

  void run() {
    key();
    list(b_.supported, "supported");
    list(b_.autograd, "autograd");
    list(b_.full_codegen, "full_codegen");
    list(b_.ir_gen, "ir_gen");
    list(b_.symint, "symint");
    exclude(b_.autograd, "autograd", b_.supported, "supported");
    exclude(b_.autograd, "autograd", b_.full_codegen, "full_codegen");
    exclude(b_.full_codegen, "full_codegen", b_.supported, "supported");
    for (const Text& name : b_.symint) {
      if (contains(b_.supported, name) || contains(b_.autograd, name) ||
          contains(b_.full_codegen, name)) {
        continue;
      }
      diagnostics_.error(
          name.start(),
          "'{}' of 'symint' is not among the operators of this backend",
          name.str());
    }
  }

 private:
  static bool contains(const std::vector<Text>& list, const Text& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  void key() {
    const std::string& key = b_.backend.str();
    if (is_dispatch_key(key)) {
      check_plugin_key(b_.backend, diagnostics_);
      return;
    }
    constexpr std::string_view kUsual[] = {
        "XLA", "Lazy", "MPS", "XPU", "MTIA", "HPU", "IPU", "VE", "PrivateUse1"};
    diagnostics_.error(b_.backend.start(),
                       "unknown dispatch key '{}' as the backend{}", key,
                       lang::suggest(key, kUsual));
  }

  void list(const std::vector<Text>& names, std::string_view what) {
    std::set<std::string_view> seen;
    for (const Text& name : names) {
      if (!seen.insert(name.str()).second) {
        diagnostics_.error(name.start(), "'{}' is listed twice in '{}'",
                           name.str(), what);
      }
      // ir_gen names bases of operators too.
      if (!world_.has_functions() || world_.find(name.str()) ||
          what == "ir_gen") {
        continue;
      }
      std::vector<std::string> known;
      for (const auto& l : {world_.functions(), world_.generated()}) {
        for (const NativeFunction& f : l) known.push_back(f.name());
      }
      const std::vector<std::string_view> views(known.begin(), known.end());
      diagnostics_.error(name.start(), "unknown operator '{}'{}", name.str(),
                         lang::suggest(name.str(), views));
    }
  }

  void exclude(const std::vector<Text>& names, const char* what,
               const std::vector<Text>& others, const char* other) {
    for (const Text& name : names) {
      if (!contains(others, name)) continue;
      diagnostics_.error(name.start(), "'{}' is in '{}' and in '{}'",
                         name.str(), what, other);
    }
  }

  const World& world_;
  const Backend& b_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_backends(const World& world, Diagnostics& diagnostics) {
  for (const Backend& b : world.backends()) {
    Checker(world, b, diagnostics).run();
  }
}

}  // namespace sy::codegen::torch
