#include "backends/cuda/engine/pointwise.h"

#include <cstring>

#include "aten/backend/engine_calls.h"
#include "aten/program/resolve.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/engine/pointwise_call.h"
#include "backends/cuda/engine/pointwise_kernels.h"

namespace sy::cuda {

namespace {

using calls::result_dtype;
using calls::Simple;
using program::ComputeType;

// A call of an operator, but for its operands.
struct Task : PointwiseCall {
  program::Resolved resolved;

  SY_ALWAYS_INLINE Task(const PointwiseOp& op, const PointwiseArgs& args,
                        ScalarType compute, Device on) {
    const ElementProgram& given = select_program(op, args);
    name = op.name;
    device = on.index();
    program = &given.body;
    type = program::compute_type_of(compute);
    if (program->n_uniforms == 0) return;
    eval_call_uniforms(op, given, args, compute, numbers);
    if (SY_UNLIKELY(program->bool_uniforms != 0)) {
      program = resolved.resolve(*program, numbers);
    }
  }

  void set(int operand, const TensorBase* t) {
    tensors[operand] = t;
    dtypes[operand] = t->impl()->dtype();
    data[operand] = static_cast<char*>(t->impl()->data());
  }
};

// The number of a CPU tensor without dims, as registers hold it.
program::Uniform number_of(const TensorImpl& t, ComputeType type,
                           bool is_bool) {
  const void* const data = t.const_data("a pointwise kernel");
  const auto read = [&]<class T>() {
    T x;
    std::memcpy(&x, data, sizeof x);
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
      return program::make_uniform(type, is_bool, x);
    } else if constexpr (std::is_integral_v<T>) {
      return program::make_uniform(type, is_bool, static_cast<int64_t>(x));
    } else {
      return program::make_uniform(type, is_bool,
                                   static_cast<double>(static_cast<float>(x)));
    }
  };
  switch (t.dtype()) {
#define SY_READ(cpp, Enum) \
  case ScalarType::Enum: return read.template operator()<cpp>();
    SY_FORALL_SCALAR_TYPES(SY_READ)
#undef SY_READ
    default: break;
  }
  SY_INTERNAL_ASSERT(false);
}

// Bools in registers are those of the program, or all of them.
bool takes_bool(const Task& task, int input) {
  return task.type == ComputeType::b8 ||
         (task.program->bool_inputs >> input & 1) != 0;
}

void run_general(Task& task, const PointwiseArgs& args, IntArrayRef sizes,
                 const Tensor* results) {
  const int inputs = task.program->n_inputs, outs = task.program->n_results;
  SY_INTERNAL_ASSERT(inputs + outs <= PointwiseCall::kMaxOperands);
  Walker iter(sizes);
  for (int i = 0; i < outs; ++i) {
    iter.add(results[i]);
    task.set(inputs + i, &results[i]);
  }
  int next = task.program->n_uniforms;
  for (int i = 0; i < inputs; ++i) {
    const TensorBase* const t = args.inputs[i];
    iter.add(*t);
    task.set(i, t);
    if (SY_LIKELY(!t->impl()->device().is_cpu())) continue;
    task.immediate |= uint64_t{1} << i;
    task.numbers[next++] =
        number_of(*t->impl(), task.type, takes_bool(task, i));
    static const Tensor kNone;  // launches look at tensors of the device only
    task.tensors[i] = &kNone;
  }
  iter.finish();
  run_strided(task, iter);
}

SY_ALWAYS_INLINE bool is_simple(const PointwiseOp& op,
                                const PointwiseArgs& args, Simple* s) {
  if (op.n_inputs == 0 || op.program.body.bool_inputs != 0 ||
      op.n_inputs + op.n_outputs > PointwiseCall::kMaxOperands) {
    return false;
  }
  const TensorImpl* const first = args.inputs[0]->impl();
  if (first == nullptr || first->device().is_cpu()) return false;
  const ScalarType t = first->dtype();
  const TensorImpl* shape = first;
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* const in = args.inputs[i]->impl();
    if (in == nullptr || in->dtype() != t || in->device() != first->device() ||
        !in->is_contiguous() || in->is_wrapped_number()) {
      return false;
    }
    if (in->dim() > shape->dim()) shape = in;
  }
  if (!is_floating_type(t) && !calls::computes_in(op, t)) return false;
  s->dtype = t;
  return calls::have_one_shape(op, args, shape, s);
}

