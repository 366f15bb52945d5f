#include <algorithm>
#include <set>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"

namespace sy::codegen {
namespace {

// Several files made one: their #includes first, without those of each other.
class Merger {
 public:
  explicit Merger(const Family& family) : family_(family) {}

  void add(const std::string& file) {
    std::size_t at = 0;
    while (at < file.size()) {
      const std::size_t end = file.find('\n', at);
      line(std::string_view(file).substr(at, end - at));
      at = end + 1;
    }
    body_.gap();
  }

  std::string str(const std::string& first_header) const {
    Writer w;
    w.raw(banner(family_));
    w.line("#include \"" + first_header + "\"");
    w.gap();
    for (const std::string& h : system_) w.line(h);
    w.gap();
    includes(w, headers_);
    w.gap();
    w.raw(body_.str());
    return w.str();
  }

 private:
  void line(std::string_view text) {
    constexpr std::string_view kInclude = "#include \"";
    if (std::string(text) + '\n' == banner(family_)) return;
    if (text == "#pragma once") return;
    if (text.empty()) {
      body_.gap();
    } else if (text.starts_with("#include <")) {
      system_.emplace(text);
    } else if (text.starts_with(kInclude)) {
      text.remove_prefix(kInclude.size());
      text.remove_suffix(1);
      if (!is_own(text)) headers_.emplace(text);
    } else {
      body_.raw(std::string(text) + '\n');
    }
  }

  // "aten/ops/mine_ops.h", "backends/cpu/mine_kernels_gen.h"
  bool is_own(std::string_view header) const {
    const std::string_view name = header.substr(header.rfind('/') + 1);
    return name.starts_with(family_.name + '.') ||
           name.starts_with(family_.name + '_');
  }

  const Family& family_;
  std::set<std::string> headers_, system_;
  Writer body_;
};

bool has_kernels(const Family& family, std::string_view key) {
  return std::any_of(family.operators.begin(), family.operators.end(),
                     [&](const Operator& op) { return op.has_kernel(key); });
}

}  // namespace

std::string emit_library_header(const Model& model, const Family& family) {
  return emit_functions_header(model, family);
}

std::string emit_library(const Model& model, const Family& family) {
  Merger merger(family);
  merger.add(emit_ops_header(model, family));
  merger.add(emit_native_header(model, family));
  merger.add(emit_descriptors_header(model, family));
  if (has_kernels(family, "CPU")) {
    merger.add(emit_backend_header(model, family, false));
  }
  if (has_kernels(family, "Meta")) {
    merger.add(emit_backend_header(model, family, true));
  }
  merger.add(emit_descriptors(model, family));
  merger.add(emit_definitions(model, family));
  merger.add(emit_functions(model, family));
  merger.add(emit_backend(model, family, false));
  merger.add(emit_backend(model, family, true));
  merger.add(emit_autograd(model, family));
  return merger.str(family.name + ".h");
}

}  // namespace sy::codegen
