#include "codegen/lang/format.h"
#include "codegen/lang/index.h"

namespace sy::lang {
namespace {

constexpr std::string_view kWindows = "aten/contract/pooling_windows.h";

// Sorted by name. test/codegen/lang holds what implements them against an
// evaluator of its own.
constexpr IndexFunction kFunctions[] = {
    {"abs", "i", 'i', false},
    {"all", "l", 'b', false},
    {"any", "l", 'b', false},
    {"broadcast", "ll", 'l', true},
    {"cat_sizes", "Ti", 'l', true},
    {"ceil", "n", 'i', false},
    {"ceil_div", "ii", 'i', true},
    {"clamp", "iii", 'i', false},
    {"contains", "li", 'b', false},
    {"contains_dim", "lii", 'b', true},
    {"contiguous_strides", "l", 'l', false},
    {"diagonal_offset", "liii", 'i', true},
    {"diagonal_sizes", "liii", 'l', true},
    {"diagonal_strides", "lii", 'l', true},
    {"expand_sizes", "ll", 'l', true},
    {"expand_strides", "lll", 'l', true},
    {"fill", "ii", 'l', false},
    {"floor", "n", 'i', false},
    {"infer_size", "li", 'l', true},
    {"inserted", "lii", 'l', true},
    {"inverse_permutation", "l", 'l', true},
    {"is_expandable_to", "ll", 'b', false},
    {"is_floating", "t", 'b', false},
    {"is_permutation", "li", 'b', false},
    {"len", "l", 'i', false},
    {"len", "T", 'i', false},
    {"max", "l", 'i', true},
    {"max", "ii", 'i', false},
    {"min", "l", 'i', true},
    {"min", "ii", 'i', false},
    {"permuted", "ll", 'l', true},
    {"pooled_sizes", "illlllb", 'l', true, kWindows},
    {"prod", "l", 'i', false},
    {"range", "i", 'l', false},
    {"range", "ii", 'l', false},
    {"range", "iii", 'l', false},
    {"reduced_sizes", "lob", 'l', true},
    {"reduced_sizes", "llb", 'l', true},
    {"reversed", "l", 'l', false},
    {"slice_size", "iooi", 'i', true},
    {"slice_start", "io", 'i', false},
    {"sum", "l", 'i', false},
    {"swapped", "lii", 'l', true},
    {"unfold_sizes", "liii", 'l', true},
    {"unfold_strides", "lii", 'l', true},
    {"unsqueezed_stride", "lli", 'i', true},
    {"view_strides", "lll", 'l', true},
    {"window_counts", "lllll", 'l', true, kWindows},
    {"with", "lii", 'l', true},
    {"without", "li", 'l', true},
    {"without", "ll", 'l', true},
    {"wrap_dim", "ii", 'i', true},
    {"wrap_dims", "li", 'l', true},
    {"wrap_index", "ii", 'i', true},
};

}  // namespace

std::span<const IndexFunction> index_functions() { return kFunctions; }

std::pair<std::string, std::string> cpp_function(const IndexFunction& f) {
  const std::string name(f.name);
  if (name == "abs") return {"std::abs", "<cmath>"};
  if (f.parameters == "ii" && (name == "min" || name == "max")) {
    return {fmt::format("std::{}<int64_t>", name), "<algorithm>"};
  }
  return {"geometry::" + name, std::string(f.header)};
}

}  // namespace sy::lang
