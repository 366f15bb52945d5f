#include "aten/backend/engine_calls.h"
#include "aten/engine/iter.h"
#include "aten/program/resolve.h"
#include "backends/cpu/backend_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/tiles/runner.h"

namespace sy::cpu {

namespace {

using calls::result_dtype;
using calls::Simple;

// Elements that a thread takes at least.
constexpr int64_t kGrain = 32768;

// The integer kernels report a division by zero per thread.
void check_zero_division(const char* op, program::ComputeType type) {
  if (type == program::ComputeType::f32 || type == program::ComputeType::f64)
    return;
  SY_CHECK(!tiles::take_error(), Value,
           "[{}] other: expected a divisor other than 0, got an integer 0", op);
}

// Everything one call needs besides its operands.
struct Task {
  const PointwiseOp* op;
  const program::Program* program;
  program::ComputeType type;
  program::Uniform uniforms[program::kMaxUniforms];
  program::Resolved resolved;

  SY_ALWAYS_INLINE Task(const PointwiseOp& o, const PointwiseArgs& args,
                        ScalarType compute)
      : op(&o), type(program::compute_type_of(compute)) {
    const ElementProgram& given = select_program(o, args);
    program = &given.body;
    if (program->n_uniforms == 0) return;
    if (SY_UNLIKELY(is_reduced_floating_type(compute) ||
                    ((o.lower_bounds | o.upper_bounds) != 0 &&
                     !is_floating_type(compute)))) {
      eval_call_uniforms(o, given, args, compute, uniforms);
    } else {
      eval_uniforms(given, args.scalars, 0, type, uniforms);
    }
    if (SY_UNLIKELY(program->bool_uniforms != 0)) {
      program = resolved.resolve(*program, uniforms);
    }
  }
};

// All operands are contiguous, of the compute dtype and of n elements, or of
// one (bit of `single`).
void run_linear(const Task& task, char* const* data, uint64_t single,
                int64_t n) {
  const program::Program& program = *task.program;
  const int inputs = program.n_inputs, results = program.n_results;
  constexpr int64_t kSmall = 512;
  if (SY_LIKELY(n <= kSmall)) {
    const void* in[Iter::kMaxOperands];
    void* out[Iter::kMaxOperands];
    for (int i = 0; i < inputs; ++i) in[i] = data[i];
    for (int i = 0; i < results; ++i) out[i] = data[inputs + i];
    tiles::run_contiguous(program, task.type, in, single, task.uniforms, out,
                          n);
    check_zero_division(task.op->name, task.type);
    return;
  }
  tiles::Operand operands[Iter::kMaxOperands];
  const auto size_of = [](ScalarType t) {
    return static_cast<int64_t>(element_size(t));
  };
  for (int i = 0; i < inputs + results; ++i) {
    const bool is_bool = i < inputs ? (program.bool_inputs >> i & 1)
                                    : program.results[i - inputs].is_bool;
    operands[i].dtype = tiles::register_type(is_bool, task.type);
    operands[i].stride =
        i < inputs && (single >> i & 1) ? 0 : size_of(operands[i].dtype);
  }
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    tiles::Runner runner(program, task.type, operands, task.uniforms,
                         operands + inputs);
    char* moved[Iter::kMaxOperands];
    for (int i = 0; i < inputs + results; ++i) {
      moved[i] = data[i] + begin * operands[i].stride;
    }
    runner.run(moved, end - begin);
    check_zero_division(task.op->name, task.type);
  });
}

// Inputs that are better read along dim 1. Results never are: the walk follows
// the first of them.
// Bit i: input i.
uint64_t transposed_inputs(const Iter& iter, int results) {
  if (iter.ndim() < 2 || iter.size(0) < 8 || iter.size(1) < 8) return 0;
  uint64_t bits = 0;
  for (int k = results; k < iter.operands(); ++k) {
    if (iter.stride(k, 1) == iter.itemsize(k) &&
        iter.stride(k, 0) > iter.stride(k, 1)) {
      bits |= uint64_t{1} << (k - results);
    }
  }
  return bits;
}

