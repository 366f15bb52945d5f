#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "codegen/torch/model.h"

// Functions that are one operator: functional, in-place, out= and mutable
// forms, found by their signatures as PyTorch finds them; and the forms that
// PyTorch adds to those that are written.

namespace sy::codegen::torch {

// The parts that a function has in common with its other forms, as text: its
// name without marks, arguments without annotations, out arguments and the four
// of TensorOptions, and the types of its results. With `view_copy` the suffix
// of the copying form of a view is left out too.
std::string group_key(const FunctionSchema& schema, bool view_copy = false);

// The position where dtype, layout, device and pin_memory stand together among
// the keyword arguments, or the number of arguments.
std::size_t tensor_options(std::span<const Argument> arguments);

struct Group {
  // The functions by Variant; null if there is none.
  std::array<const NativeFunction*, 5> forms{};
  // Others that are of the kind and signature of one in `forms`.
  std::vector<const NativeFunction*> surplus;

  const NativeFunction* get(Variant v) const {
    return forms[static_cast<std::size_t>(v)];
  }
  std::size_t size() const;
  // The existing ones of functional, in-place, out=, mutable, scratch.
  std::vector<const NativeFunction*> members() const;
  bool has_view() const;
};

// The groups, in the order of their first members, without functions whose
// signature is broken. The functions must outlive the groups.
std::vector<Group> group_functions(std::span<const NativeFunction> functions);

// The functions that PyTorch adds: an out= form if `autogen:` asks for one, a
// functional form if there are others only.
std::vector<NativeFunction> generate_functions(std::span<const Group> groups);

// The forms by themselves, made from a functional, in-place or mutable
// signature.
FunctionSchema torch_out_form(const FunctionSchema& schema);
FunctionSchema torch_functional_form(const FunctionSchema& schema);

}  // namespace sy::codegen::torch
