#pragma once

#include <cstdint>

#include "aten/program/program.h"
#include "c10/scalar_type.h"
#include "codegen/lang/program.h"

// What the generator knows of pointwise and reduce operators, as static data.
// The engines (aten/engine/pointwise.h, aten/engine/reduce.h) and every backend
// work from these; no code is generated per operator for the computation
// itself.

namespace sy {

// How the compute dtype follows from the promoted dtype of the arguments.
enum class PromoteRule : uint8_t {
  Default,     // as it is
  IntToFloat,  // integers and bool become the default dtype
  BoolToInt,   // integers and bool become int64, as in sums
  Same,        // all tensor arguments must have one dtype
};

// An element expression, compiled: the steps, and how their uniform operands
// come from the scalars of the call.
struct ElementProgram {
  // Stands in scalar_index for the number of reduced elements.
  static constexpr uint8_t kCount = 255;

  program::Program body;
  const lang::Uniform* constants = nullptr;
  const lang::UniformStep* uniform_steps = nullptr;
  const lang::UniformOperand* uniforms = nullptr;  // body.n_uniforms of them
  // Which of the call's scalars is scalar input i; nullptr: the i-th.
  const uint8_t* scalar_index = nullptr;
  uint8_t n_scalars = 0;
  uint8_t n_constants = 0;
  uint8_t n_uniform_steps = 0;
};

// A view of a program that the compiler made, and of the indices, which stay.
SY_API ElementProgram view_of(const lang::Program& program,
                              const uint8_t* scalar_index = nullptr) noexcept;

// In which dtype the accumulators of floating elements are.
enum class AccumulateRule : uint8_t {
  Same,    // that of the elements (float32 for narrower ones)
  Double,  // float64
};

// Scalars of a call: numbers, whether an optional one is present, whether a
// str equals a text (lang::ScalarInput), in an order that the operator fixes.
struct PointwiseOp {
  const char* name;  // "add.Tensor", for messages
  PromoteRule promote = PromoteRule::Default;
  uint8_t n_inputs = 0;  // tensor operands
  uint8_t n_outputs = 1;
  uint8_t n_scalars = 0;         // of the call
  uint32_t promote_inputs = 0;   // bit i: input i counts in promotion
  uint32_t promote_scalars = 0;  // bit i: scalar i counts in promotion
  // bit i: scalar i must be whole where the compute dtype is (alpha); others
  // are cut.
  uint32_t whole_scalars = 0;
  // bit i: scalar i bounds the elements from below, from above. One that no
  // element can pass is ignored, one that none can keep is an error.
  uint32_t lower_bounds = 0, upper_bounds = 0;
  // For messages.
  const char* const* input_names = nullptr;
  const char* const* scalar_names = nullptr;
  ElementProgram program;
  // The program when every scalar has its default (add: alpha = 1), tried
  // first; nullptr if there is none. Same operands, no scalars.
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
  // combine: a.0 … a.k-1, b.0 … b.k-1 -> the k accumulators. Associative; the
  // order of elements is not kept.
  ElementProgram combine;
  // finish: the accumulators -> the results; may read ElementProgram::kCount.
  // nullptr: the first accumulators are the results.
  const ElementProgram* finish = nullptr;
  // The accumulators of no elements; nullptr: an empty reduction is an error.
  const lang::Uniform* identity = nullptr;
};

// Along a dim, each element combined with all before it.
struct ScanOp {
  const char* name;
  PromoteRule promote = PromoteRule::Default;
  AccumulateRule accumulate = AccumulateRule::Same;
  // The results are the elements chosen and their indices along the dim.
  bool chooses = false;
  // What was found so far, a later element -> their combination, or (chooses)
  // whether the later one is taken. Associative.
  ElementProgram combine;
};

// A scalar of a program, from an argument of the call: its number as an
// argument of that type (a float stays one, though an int is boxed), whether
// it is there, or whether it is the text.
struct NodeScalar {
  enum Kind : uint8_t { kScalar, kInt, kFloat, kBool, kHasValue, kEquals };
  uint8_t argument;
  Kind kind = kScalar;
  const char* text = nullptr;  // of kEquals
};

// An operator as a node of a graph: what a backend that records calls, to fuse
// or compile them later, wants to know beyond the schema. Arguments are counted
// as in the functional form. aten/backend/node.h reads a call by it.
struct NodeDesc {
  static constexpr uint8_t kNone = 255;

  // One of these.
  const PointwiseOp* pointwise = nullptr;
  const ReduceOp* reduce = nullptr;
  const ScanOp* scan = nullptr;
  // The arguments that are the program's inputs and its scalars.
  const uint8_t* inputs = nullptr;
  const NodeScalar* scalars = nullptr;
  uint8_t n_inputs = 0;
  uint8_t n_scalars = 0;
  // Of reduce and scan, where there is such an argument.
  uint8_t dim = kNone, keepdim = kNone, dtype = kNone;
};

}  // namespace sy
