#pragma once

#include "aten/backend/engines.h"
#include "aten/engine/guard.h"

// The calls of the engines of a backend. They plan, make or resize the results,
// and bump the versions of what is written; the backend computes. For each kind
// of `engines:` in its backend.yaml it has a struct in its namespace:
//
//   struct PointwiseWays {
//     // Writes the elements. There are some.
//     static void run(const PointwiseOp& op, const PointwiseArgs& args,
//                     const PointwisePlan& plan, Tensor* results);
//     // If it has a short way for some calls: the only result, undefined for
//     // other calls.
//     static Tensor fast(const PointwiseOp& op, const PointwiseArgs& args);
//     // The same for calls that write: whether it has bumped the version of
//     // `out` and written it.
//     static bool write_fast(const PointwiseOp& op, const PointwiseArgs& args,
//                            const OperatorEntry& writer, Tensor& out);
//   };
//   struct ReduceWays {
//     static void run(const ReduceOp& op, const ReduceArgs& args,
//                     const ReducePlan& plan, Tensor* const* outs);
//     // If it has a short way.
//     static Tensor fast(const ReduceOp& op, const ReduceArgs& args);
//   };
//   struct ScanWays {
//     static void run(const ScanOp& op, const ScanArgs& args,
//                     const ScanPlan& plan, Tensor* const* outs);
//   };
//
// backend_gen.h declares them. The source of each instantiates the calls, at
// its end:
//
//   template struct sy::PointwiseCalls<sy::npu::PointwiseWays>;

namespace sy {
namespace calls {

SY_ALWAYS_INLINE ScalarType result_dtype(const PointwiseOp& op, int i,
                                         ScalarType compute) {
  return op.program.body.results[i].is_bool ? kBool : compute;
}

// A call that has a short way, as backends see it in a few loads: one dtype,
// which is computed in, every input contiguous and of the same sizes or of one
// element without dims.
struct Simple {
  ScalarType dtype;
  const TensorImpl* shape;  // an input of the result's sizes
  uint64_t single = 0;      // bit i: input i has no dims
};

// Whether the operator computes in the dtype that all its inputs share, if that
// is an integer or bool.
SY_ALWAYS_INLINE bool computes_in(const PointwiseOp& op, ScalarType t) {
  return op.n_scalars == 0 && op.promote != PromoteRule::IntToFloat &&
         (op.promote != PromoteRule::BoolToInt || t == kLong) &&
         (t != kBool || (op.promote_scalars >> 31) == 0);
}

// Fills in `shape` and `single`. `shape` is an input of the most dims.
SY_ALWAYS_INLINE bool have_one_shape(const PointwiseOp& op,
                                     const PointwiseArgs& args,
                                     const TensorImpl* shape, Simple* s) {
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* const in = args.inputs[i]->impl();
    if (in == shape) continue;
    if (in->dim() == 0 && shape->dim() != 0) {
      s->single |= uint64_t{1} << i;
    } else if (in->sizes() != shape->sizes()) {
      return false;
    }
  }
  s->shape = shape;
  return true;
}

// Whether the only result may be written to `out`, which is contiguous: each
// input has the memory of `out`, element by element, or none of it.
SY_ALWAYS_INLINE bool takes_result(const PointwiseOp& op,
                                   const PointwiseArgs& args, const Simple& s,
                                   const TensorImpl& out) {
  if (out.dtype() != result_dtype(op, 0, s.dtype) ||
      out.sizes() != s.shape->sizes()) {
    return false;
  }
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* const in = args.inputs[i]->impl();
    if (in == &out || in->storage() != out.storage()) continue;
    if (in->data() != out.data() || in->numel() != out.numel() ||
        in->dtype() != out.dtype()) {
      return false;
    }
  }
  return true;
}

// Whether elements may change when they become `to`: such a self is converted
// before it is scanned in a wider dtype.
inline bool narrows(ScalarType from, ScalarType to) {
  if (from == to) return false;
  const bool same = is_floating_type(from) == is_floating_type(to);
  return !same || element_size(to) <= element_size(from);
}

// The ways of calls that are not short, apart from the others: a short call
// needs no room on the stack for them.

template <class Ways>
SY_NOINLINE Tensor run_planned(const PointwiseOp& op,
                               const PointwiseArgs& args) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  Tensor result = make_result(op, args, plan);
  if (plan.numel != 0) Ways::run(op, args, plan, &result);
  return result;
}

template <class Ways>
SY_NOINLINE void write_planned(const PointwiseOp& op, const PointwiseArgs& args,
                               const OperatorEntry& writer, Tensor& out,
                               bool inplace) {
  PointwisePlan plan;
  plan_pointwise_out(op, args, out, inplace, &plan);
  if (!inplace && resize_output(op.name, out, plan.sizes)) {
    Dims strides;
    result_strides(op, args, plan.sizes, &strides);
    out.impl()->set_sizes_and_strides(plan.sizes, strides,
                                      out.storage_offset());
  }
  bump_version(out, &writer);
  if (plan.numel != 0) Ways::run(op, args, plan, &out);
}

