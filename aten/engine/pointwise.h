#pragma once

#include <cstdint>

#include "aten/engine/dims.h"
#include "aten/program/op_desc.h"
#include "aten/tensor.h"

// The contract of pointwise operators: what follows from the metadata of the
// arguments alone. Backends compute, after this, by the same plan.

namespace sy {

// The arguments of one call. Borrowed.
struct PointwiseArgs {
  const TensorBase* const* inputs;  // op.n_inputs of them
  const Scalar* scalars = nullptr;  // op.n_scalars of them
  uint32_t absent = 0;              // bit i: optional scalar i is None
};

struct PointwisePlan {
  ScalarType compute;  // what the inputs are converted to
  ScalarType result;   // of a fresh result: compute, or bool
  Device device;       // of a fresh result
  Dims sizes;          // all inputs broadcast
  int64_t numel = 0;
};

// Throws TypeError (dtypes), ValueError (sizes, devices): "[add.Tensor] other:
// expected ..., got ...". Allocates nothing.
SY_API void plan_pointwise(const PointwiseOp& op, const PointwiseArgs& args,
                           PointwisePlan* plan);
SY_API void check_pointwise(const PointwiseOp& op, const PointwiseArgs& args);

// For out= (which may have to be resized) and in-place forms (self is the first
// input and `out`; it is never resized): the result fits and may be stored to
// out's dtype, no two elements of out share memory, and out overlaps an input
// fully or not at all.
SY_API void plan_pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                               const TensorBase& out, bool inplace,
                               PointwisePlan* plan);
SY_API void check_pointwise_out(const PointwiseOp& op,
                                const PointwiseArgs& args,
                                const TensorBase& out, bool inplace);

// The compute dtype that promotion gives; throws TypeError.
SY_API ScalarType compute_dtype(const PointwiseOp& op,
                                const PointwiseArgs& args);
// Strides of a fresh result: those of the inputs if they agree on the order of
// the dims, else row-major.
SY_API void result_strides(const PointwiseOp& op, const PointwiseArgs& args,
                           const Dims& sizes, Dims* strides);
// An uninitialised result on plan.device.
SY_API Tensor make_result(const PointwiseOp& op, const PointwiseArgs& args,
                          const PointwisePlan& plan);

// The program to run: at_defaults if every scalar has its default.
SY_API const ElementProgram& select_program(const PointwiseOp& op,
                                            const PointwiseArgs& args);
// The scalars with bounds beyond an integer `compute` dtype brought into it:
// op.n_scalars of them.
SY_API void fit_bounds(const PointwiseOp& op, const PointwiseArgs& args,
                       ScalarType compute, Scalar* out);
// The values of program.uniforms, for tiles::Runner. `count`: for
// ElementProgram::kCount.
SY_API void eval_uniforms(const ElementProgram& program, const Scalar* scalars,
                          int64_t count, program::ComputeType type,
                          program::Uniform* out);
// The same for a call of `op` that computes in `compute`: bounds brought into
// its range; comparisons of narrow floats see numbers as such floats hold them.
SY_API void eval_call_uniforms(const PointwiseOp& op,
                               const ElementProgram& program,
                               const PointwiseArgs& args, ScalarType compute,
                               program::Uniform* out);

}  // namespace sy
