#pragma once

#include <cstdint>

#include "aten/engine/apart.h"
#include "aten/engine/dims.h"
#include "aten/program/op_desc.h"
#include "aten/tensor.h"

// The contract of pointwise operators: everything that follows from the
// metadata of the arguments. Backends then compute by the same plan.

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

// Throws TypeError (dtypes) or ValueError (sizes, devices): "[add.Tensor]
// other: expected ..., got ...". Allocates nothing.
SY_API void plan_pointwise(const PointwiseOp& op, const PointwiseArgs& args,
                           PointwisePlan* plan);
SY_API void check_pointwise(const PointwiseOp& op, const PointwiseArgs& args);

// For out= and in-place forms. out= may have to be resized; an in-place form
// has self as first input and as `out`, and never resizes it. Also checks that
// the result fits and may be stored as out's dtype, that no two elements of out
// share memory, that out overlaps an input fully or not at all, and that an
// input which is `out` itself is not to be resized.
SY_API void plan_pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                               const TensorBase& out, bool inplace,
                               PointwisePlan* plan);
SY_API void check_pointwise_out(const PointwiseOp& op,
                                const PointwiseArgs& args,
                                const TensorBase& out, bool inplace);
namespace detail {
SY_API SY_COLD bool reads_what_it_writes(const PointwiseOp& op,
                                         const PointwiseArgs& args,
                                         const TensorBase& out, bool inplace);
}  // namespace detail
// Returns whether an input that is not `out` may have memory that is written,
// or moved, before it is read: then a kernel needs a copy of it. Checks the
// same if an input shares memory with `out`.
SY_ALWAYS_INLINE bool reads_what_it_writes(const PointwiseOp& op,
                                           const PointwiseArgs& args,
                                           const TensorBase& out,
                                           bool inplace) {
  return generated::shares_another(out, args.inputs, op.n_inputs) &&
         detail::reads_what_it_writes(op, args, out, inplace);
}

// The compute dtype after promotion. Throws TypeError.
SY_API ScalarType compute_dtype(const PointwiseOp& op,
                                const PointwiseArgs& args);
// The strides of a fresh result: in the order of dims that the inputs agree on,
// else row-major.
SY_API void result_strides(const PointwiseOp& op, const PointwiseArgs& args,
                           const Dims& sizes, Dims* strides);
// An uninitialised result on plan.device.
SY_API Tensor make_result(const PointwiseOp& op, const PointwiseArgs& args,
                          const PointwisePlan& plan);

// The program to run: at_defaults if every scalar has its default.
SY_API const ElementProgram& select_program(const PointwiseOp& op,
                                            const PointwiseArgs& args);
// Copies the op.n_scalars scalars to `out`. A bound beyond the range of an
// integer dtype `compute` becomes the end of that range.
SY_API void fit_bounds(const PointwiseOp& op, const PointwiseArgs& args,
                       ScalarType compute, Scalar* out);
// Computes the values of program.uniforms, for cpu::tiles::Runner. `count` is
// the value of ElementProgram::kCount.
SY_API void eval_uniforms(const ElementProgram& program, const Scalar* scalars,
                          int64_t count, program::ComputeType type,
                          program::Uniform* out);
// The same for a call of `op` that computes in `compute`. Bounds are brought
// into its range. If Half or BFloat16 is compared, numbers are rounded to it.
SY_API void eval_call_uniforms(const PointwiseOp& op,
                               const ElementProgram& program,
                               const PointwiseArgs& args, ScalarType compute,
                               program::Uniform* out);

}  // namespace sy
