#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/diagnostics.h"
#include "lang/location.h"

// The contents of PyTorch's own files: native_functions.yaml, tags.yaml. Plain
// data, read as it is written; derivatives.h and backend.h have the other two.

namespace sy::lang {
struct YamlNode;
}

namespace sy::codegen::torch {

using lang::Diagnostics;
using lang::Location;
using lang::Text;

// `CPU, CUDA: add_kernel`, once for each key.
struct Kernel {
  Text key;
  Text function;
};

// `Generic: add (AllAndComplex, Half)`.
struct UfuncLoop {
  Text key;
  Text function;
  std::vector<Text> dtypes;
};

// `dim -> int dim, int size`: the values that the meta function gives the
// kernel in place of an argument, or (without a name) besides the arguments.
struct Precomputed {
  Text argument;
  std::vector<Argument> values;
};

struct NativeFunction {
  explicit NativeFunction(FunctionSchema s) : schema(std::move(s)) {}

  FunctionSchema schema;
  Text func;
  bool function_variant = true;
  bool method_variant = false;
  bool has_dispatch = false;
  std::vector<Kernel> dispatch;
  bool structured = false;
  std::optional<Text> structured_delegate;
  std::optional<Text> structured_inherits;
  std::vector<Precomputed> precomputed;
  std::vector<Text> autogen;
  std::vector<Text> tags;
  std::vector<Text> cpp_no_default_args;
  std::vector<UfuncLoop> ufunc_inner_loop;
  std::optional<Text> python_module;
  std::optional<Text> category_override;
  bool device_guard = true;
  bool device_check = true;
  bool manual_kernel_registration = false;
  bool manual_cpp_binding = false;
  bool use_const_ref_for_mutable_tensors = false;
  // The function is made from another function, named in its `autogen:`.
  bool generated = false;
  // Has errors that were reported; its name is right, the rest may be missing.
  bool broken = false;
  // The errors include the signature.
  bool signature_broken = false;
  Location at;
  // The place of each key that is written.
  std::vector<std::pair<std::string, Location>> keys;

  std::string name() const { return to_string(schema.name()); }
  bool has_tag(std::string_view tag) const;
  const Kernel* find_kernel(std::string_view key) const;
  bool is_structured() const { return structured || structured_delegate; }
  // Has one kernel for all backends whose parts are differentiated: by its
  // dispatch, or because it has none.
  bool is_composite_implicit() const;
  // Gives out memory of an argument: by its annotations or its tag.
  bool is_view() const;
  // The place of `key:`, or of the entry if it is not written.
  Location place(std::string_view key) const;
};

struct Tag {
  Text name;
  std::string description;
};

// The way that a function writes its results, and so its place in a group.
enum class Variant : std::uint8_t {
  kFunctional,
  kInplace,
  kOut,
  kMutable,
  kScratch,  // out= with working memory among the out arguments
};
Variant variant_of(const FunctionSchema& schema);

// Readers report all errors of form and go on. A function that has some is
// marked as broken; it is left out only if not even its name can be read.
std::vector<NativeFunction> read_native_functions(const lang::YamlNode& root,
                                                  Diagnostics& diagnostics);
std::vector<Tag> read_torch_tags(const lang::YamlNode& root,
                                 Diagnostics& diagnostics);

}  // namespace sy::codegen::torch
