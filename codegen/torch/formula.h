#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The values that a formula of derivatives.yaml uses. It is C++ and stays
// opaque: only its words are looked at, as in PyTorch's generator.

namespace sy::codegen::torch {

// A word of a formula that is not part of a string.
struct Word {
  std::string_view text;
  std::size_t offset;
  bool is_member;  // after `.` or `->`
  bool is_scoped;  // after `::`, or before it
  bool is_called;  // before `(`
};
std::vector<Word> words_of(std::string_view formula);

// A value that the graph node keeps for a formula. `argument` is an argument
// or a result; `name` is what PyTorch calls the saved value: "self" for all of
// it, "self_sym_sizes" for its sizes.
struct SavedUse {
  std::string argument;
  std::string name;
  friend bool operator==(const SavedUse&, const SavedUse&) = default;
};

struct FormulaUses {
  std::vector<SavedUse> saved;  // in the order of `names`, each once
  bool grad = false;
  int grads = 0;                          // times `grads` occurs …
  std::vector<std::size_t> grad_indices;  // … and the indices of `grads[i]`
  std::vector<std::string> named_grads;   // `grad_NAME` of `returns`
};

// `names` are those of the arguments and results that can be saved, `returns`
// those of named results with a gradient.
FormulaUses uses_of(std::string_view formula,
                    std::span<const std::string> names,
                    std::span<const std::string> returns);

}  // namespace sy::codegen::torch