void run_general(const Task& task, const PointwiseArgs& args, IntArrayRef sizes,
                 Tensor* results) {
  const program::Program& program = *task.program;
  const int inputs = program.n_inputs, outs = program.n_results;
  Iter iter(sizes);
  for (int i = 0; i < outs; ++i) iter.add(results[i]);
  for (int i = 0; i < inputs; ++i) iter.add(*args.inputs[i]);
  iter.finish();

  const uint64_t transposed = transposed_inputs(iter, outs);
  tiles::Operand operands[Iter::kMaxOperands];
  int64_t inner[Iter::kMaxOperands], outer[Iter::kMaxOperands];
  for (int i = 0; i < inputs + outs; ++i) {
    const int k = i < inputs ? outs + i : i - inputs;
    inner[i] = iter.stride(k, 0);
    outer[i] = iter.ndim() > 1 ? iter.stride(k, 1) : 0;
    operands[i].stride = transposed >> i & 1 ? iter.itemsize(k) : inner[i];
    operands[i].dtype =
        i < inputs ? args.inputs[i]->dtype() : results[i - inputs].dtype();
  }
  iter.for_each_range(kGrain, [&](int64_t begin, int64_t end) {
    tiles::Runner runner(program, task.type, operands, task.uniforms,
                         operands + inputs);
    iter.run(begin, end, [&](const Iter::Block& block) {
      char* data[Iter::kMaxOperands];
      for (int i = 0; i < inputs; ++i) data[i] = block.data[outs + i];
      for (int i = 0; i < outs; ++i) data[inputs + i] = block.data[i];
      if (transposed != 0) {
        runner.run_2d_transposed(data, inner, outer, block.columns, block.rows,
                                 transposed);
      } else if (block.rows == 1) {
        runner.run(data, block.columns);
      } else {
        runner.run_2d(data, outer, block.columns, block.rows);
      }
    });
    check_zero_division(task.op->name, task.type);
  });
}

// Whether the compute dtype is, without a closer look, the dtype that all
// inputs share, and every step has a kernel for it.
SY_ALWAYS_INLINE bool one_dtype(const PointwiseOp& op,
                                const PointwiseArgs& args, ScalarType* dtype) {
  if (op.n_inputs == 0 || op.program.body.bool_inputs != 0 ||
      op.n_inputs + op.n_outputs > Iter::kMaxOperands) {
    return false;
  }
  const TensorImpl* const first = args.inputs[0]->impl();
  if (first == nullptr) return false;
  const ScalarType t = first->dtype();
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* in = args.inputs[i]->impl();
    if (in == nullptr || in->dtype() != t || in->is_wrapped_number() ||
        !in->device().is_cpu()) {
      return false;
    }
  }
  if (t != kFloat && t != kDouble &&
      (!calls::computes_in(op, t) || is_reduced_floating_type(t))) {
    return false;
  }
  const program::ComputeType type = program::compute_type_of(t);
  const program::Program& program = op.program.body;
  for (int i = 0; i < program.n_steps; ++i) {
    if (tiles::prim_fn(program.steps[i].op, type) == nullptr) return false;
  }
  *dtype = t;
  return true;
}

SY_ALWAYS_INLINE bool is_simple(const PointwiseOp& op,
                                const PointwiseArgs& args, Simple* s) {
  const TensorImpl* shape = args.inputs[0]->impl();
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* t = args.inputs[i]->impl();
    if (!t->is_contiguous()) return false;
    if (t->dim() > shape->dim()) shape = t;
  }
  return calls::have_one_shape(op, args, shape, s);
}

SY_ALWAYS_INLINE void run_simple(const PointwiseOp& op,
                                 const PointwiseArgs& args, const Simple& s,
                                 const Tensor* results) {
  const Task task(op, args, s.dtype);
  char* data[Iter::kMaxOperands];
  for (int i = 0; i < op.n_inputs; ++i) {
    data[i] = static_cast<char*>(args.inputs[i]->impl()->data());
  }
  for (int i = 0; i < op.n_outputs; ++i) {
    data[op.n_inputs + i] = static_cast<char*>(results[i].impl()->data());
  }
  if (s.shape->numel() != 0) run_linear(task, data, s.single, s.shape->numel());
}

// Few elements of one dtype at any strides: gathered to the stack in the order
// of the result's memory, which costs less than planning a walk.
struct Small {
  static constexpr int64_t kElements = 128;
  static constexpr int kDims = 4;
  static constexpr int kInputs = 4;

  int n;
  int64_t numel;
  int64_t sizes[kDims];
  int64_t in[kInputs][kDims];  // strides, 0 where it broadcasts
  uint8_t order[kDims];        // dims of the result, fastest first
};

bool is_small(const PointwiseOp& op, const PointwiseArgs& args, Small* s) {
  if (op.n_inputs > Small::kInputs) return false;
  s->n = 0;
  for (int i = 0; i < op.n_inputs; ++i) {
    s->n = std::max(s->n, static_cast<int>(args.inputs[i]->impl()->dim()));
  }
  if (s->n > Small::kDims) return false;
  std::fill_n(s->sizes, s->n, 1);
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl& t = *args.inputs[i]->impl();
    const int shift = s->n - static_cast<int>(t.dim());
    for (int d = shift; d < s->n; ++d) {
      const int64_t size = t.sizes()[static_cast<size_t>(d - shift)];
      if (size == s->sizes[d] || size == 1) continue;
      if (s->sizes[d] != 1) return false;
      s->sizes[d] = size;
    }
  }
  s->numel = 1;
  for (int d = 0; d < s->n; ++d) {
    // The product of all sizes may not fit.
    if (__builtin_mul_overflow(s->numel, s->sizes[d], &s->numel) ||
        s->numel > Small::kElements) {
      return false;
    }
  }
  if (s->numel == 0) return false;
  const int64_t* lists[Small::kInputs];
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl& t = *args.inputs[i]->impl();
    const int shift = s->n - static_cast<int>(t.dim());
    for (int d = 0; d < s->n; ++d) {
      const auto from = static_cast<size_t>(d - shift);
      s->in[i][d] =
          d < shift || t.sizes()[from] != s->sizes[d] ? 0 : t.strides()[from];
    }
    lists[i] = s->in[i];
  }
  sort_dims(lists, op.n_inputs, s->sizes, s->n, s->order);
  return true;
}

