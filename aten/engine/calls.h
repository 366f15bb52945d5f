#pragma once

#include "aten/engine/guard.h"
#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"

// The calls of the engines of a backend (aten/backend/engines.h), around the
// function that runs a plan: they plan, make or resize the results, and bump
// the versions of what is written. `kRun` is called last, with the operator,
// its arguments, the plan and the tensors of the results. For the sources of
// engines alone.
namespace sy::calls {

// ---- pointwise operators: kRun(op, args, plan, results), if there are
// elements

SY_ALWAYS_INLINE ScalarType result_dtype(const PointwiseOp& op, int i,
                                         ScalarType compute) {
  return op.program.body.results[i].is_bool ? kBool : compute;
}

template <auto* kRun>
void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                       Tensor* results) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  for (int i = 0; i < op.n_outputs; ++i) {
    plan.result = result_dtype(op, i, plan.compute);
    results[i] = make_result(op, args, plan);
  }
  if (plan.numel != 0) kRun(op, args, plan, results);
}

// For the out= form, or the one in place.
template <auto* kRun>
void pointwise_write(const PointwiseOp& op, const PointwiseArgs& args,
                     Tensor& out, bool inplace, const OperatorEntry* writer) {
  PointwisePlan plan;
  plan_pointwise_out(op, args, out, inplace, &plan);
  if (!inplace && resize_output(op.name, out, plan.sizes)) {
    Dims strides;
    result_strides(op, args, plan.sizes, &strides);
    out.impl()->set_sizes_and_strides(plan.sizes, strides,
                                      out.storage_offset());
  }
  bump_version(out, writer);
  if (plan.numel != 0) kRun(op, args, plan, &out);
}

// What backends know in a few loads of the calls that have a short way: one
// dtype, which is computed in, every input contiguous and of the same sizes or
// of one element without dims.
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

// ---- reductions: kRun(op, args, plan, outs)

template <auto* kRun>
Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  Tensor result(make_tensor(plan.sizes, plan.results[0], args.self->device()));
  Tensor* const outs[] = {&result};
  kRun(op, args, plan, outs);
  return result;
}

template <auto* kRun>
void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  Tensor* outs[ReduceOp::kMaxResults];
  for (int i = 0; i < op.n_results; ++i) {
    results[i] =
        Tensor(make_tensor(plan.sizes, plan.results[i], args.self->device()));
    outs[i] = &results[i];
  }
  kRun(op, args, plan, outs);
}

template <auto* kRun>
void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  ReducePlan plan;
  plan_reduce_out(op, args, out, &plan);
  resize_output(op.name, out, plan.sizes);
  bump_version(out, &writer);
  Tensor* const outs[] = {&out};
  kRun(op, args, plan, outs);
}

template <auto* kRun>
void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs) {
  ReducePlan plan;
  plan_reduce_outs(op, args, outs, &plan);
  for (int i = 0; i < op.n_results; ++i) {
    resize_output(op.name, *outs[i], plan.sizes);
    bump_version(*outs[i], &writer);
  }
  kRun(op, args, plan, outs);
}

// ---- scans: kRun(op, args, plan, outs)

// Whether elements may change when they become `to`: such a self is converted
// before it is scanned in a wider dtype.
inline bool narrows(ScalarType from, ScalarType to) {
  if (from == to) return false;
  const bool same = is_floating_type(from) == is_floating_type(to);
  return !same || element_size(to) <= element_size(from);
}

template <auto* kRun>
void scan_results(const ScanOp& op, const ScanArgs& args, Tensor* results) {
  ScanPlan plan;
  plan_scan(op, args, &plan);
  Tensor* outs[2];
  for (int i = 0; i < result_count(op); ++i) {
    results[i] = Tensor(make_tensor(
        args.self->sizes(), i == 0 ? plan.result : kLong, args.self->device()));
    outs[i] = &results[i];
  }
  kRun(op, args, plan, outs);
}

template <auto* kRun>
void scan_outs(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs) {
  ScanPlan plan;
  plan_scan_outs(op, args, outs, &plan);
  for (int i = 0; i < result_count(op); ++i) {
    resize_output(op.name, *outs[i], args.self->sizes());
    bump_version(*outs[i], &writer);
  }
  kRun(op, args, plan, outs);
}

}  // namespace sy::calls
