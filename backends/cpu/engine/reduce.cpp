#include <algorithm>
#include <cstring>

#include "aten/backend/engine_calls.h"
#include "aten/engine/copy.h"
#include "aten/engine/pointwise.h"
#include "backends/cpu/backend_gen.h"
#include "backends/cpu/engine/accumulator.h"
#include "backends/cpu/engine/reduce_engine.h"
#include "backends/cpu/support/inline_memory.h"
#include "backends/cpu/tiles/runner.h"

namespace sy::cpu {

namespace {

constexpr int kMaxAccumulators = Combiner::kMaxAccumulators;

// Room for accumulators: on the stack for few results.
using Buffer = InlineMemory<512>;

// The contiguous memory for n elements of a result.
struct Target {
  ScalarType dtype;
  char* data;
};

// Finishes accumulators (arrays of n) and converts them to elements of the
// targets' dtypes.
void finish(const ReduceOp& op, const ReduceArgs& args, ScalarType compute,
            int64_t count, char* const* accumulators, const Target* targets,
            int64_t n) {
  const program::ComputeType type = program::compute_type_of(compute);
  const auto dtype_of = [&](const program::Program& p, int i) {
    return tiles::register_type(p.results[i].is_bool, type);
  };
  if (op.finish == nullptr) {
    for (int i = 0; i < op.n_results; ++i) {
      tiles::convert_fn(dtype_of(op.map.body, i), targets[i].dtype)(
          targets[i].data, accumulators[i], n);
    }
    return;
  }
  program::Uniform uniforms[program::kMaxUniforms];
  eval_uniforms(*op.finish, args.scalars, count, type, uniforms);
  const program::Program& p = op.finish->body;
  const void* in[kMaxAccumulators];
  constexpr int64_t kChunk = 512;
  alignas(64) char room[ReduceOp::kMaxResults][kChunk * 8];
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t m = std::min(kChunk, n - at);
    for (int i = 0; i < op.n_accumulators; ++i) {
      in[i] = accumulators[i] +
              at * static_cast<int64_t>(element_size(dtype_of(op.map.body, i)));
    }
    void* results[ReduceOp::kMaxResults];
    const auto place = [&](int i) {
      return targets[i].data +
             at * static_cast<int64_t>(element_size(targets[i].dtype));
    };
    for (int i = 0; i < op.n_results; ++i) {
      const bool direct = dtype_of(p, i) == targets[i].dtype;
      results[i] = direct ? place(i) : room[i];
    }
    tiles::run_contiguous(p, type, in, 0, uniforms, results, m);
    for (int i = 0; i < op.n_results; ++i) {
      if (dtype_of(p, i) == targets[i].dtype) continue;
      tiles::convert_fn(dtype_of(p, i), targets[i].dtype)(place(i), room[i], m);
    }
  }
}

// The dtype of the kernel's accumulators as those of the operator: bool, or
// that of the compute type.
ScalarType narrow_dtype(const KnownReduction& known, ScalarType compute) {
  return tiles::register_type(known.accumulator == program::ComputeType::b8,
                              program::compute_type_of(compute));
}
void narrow(const KnownReduction& known, ScalarType compute, const void* from,
            void* to, int64_t n) {
  tiles::convert_fn(program::storage_of(known.accumulator),
                    narrow_dtype(known, compute))(to, from, n);
}

// Each accumulator by a kernel of its own, which reads all elements: still less
// than a program takes. False, with nothing done, if one has none.
bool reduce_each(const ReduceOp& op, const ReduceArgs& args, ScalarType compute,
                 const ReduceLayout& layout, char* const* accumulators,
                 int64_t n) {
  KnownReduction known[kMaxAccumulators];
  for (int i = 0; i < op.n_accumulators; ++i) {
    if (!recognise(op, i, args.self->dtype(), compute, &known[i])) return false;
  }
  for (int i = 0; i < op.n_accumulators; ++i) {
    const auto wide =
        static_cast<int64_t>(compute_type_size(known[i].accumulator));
    Buffer raw(n * wide);
    reduce_known(known[i], layout, args, raw.data());
    narrow(known[i], compute, raw.data(), accumulators[i], n);
  }
  return true;
}

// Results in the order of the layout's kept dims.
void compute_results(const ReduceOp& op, const ReduceArgs& args,
                     const ReducePlan& plan, const ReduceLayout& layout,
                     const Target* targets) {
  const int64_t n = plan.numel;
  const program::ComputeType type = program::compute_type_of(plan.compute);
  const ScalarType self = args.self->dtype();
  char* accumulators[kMaxAccumulators];
  const auto item = static_cast<int64_t>(compute_type_size(type));
  const int64_t plane = (n * std::max<int64_t>(item, 1) + 63) / 64 * 64;
  KnownReduction known;
  if (plan.count != 0 && op.n_accumulators == 1 &&
      recognise(op, 0, self, plan.compute, &known)) {
    const auto wide =
        static_cast<int64_t>(compute_type_size(known.accumulator));
    Buffer raw(n * wide);
    reduce_known(known, layout, args, raw.data());
    if (op.finish == nullptr &&
        narrow_dtype(known, plan.compute) == targets[0].dtype) {
      narrow(known, plan.compute, raw.data(), targets[0].data, n);
      return;
    }
    Buffer values(plane);
    accumulators[0] = values.data();
    narrow(known, plan.compute, raw.data(), accumulators[0], n);
    finish(op, args, plan.compute, plan.count, accumulators, targets, n);
    return;
  }
  Buffer values(plane * op.n_accumulators);
  for (int i = 0; i < op.n_accumulators; ++i) {
    accumulators[i] = values.data() + i * plane;
  }
  if (plan.count == 0) {
    for (int i = 0; i < op.n_accumulators; ++i) {
      fill_identity(op.identity[i],
                    tiles::register_type(op.map.body.results[i].is_bool, type),
                    accumulators[i], n);
    }
  } else if (plan.compute == kDouble && is_moments(op)) {
    const auto at = [&](int i) {
      return reinterpret_cast<double*>(accumulators[i]);
    };
    reduce_moments(layout, self, at(0), at(1), at(2));
  } else if (!reduce_each(op, args, plan.compute, layout, accumulators, n)) {
    reduce_by_program(op, args, layout, plan.compute, accumulators);
  }
  finish(op, args, plan.compute, plan.count, accumulators, targets, n);
}

}  // namespace