template <class U>
void gather(const Small& s, const int64_t* strides, const void* from,
            void* to) {
  const U* p = static_cast<const U*>(from);
  U* q = static_cast<U*>(to);
  int64_t size[Small::kDims], stride[Small::kDims], at[Small::kDims] = {};
  for (int i = 0; i < s.n; ++i) {
    size[i] = s.sizes[s.order[i]];
    stride[i] = strides[s.order[i]];
  }
  const U* const end = q + s.numel;
  for (;;) {
    for (int64_t i = 0; i < size[0]; ++i) *q++ = p[i * stride[0]];
    if (q == end) return;
    for (int d = 1;; ++d) {
      p += stride[d];
      if (++at[d] < size[d]) break;
      p -= size[d] * stride[d];
      at[d] = 0;
    }
  }
}

Tensor run_small(const PointwiseOp& op, const PointwiseArgs& args,
                 ScalarType dtype, const Small& s) {
  int64_t strides[Small::kDims];
  bool row_major = true;
  int64_t stride = 1;
  for (int i = 0; i < s.n; ++i) {
    const int d = s.order[i];
    row_major &= d == s.n - 1 - i;
    strides[d] = stride;
    stride *= s.sizes[d];
  }
  const IntArrayRef sizes(s.sizes, static_cast<size_t>(s.n));
  const ScalarType out = result_dtype(op, 0, dtype);
  Tensor result(row_major ? make_tensor(sizes, out, Device(kCPU))
                          : make_tensor_strided(
                                sizes, {strides, static_cast<size_t>(s.n)}, out,
                                Device(kCPU)));
  alignas(64) char room[Small::kInputs][Small::kElements * kMaxElementSize];
  char* data[Small::kInputs + 1];
  uint64_t single = 0;
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl& t = *args.inputs[i]->impl();
    data[i] = static_cast<char*>(t.data());
    if (t.numel() == 1) {
      single |= s.numel == 1 ? 0 : uint64_t{1} << i;
    } else if (!(row_major && t.is_contiguous() && t.numel() == s.numel)) {
      visit_element_size(element_size(dtype), [&]<class T>() {
        gather<T>(s, s.in[i], data[i], room[i]);
      });
      data[i] = room[i];
    }
  }
  data[op.n_inputs] = static_cast<char*>(result.impl()->data());
  run_linear(Task(op, args, dtype), data, single, s.numel);
  return result;
}

SY_NOINLINE Tensor pointwise_small(const PointwiseOp& op,
                                   const PointwiseArgs& args,
                                   ScalarType dtype) {
  Small s;
  return is_small(op, args, &s) ? run_small(op, args, dtype, s) : Tensor();
}

}  // namespace

struct PointwiseWays {
  static SY_ALWAYS_INLINE Tensor fast(const PointwiseOp& op,
                                      const PointwiseArgs& args) {
    Simple s;
    if (SY_UNLIKELY(!one_dtype(op, args, &s.dtype))) return {};
    if (SY_UNLIKELY(!is_simple(op, args, &s))) {
      return pointwise_small(op, args, s.dtype);
    }
    Tensor result(make_tensor(s.shape->sizes(), result_dtype(op, 0, s.dtype),
                              Device(kCPU)));
    run_simple(op, args, s, &result);
    return result;
  }

  static SY_ALWAYS_INLINE bool write_fast(const PointwiseOp& op,
                                          const PointwiseArgs& args,
                                          const OperatorEntry& writer,
                                          Tensor& out) {
    Simple s;
    TensorImpl* const t = out.impl();
    if (t == nullptr || !t->is_contiguous() || !t->device().is_cpu() ||
        !one_dtype(op, args, &s.dtype) || !is_simple(op, args, &s) ||
        !calls::takes_result(op, args, s, *t)) {
      return false;
    }
    t->bump_version(&writer);
    run_simple(op, args, s, &out);
    return true;
  }

  static void run(const PointwiseOp& op, const PointwiseArgs& args,
                  const PointwisePlan& plan, Tensor* results) {
    run_general(Task(op, args, plan.compute), args, plan.sizes, results);
  }
};

}  // namespace sy::cpu

template struct sy::PointwiseCalls<sy::cpu::PointwiseWays>;
