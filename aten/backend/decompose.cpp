#include "aten/backend/decompose.h"

#include <algorithm>

#include "aten/backend/cpu_fallback.h"
#include "aten/backend/node.h"
#include "aten/backend/primitive_calls.h"
#include "aten/engine/copy.h"
#include "c10/dispatch/thread_state.h"
#include "lang/primitive_operators.h"

namespace sy {

namespace {

// The dtype of a value in a register. Narrow floats are float32 there.
ScalarType register_dtype(ScalarType compute) {
  return program::storage_of(program::compute_type_of(compute));
}

Scalar read_uniform(const program::Uniform& u, ScalarType dtype) {
  switch (dtype) {
    case kByte:
    case kBool: return int64_t{u.u8};
    case kChar: return int64_t{u.i8};
    case kShort: return int64_t{u.i16};
    case kInt: return int64_t{u.i32};
    case kLong: return u.i64;
    case kDouble: return u.f64;
    default: return double{u.f32};
  }
}

// The results of a program whose inputs are registers already.
std::vector<Tensor> run_program(const ElementProgram& program,
                                const PrimitiveCalls& calls,
                                const std::vector<Tensor>& inputs,
                                const program::Uniform* uniforms,
                                ScalarType dtype) {
  const program::Program& p = program.body;
  std::vector<Tensor> registers(p.n_registers);
  std::copy(inputs.begin(), inputs.end(), registers.begin());
  for (int i = 0; i < p.n_uniforms; ++i) {
    const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
    const ScalarType type = is_bool ? kBool : dtype;
    registers[p.n_inputs + i] =
        calls.number(read_uniform(uniforms[i], type), type);
  }
  for (int i = 0; i < p.n_steps; ++i) {
    const program::Step& s = p.steps[i];
    registers[s.dst] =
        calls.run(s.op, registers[s.a], registers[s.b], registers[s.c]);
  }
  std::vector<Tensor> out;
  for (int i = 0; i < p.n_results; ++i) {
    out.push_back(registers[p.results[i].reg]);
  }
  return out;
}

// An input of a call as a register: in the compute dtype, or bool if it is a
// condition. A number in CPU memory moves to the device.
Tensor to_register(const TensorBase& t, bool is_bool, ScalarType dtype,
                   Device device) {
  const Tensor there = Tensor(t).to(device);
  return is_bool ? there.ne(0) : there.to(dtype);
}

Tensor run_pointwise(const PointwiseNode& node) {
  const PointwiseOp& op = node.op();
  const PointwiseArgs args = node.args();
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  const ScalarType dtype = register_dtype(plan.compute);
  const PrimitiveCalls calls(dtype, plan.device);
  const ElementProgram& program = select_program(op, args);
  program::Uniform uniforms[program::kMaxUniforms];
  eval_call_uniforms(op, program, args, plan.compute, uniforms);
  std::vector<Tensor> inputs;
  for (int i = 0; i < op.n_inputs; ++i) {
    const bool is_bool = (program.body.bool_inputs >> i & 1) != 0;
    inputs.push_back(to_register(*args.inputs[i], is_bool, dtype, plan.device));
  }
  Tensor out = make_result(op, args, plan);
  out.copy_(run_program(program, calls, inputs, uniforms, dtype)[0]);
  return out;
}

// One accumulator, with the dims that are reduced kept as 1.
Tensor reduce_by_operator(lang::Prim combine, const Tensor& x,
                          const std::vector<int64_t>& dims) {
  const std::string_view name = lang::reduction_of(combine);
  const Value dtype(x.scalar_type());
  switch (combine) {
    case lang::Prim::add:
      return call_operator(name,
                           {Value(x), Value(IntArrayRef(dims)), true, dtype});
    case lang::Prim::mul: {
      Tensor out = x;
      for (const int64_t d : dims) {
        out = call_operator(name, {Value(out), d, true, dtype});
      }
      return out;
    }
    default:
      return call_operator(name, {Value(x), Value(IntArrayRef(dims)), true});
  }
}

// `any` and `all` are the largest and the smallest of bools.
lang::Prim of_bools(lang::Prim combine) {
  switch (combine) {
    case lang::Prim::logical_or: return lang::Prim::maximum;
    case lang::Prim::logical_and: return lang::Prim::minimum;
    default: return combine;
  }
}

std::vector<Tensor> accumulate(const ReduceOp& op, const ReducePlan& plan,
                               const PrimitiveCalls& calls,
                               const std::vector<Tensor>& elements,
                               IntArrayRef sizes, ScalarType dtype) {
  const program::Program& combine = op.combine.body;
  std::vector<int64_t> dims, kept(sizes.begin(), sizes.end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if ((plan.reduced >> d & 1) == 0) continue;
    dims.push_back(static_cast<int64_t>(d));
    kept[d] = 1;
  }
  std::vector<Tensor> out;
  for (int i = 0; i < op.n_accumulators; ++i) {
    const Tensor& x = elements[i];
    if (plan.count == 0) {
      const lang::Uniform& u = op.identity[i];
      const Scalar none = u.is_int ? Scalar(u.i) : Scalar(u.d);
      const bool is_bool = op.map.body.results[i].is_bool;
      out.push_back(calls.number(none, is_bool ? kBool : dtype).expand(kept));
      continue;
    }
    const program::Step* const step =
        std::find_if(combine.steps, combine.steps + combine.n_steps,
                     [&](const program::Step& s) {
                       return s.dst == combine.results[i].reg;
                     });
    out.push_back(
        reduce_by_operator(of_bools(step->op), x.expand(sizes), dims));
  }
  return out;
}

void run_reduce(const ReduceNode& node, Value* results) {
  const ReduceOp& op = node.op();
  const ReduceArgs& args = node.args();
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  const ScalarType dtype = register_dtype(plan.compute);
  const Device device = args.self->device();
  if (plan.numel == 0) {  // perhaps of no elements, without an identity
    for (int i = 0; i < op.n_results; ++i) {
      results[i] =
          Value(TensorBase(make_tensor(plan.sizes, plan.results[i], device)));
    }
    return;
  }
  const PrimitiveCalls calls(dtype, device);
  const program::ComputeType type = program::compute_type_of(plan.compute);
  program::Uniform uniforms[program::kMaxUniforms];

  // The dtype argument is what self is converted to first.
  const Tensor given =
      args.dtype ? Tensor(*args.self).to(*args.dtype) : Tensor(*args.self);
  const bool is_bool = (op.map.body.bool_inputs & 1) != 0;
  eval_uniforms(op.map, args.scalars, plan.count, type, uniforms);
  std::vector<Tensor> values =
      run_program(op.map, calls, {to_register(given, is_bool, dtype, device)},
                  uniforms, dtype);
  values = accumulate(op, plan, calls, values, args.self->sizes(), dtype);
  if (op.finish != nullptr) {
    eval_uniforms(*op.finish, args.scalars, plan.count, type, uniforms);
    values = run_program(*op.finish, calls, values, uniforms, dtype);
  }
  for (int i = 0; i < op.n_results; ++i) {
    const Tensor out(make_tensor(plan.sizes, plan.results[i], device));
    out.copy_(values[i].reshape(plan.sizes));
    results[i] = Value(out);
  }
}

}  // namespace

void decompose(const Kernel&, const OperatorEntry& op, DispatchKeySet keys,
               Value* args, size_t num_args, Value* results,
               size_t num_results) {
  const NodeDesc& node = *node_desc(op);
  const AutoDispatchBelowAutograd no_tape;
  try {
    const ComposedCall whole;
    if (node.pointwise != nullptr) {
      results[0] = Value(run_pointwise(PointwiseNode(node, args)));
    } else {
      run_reduce(ReduceNode(node, args), results);
    }
    return;
  } catch (const NeedsFallback&) {
  }
  Kernel fallback = Kernel::from_boxed(&cpu_fallback);
  fallback.flags = Kernel::kFallback;
  cpu_fallback(fallback, op, keys, args, num_args, results, num_results);
}

}  // namespace sy
