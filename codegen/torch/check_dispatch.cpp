#include <algorithm>
#include <cctype>

#include "codegen/torch/function_errors.h"
#include "codegen/torch/vocabulary.h"
#include "codegen/torch/world.h"
#include "lang/format.h"

// The kernels that a function names.

namespace sy::codegen::torch {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Words of a kernel's name: at most three namespaces before it.
bool is_kernel_name(std::string_view s) {
  for (int part = 0; part < 4; ++part) {
    std::size_t n = 0;
    while (n < s.size() && is_word(s[n])) ++n;
    if (n == 0) return false;
    if (n == s.size()) return true;
    if (!s.substr(n).starts_with("::")) return false;
    s.remove_prefix(n + 2);
  }
  return false;
}

// The name of a kernel that no dispatch names.
std::string default_kernel(const FunctionSchema& s) {
  std::string name(s.name().name.view());
  return s.is_out() ? name + "_out" : name;
}

bool has_tensor_argument(const FunctionSchema& s) {
  return std::any_of(
      s.arguments().begin(), s.arguments().end(),
      [](const Argument& a) { return a.type.is_tensor_like() && !a.is_out(); });
}

class Checker : private FunctionErrors {
 public:
  Checker(const NativeFunction& f, Diagnostics& diagnostics)
      : FunctionErrors(f, diagnostics), s_(f.schema) {}

  void run() {
    dispatch();
    composite();
    factory();
    ufunc();
  }

 private:
  void dispatch() {
    const auto keys = native_dispatch_keys();
    for (const Kernel& k : f_.dispatch) {
      const std::string& key = k.key.str();
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        if (is_dispatch_key(key)) {
          error(k.key.start(),
                "dispatch key '{}' cannot be named in native_functions.yaml",
                key);
        } else {
          error(k.key.start(), "unknown dispatch key '{}'{}", key,
                lang::suggest(key, keys));
        }
      }
      if (!is_kernel_name(k.function.str())) {
        error(k.function.start(),
              "'{}' is no name of a kernel, with at most three namespaces",
              k.function.str());
      }
      if (f_.structured_delegate && is_structured_key(key)) {
        error(k.key.start(), "'{}' is delegated to '{}' and needs no kernel",
              key, f_.structured_delegate->str());
      }
    }
    if (f_.manual_kernel_registration && f_.has_dispatch) {
      error("dispatch",
            "'dispatch' has no effect with 'manual_kernel_registration'");
    }
  }

  void composite() {
    const Kernel* implicit = f_.find_kernel("CompositeImplicitAutograd");
    if (implicit && f_.dispatch.size() == 1 && !f_.structured_delegate) {
      const std::string expected = default_kernel(s_);
      const std::string& kernel = implicit->function.str();
      if (kernel == expected) {
        error(implicit->key.start(),
              "this dispatch is what a function without one has; leave it "
              "out");
      } else if (kernel.find("_symint") == std::string::npos) {
        error(implicit->function.start(),
              "the only kernel is called as the function: expected '{}', got "
              "'{}'",
              expected, kernel);
      }
    }
    constexpr std::string_view kComposite[] = {
        "CompositeImplicitAutograd", "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional"};
    const Kernel* first = nullptr;
    for (const std::string_view key : kComposite) {
      const Kernel* k = f_.find_kernel(key);
      if (!k) continue;
      if (first) {
        error(k->key.start(),
              "'{}' and '{}' exclude each other; one is for all backends",
              k->key.str(), first->key.str());
      } else {
        first = k;
      }
    }
    const Kernel* nested =
        f_.find_kernel("CompositeImplicitAutogradNestedTensor");
    if (nested && first &&
        first->key.str() == "CompositeExplicitAutogradNonFunctional") {
      error(nested->key.start(),
            "'{}' and '{}' exclude each other; one is for all backends",
            nested->key.str(), first->key.str());
    }
  }

  void factory() {
    if (f_.has_dispatch || f_.is_structured()) return;
    const std::string_view name = s_.name().name.view();
    const bool options = tensor_options(s_.arguments()) < s_.arguments().size();
    if (name.starts_with("new_") || name.ends_with("_like") ||
        (options && !has_tensor_argument(s_))) {
      error(f_.func.start(),
            "'{}' makes a tensor and needs 'dispatch: "
            "{{CompositeExplicitAutograd: …}}', so that it stays one call",
            f_.name());
    }
  }

  void ufunc() {
    if (f_.ufunc_inner_loop.empty()) return;
    if (!f_.structured) {
      error("ufunc_inner_loop", "'ufunc_inner_loop' needs 'structured: True'");
    }
    for (const std::string_view key : {"CPU", "CUDA"}) {
      if (const Kernel* k = f_.find_kernel(key)) {
        error(k->key.start(), "'ufunc_inner_loop' makes the kernel of '{}'",
              key);
      }
    }
  }

  const FunctionSchema& s_;
};

}  // namespace

void check_dispatch(const NativeFunction& f, Diagnostics& diagnostics) {
  Checker(f, diagnostics).run();
}

}  // namespace sy::codegen::torch