template <class Ways>
SY_ALWAYS_INLINE void write(const PointwiseOp& op, const PointwiseArgs& args,
                            const OperatorEntry& writer, Tensor& out,
                            bool inplace) {
  if constexpr (requires { Ways::write_fast; }) {
    if (SY_LIKELY(Ways::write_fast(op, args, writer, out))) return;
  }
  write_planned<Ways>(op, args, writer, out, inplace);
}

}  // namespace calls

// ---- pointwise operators

template <class Ways>
Tensor PointwiseCalls<Ways>::run(const PointwiseOp& op,
                                 const PointwiseArgs& args) {
  if constexpr (requires { Ways::fast; }) {
    Tensor result = Ways::fast(op, args);
    if (SY_LIKELY(result.defined())) return result;
  }
  return calls::run_planned<Ways>(op, args);
}

template <class Ways>
void PointwiseCalls<Ways>::results(const PointwiseOp& op,
                                   const PointwiseArgs& args, Tensor* results) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  for (int i = 0; i < op.n_outputs; ++i) {
    plan.result = calls::result_dtype(op, i, plan.compute);
    results[i] = make_result(op, args, plan);
  }
  if (plan.numel != 0) Ways::run(op, args, plan, results);
}

template <class Ways>
void PointwiseCalls<Ways>::out(const PointwiseOp& op, const PointwiseArgs& args,
                               const OperatorEntry& writer, Tensor& out) {
  calls::write<Ways>(op, args, writer, out, false);
}

template <class Ways>
void PointwiseCalls<Ways>::inplace(const PointwiseOp& op,
                                   const PointwiseArgs& args,
                                   const OperatorEntry& writer, Tensor& self) {
  calls::write<Ways>(op, args, writer, self, true);
}

// ---- reductions

template <class Ways>
Tensor ReduceCalls<Ways>::run(const ReduceOp& op, const ReduceArgs& args) {
  if constexpr (requires { Ways::fast; }) {
    Tensor result = Ways::fast(op, args);
    if (SY_LIKELY(result.defined())) return result;
  }
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  Tensor result(make_tensor(plan.sizes, plan.results[0], args.self->device()));
  Tensor* const outs[] = {&result};
  Ways::run(op, args, plan, outs);
  return result;
}

template <class Ways>
void ReduceCalls<Ways>::results(const ReduceOp& op, const ReduceArgs& args,
                                Tensor* results) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  Tensor* outs[ReduceOp::kMaxResults];
  for (int i = 0; i < op.n_results; ++i) {
    results[i] =
        Tensor(make_tensor(plan.sizes, plan.results[i], args.self->device()));
    outs[i] = &results[i];
  }
  Ways::run(op, args, plan, outs);
}

template <class Ways>
void ReduceCalls<Ways>::out(const ReduceOp& op, const ReduceArgs& args,
                            const OperatorEntry& writer, Tensor& out) {
  ReducePlan plan;
  plan_reduce_out(op, args, out, &plan);
  resize_output(op.name, out, plan.sizes);
  bump_version(out, &writer);
  Tensor* const outs[] = {&out};
  Ways::run(op, args, plan, outs);
}

template <class Ways>
void ReduceCalls<Ways>::outs(const ReduceOp& op, const ReduceArgs& args,
                             const OperatorEntry& writer, Tensor* const* outs) {
  ReducePlan plan;
  plan_reduce_outs(op, args, outs, &plan);
  for (int i = 0; i < op.n_results; ++i) {
    resize_output(op.name, *outs[i], plan.sizes);
    bump_version(*outs[i], &writer);
  }
  Ways::run(op, args, plan, outs);
}

// ---- scans

template <class Ways>
void ScanCalls<Ways>::results(const ScanOp& op, const ScanArgs& args,
                              Tensor* results) {
  ScanPlan plan;
  plan_scan(op, args, &plan);
  Tensor* outs[2];
  for (int i = 0; i < result_count(op); ++i) {
    results[i] = Tensor(make_tensor(
        args.self->sizes(), i == 0 ? plan.result : kLong, args.self->device()));
    outs[i] = &results[i];
  }
  Ways::run(op, args, plan, outs);
}

template <class Ways>
void ScanCalls<Ways>::outs(const ScanOp& op, const ScanArgs& args,
                           const OperatorEntry& writer, Tensor* const* outs) {
  ScanPlan plan;
  plan_scan_outs(op, args, outs, &plan);
  for (int i = 0; i < result_count(op); ++i) {
    resize_output(op.name, *outs[i], args.self->sizes());
    bump_version(*outs[i], &writer);
  }
  Ways::run(op, args, plan, outs);
}

}  // namespace sy
