#pragma once

#include <cstdint>

#include "aten/program/program.h"
#include "c10/tensor/scalar_type.h"
#include "lang/program.h"

// Descriptions of operators, which the generator writes as static data. The
// engines (aten/engine/pointwise.h, reduce.h, scan.h) and every backend work
// from them; no code is generated per operator for the computation itself.

namespace sy {

// How the compute dtype follows from the promoted dtype of the arguments.
enum class PromoteRule : uint8_t {
  Default,     // as it is
  IntToFloat,  // integers and bool become the default dtype
  BoolToInt,   // integers and bool become int64, as in sums
  Same,        // all tensor arguments must have one dtype
};

// A compiled element expression: its steps, and how their uniform operands
// follow from the scalars of the call.
struct ElementProgram {
  // This stands for the number of reduced elements in scalar_index.
  static constexpr uint8_t kCount = 255;

  program::Program body;
  const lang::Uniform* constants = nullptr;
  const lang::UniformStep* uniform_steps = nullptr;
  const lang::UniformOperand* uniforms = nullptr;  // body.n_uniforms of them
  // Scalar input i is scalar scalar_index[i] of the call; nullptr: scalar i.
  const uint8_t* scalar_index = nullptr;
  uint8_t n_scalars = 0;
  uint8_t n_constants = 0;
  uint8_t n_uniform_steps = 0;
};

// A view of a program that the compiler made, and of the indices. Both must
// outlive the view.
SY_API ElementProgram view_of(const lang::Program& program,
                              const uint8_t* scalar_index = nullptr) noexcept;

// The dtype of the accumulators of floating elements.
enum class AccumulateRule : uint8_t {
  Same,    // the elements' dtype (float32 for narrower ones)
  Double,  // float64
};

// A scalar of a call is a number, whether an optional one is present, or
// whether a str equals a text (lang::ScalarInput). The operator fixes their
// order.
struct PointwiseOp {
  const char* name;  // "add.Tensor", for messages
  PromoteRule promote = PromoteRule::Default;
  uint8_t n_inputs = 0;  // tensor operands
  uint8_t n_outputs = 1;
  uint8_t n_scalars = 0;         // of the call
  uint32_t promote_inputs = 0;   // bit i: input i counts in promotion
  uint32_t promote_scalars = 0;  // bit i: scalar i counts in promotion
  // bit i: scalar i must be whole if the compute dtype is (alpha). Other
  // scalars are truncated.
  uint32_t whole_scalars = 0;
  // bit i: scalar i bounds the elements from below, from above. A bound that no
  // element can pass is ignored. A bound that excludes all elements is an
  // error.
  uint32_t lower_bounds = 0, upper_bounds = 0;
  // For messages.
  const char* const* input_names = nullptr;
  const char* const* scalar_names = nullptr;
  ElementProgram program;
  // The program for calls in which every scalar has its default (add: alpha =
  // 1). It has the same operands and no scalars. nullptr if there is none.
  const ElementProgram* at_defaults = nullptr;
  const lang::Uniform* defaults = nullptr;  // n_scalars of them
};

struct ReduceOp {
  const char* name;
  PromoteRule promote = PromoteRule::Default;
  uint8_t n_accumulators = 1;  // at most 8
  static constexpr int kMaxResults = 4;
  uint8_t n_results = 1;
  uint8_t n_scalars = 0;  // of the call
  AccumulateRule accumulate = AccumulateRule::Same;
  // map: one input, the element in the compute dtype -> the accumulators.
  ElementProgram map;
  // combine: a.0 … a.k-1, b.0 … b.k-1 -> the k accumulators. Associative;
  // elements may be combined in any order.
  ElementProgram combine;
  // finish: the accumulators -> the results; may read ElementProgram::kCount.
  // nullptr: the first accumulators are the results.
  const ElementProgram* finish = nullptr;
  // The accumulators of no elements; nullptr: an empty reduction is an error.
  const lang::Uniform* identity = nullptr;
};

// Combines each element along a dim with all elements before it.
struct ScanOp {
  const char* name;
  PromoteRule promote = PromoteRule::Default;
  AccumulateRule accumulate = AccumulateRule::Same;
  // The results are the chosen elements and their indices along the dim.
  bool chooses = false;
  // The result so far, a later element -> their combination or, if `chooses`,
  // whether the later element is taken. Associative.
  ElementProgram combine;
};

// A scalar of a program, from an argument of the call. It is the argument's
// number (a float argument stays a float even if an int is boxed), whether it
// is present, or whether it equals the text.
struct NodeScalar {
  enum Kind : uint8_t { kScalar, kInt, kFloat, kBool, kHasValue, kEquals };
  uint8_t argument;
  Kind kind = kScalar;
  const char* text = nullptr;  // of kEquals
};

// An operator as a node of a graph: what the schema does not say to a backend
// that records calls, to fuse or compile them later. Arguments are counted as
// in the functional form. aten/backend/node.h reads calls by it.
struct NodeDesc {
  static constexpr uint8_t kNone = 255;

  // One of these is set.
  const PointwiseOp* pointwise = nullptr;
  const ReduceOp* reduce = nullptr;
  const ScanOp* scan = nullptr;
  // The arguments that are inputs of the program, and those of its scalars.
  const uint8_t* inputs = nullptr;
  const NodeScalar* scalars = nullptr;
  uint8_t n_inputs = 0;
  uint8_t n_scalars = 0;
  // The arguments of these names for reduce and scan; kNone if there is none.
  uint8_t dim = kNone, keepdim = kNone, dtype = kNone;
};

}  // namespace sy