// The results are the same for any number of threads.
struct ReduceWays {
  // All elements of contiguous memory, by a kernel, few enough for one piece.
  static SY_ALWAYS_INLINE Tensor fast(const ReduceOp& op,
                                      const ReduceArgs& args) {
    const TensorImpl* const self = args.self->impl();
    if (self == nullptr || op.n_results != 1 || args.dtype.has_value() ||
        args.keepdim || op.accumulate != AccumulateRule::Same ||
        (args.dims.has_value() && !args.dims->empty()) ||
        !self->is_contiguous() || self->numel() > kReducePiece ||
        self->numel() == 0) {
      return {};
    }
    const ScalarType dtype = self->dtype();
    if (dtype != kFloat && dtype != kDouble && dtype != kLong) return {};
    if (op.finish != nullptr && !is_floating_type(dtype)) return {};
    KnownReduction known;
    if (op.n_accumulators != 1 || !recognise(op, 0, dtype, dtype, &known) ||
        known.map != nullptr) {
      return {};
    }
    const ScalarType out = op.map.body.results[0].is_bool ? kBool : dtype;
    if (op.finish != nullptr &&
        (out == kBool || op.finish->body.results[0].is_bool)) {
      return {};
    }
    Tensor result(make_tensor({}, out, Device(kCPU)));
    void* const to = result.impl()->data();
    alignas(8) char acc[8];
    const void* const data = self->data();
    start_accumulator(known, data, acc);
    tiles::reduce_fn(known.kind, known.type)(acc, data, self->numel());
    if (dtype == kFloat && known.accumulator == program::ComputeType::f64) {
      double v;
      std::memcpy(&v, acc, sizeof v);
      *static_cast<float*>(to) = static_cast<float>(v);
    } else {
      std::memcpy(to, acc, element_size(out));
    }
    if (op.finish != nullptr) {
      char* accumulators[] = {static_cast<char*>(to)};
      const Target target{dtype, static_cast<char*>(to)};
      finish(op, args, dtype, self->numel(), accumulators, &target, 1);
    }
    return result;
  }

  static void run(const ReduceOp& op, const ReduceArgs& args,
                  const ReducePlan& plan, Tensor* const* outs) {
    if (plan.numel == 0) return;
    const int64_t kept = static_cast<int64_t>(plan.sizes.size());
    const ReduceLayout layout(*args.self, plan.reduced,
                              kept == args.self->dim());
    // A result whose order in memory is that of the walk is written directly.
    Target targets[ReduceOp::kMaxResults];
    Tensor ordered[ReduceOp::kMaxResults];
    for (int i = 0; i < op.n_results; ++i) {
      const Tensor& out = *outs[i];
      bool in_order = true;
      for (int d = 0; d < plan.sizes.size(); ++d) {
        in_order &=
            plan.sizes[d] == 1 ||
            out.strides()[static_cast<size_t>(d)] == layout.result_strides[d];
      }
      if (!in_order) {
        ordered[i] = Tensor(make_tensor_strided(
            plan.sizes, layout.result_strides, out.dtype(), Device(kCPU)));
      }
      const Tensor& to = in_order ? out : ordered[i];
      targets[i] = {out.dtype(), static_cast<char*>(to.raw_data())};
    }
    compute_results(op, args, plan, layout, targets);
    for (int i = 0; i < op.n_results; ++i) {
      if (ordered[i].defined()) copy_cpu(*outs[i], ordered[i]);
    }
  }
};

}  // namespace sy::cpu

template struct sy::ReduceCalls<sy::cpu::ReduceWays>;