// The kernel of a simple call, with the inputs and the dtype of the result
// filled in. nullptr if the process has not used it before: then nothing says
// yet that the program is defined for the dtype.
SY_ALWAYS_INLINE const PointwiseEntry* find_simple(const PointwiseOp& op,
                                                   const PointwiseArgs& args,
                                                   const Simple& s,
                                                   Task* task) {
  for (int i = 0; i < op.n_inputs; ++i) {
    task->tensors[i] = args.inputs[i];
    task->dtypes[i] = s.dtype;
    task->data[i] = static_cast<char*>(args.inputs[i]->impl()->data());
  }
  task->dtypes[op.n_inputs] = result_dtype(op, 0, s.dtype);
  return find_linear(*task, s.single);
}

SY_ALWAYS_INLINE void run_simple(const PointwiseEntry& kernel,
                                 const PointwiseOp& op, const Simple& s,
                                 const Tensor& result, Task& task) {
  const int64_t n = s.shape->numel();
  if (n == 0) return;
  task.tensors[op.n_inputs] = &result;
  task.data[op.n_inputs] = static_cast<char*>(result.impl()->data());
  run_linear(kernel, task, n, s.single);
}

}  // namespace

// Kernels of element programs start in the current stream. CPU tensors without
// dims may be among the inputs.
struct PointwiseWays {
  static SY_ALWAYS_INLINE Tensor fast(const PointwiseOp& op,
                                      const PointwiseArgs& args) {
    Simple s;
    if (SY_UNLIKELY(!is_simple(op, args, &s))) return {};
    const Device device = s.shape->device();
    Task task(op, args, s.dtype, device);
    const PointwiseEntry* const kernel = find_simple(op, args, s, &task);
    if (SY_UNLIKELY(kernel == nullptr)) return {};
    Tensor result(
        make_tensor(s.shape->sizes(), result_dtype(op, 0, s.dtype), device));
    run_simple(*kernel, op, s, result, task);
    return result;
  }

  static SY_ALWAYS_INLINE bool write_fast(const PointwiseOp& op,
                                          const PointwiseArgs& args,
                                          const OperatorEntry& writer,
                                          Tensor& out) {
    Simple s;
    TensorImpl* const t = out.impl();
    if (t == nullptr || !t->is_contiguous() || !is_simple(op, args, &s) ||
        t->device() != s.shape->device() ||
        !calls::takes_result(op, args, s, *t)) {
      return false;
    }
    Task task(op, args, s.dtype, t->device());
    const PointwiseEntry* const kernel = find_simple(op, args, s, &task);
    if (kernel == nullptr) return false;
    t->bump_version(&writer);
    run_simple(*kernel, op, s, out, task);
    return true;
  }

  static void run(const PointwiseOp& op, const PointwiseArgs& args,
                  const PointwisePlan& plan, Tensor* results) {
    Task task(op, args, plan.compute, results->impl()->device());
    run_general(task, args, plan.sizes, results);
  }
};

void copy_elements(const TensorBase& from, const TensorBase& to) {
  static constexpr program::Result kResult{0, false};
  program::Program copy;
  copy.results = &kResult;
  copy.n_inputs = 1;
  copy.n_registers = 1;
  const ScalarType source = from.impl()->dtype(), target = to.impl()->dtype();
  PointwiseCall call;
  call.name = "copy";
  call.device = to.impl()->device().index();
  call.program = &copy;
  call.type = program::compute_type_of(target);
  call.dtypes[0] = source;
  call.dtypes[1] = target;
  if (source == target) {  // bits, of which there are fewer kernels
    constexpr ScalarType kBySize[] = {kByte, kByte, kShort, kShort, kInt,
                                      kInt,  kInt,  kInt,   kLong};
    const ScalarType bits = kBySize[element_size(source)];
    call.type = program::compute_type_of(bits);
    call.dtypes[0] = call.dtypes[1] = bits;
  }
  call.tensors[0] = &from;
  call.tensors[1] = &to;
  Walker iter(to.sizes());
  iter.add(to);
  iter.add(from);
  iter.finish();
  run_strided(call, iter);
}

}  // namespace sy::cuda

template struct sy::PointwiseCalls<sy::cuda::PointwiseWays>;
