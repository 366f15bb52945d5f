#include <algorithm>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/merge.h"

namespace sy::codegen {
namespace {

bool has_kernels(const Family& family, std::string_view key) {
  return std::any_of(family.operators.begin(), family.operators.end(),
                     [&](const Operator& op) { return op.has_kernel(key); });
}

}  // namespace

std::string emit_library_header(const Model& model, const Family& family) {
  return emit_functions_header(model, family);
}

std::string emit_library(const Model& model, const Family& family) {
  // "aten/ops/mine_ops.h", "backends/cpu/mine_kernels_gen.h"
  Merger merger(banner(family), [&](std::string_view header) {
    const std::string_view name = header.substr(header.rfind('/') + 1);
    return name.starts_with(family.name + '.') ||
           name.starts_with(family.name + '_');
  });
  merger.add(emit_ops_header(model, family));
  merger.add(emit_native_header(model, family));
  merger.add(emit_descriptors_header(model, family));
  for (const Backend& b : model.backends()) {
    if (has_kernels(family, b.key.str())) {
      merger.add(emit_backend_header(model, family, b));
    }
  }
  merger.add(emit_descriptors(model, family));
  merger.add(emit_definitions(model, family));
  merger.add(emit_functions(model, family));
  merger.add(emit_engine_kernels(model, family));
  for (const Backend& b : model.backends()) {
    merger.add(emit_backend(model, family, b));
  }
  merger.add(emit_autograd(model, family));
  return merger.str(family.name + ".h");
}

}  // namespace sy::codegen
