#include "aten/engine/pointwise.h"

#include <algorithm>

#include "aten/engine/guard.h"
#include "aten/engine/iter.h"
#include "aten/program/program_domain.h"
#include "c10/tensor/integer_range.h"

namespace sy {

namespace {

// The parts of promotion: a dtype of a lower part counts only where it is of a
// higher category (bool, integer, floating) than that of the parts above it.
struct Promotion {
  ScalarType dims = ScalarType::Undefined;
  ScalarType zero_dims = ScalarType::Undefined;
  ScalarType numbers = ScalarType::Undefined;

  static void join(ScalarType* a, ScalarType b) {
    *a = *a == ScalarType::Undefined ? b : promote_types(*a, b);
  }
  static ScalarType over(ScalarType high, ScalarType low) {
    if (high == ScalarType::Undefined) return low;
    if (low == ScalarType::Undefined || can_cast(low, high)) return high;
    return promote_types(high, low);
  }
  void add(const TensorBase& t) {
    if (t.dim() > 0) {
      join(&dims, t.dtype());
    } else if (!t.impl()->is_wrapped_number()) {
      join(&zero_dims, t.dtype());
    } else {
      add_number(t.dtype());
    }
  }
  void add_number(ScalarType t) {
    join(&numbers, is_floating_type(t) ? default_dtype() : t);
  }
  ScalarType result() const { return over(dims, over(zero_dims, numbers)); }
};

const char* name_of(const char* const* names, int i) {
  return names == nullptr ? "argument" : names[i];
}

void check_domain(const PointwiseOp& op, ScalarType t) {
  const char* missed = missed_domain(op.program.body, t);
  SY_CHECK(missed == nullptr, Type, "[{}] {}: expected {}, got {}", op.name,
           name_of(op.input_names, 0), missed, t);
}

// Some numbers that do not promote must be of a kind that the compute dtype
// holds.
void check_numbers(const PointwiseOp& op, const PointwiseArgs& args,
                   ScalarType compute) {
  if (is_floating_type(compute)) return;
  for (int i = 0; i < op.n_scalars; ++i) {
    if (((op.whole_scalars & ~args.absent) >> i & 1) == 0) continue;
    SY_CHECK(!args.scalars[i].is_floating_point(), Type,
             "[{}] {}: expected an integer for dtype {}, got {}", op.name,
             name_of(op.scalar_names, i), compute, args.scalars[i]);
  }
}

// Bounds that leave no element of the dtype are errors.
void check_bounds(const PointwiseOp& op, const PointwiseArgs& args,
                  ScalarType compute) {
  if (is_floating_type(compute)) return;
  const IntegerRange range = integer_range(compute);
  for (int i = 0; i < op.n_scalars; ++i) {
    const uint32_t bit = 1u << i & ~args.absent;
    if (((op.lower_bounds | op.upper_bounds) & bit) == 0) continue;
    const int64_t v = args.scalars[i].to_long();
    const bool lower = (op.lower_bounds & bit) != 0;
    SY_CHECK(lower ? v <= range.high : v >= range.low, Value,
             "[{}] {}: expected {}{} for dtype {}, got {}", op.name,
             name_of(op.scalar_names, i), lower ? "at most " : "at least ",
             lower ? range.high : range.low, compute, v);
  }
}

bool same_sizes(const PointwiseOp& op, const PointwiseArgs& args) {
  for (int i = 1; i < op.n_inputs; ++i) {
    if (args.inputs[i]->sizes() != args.inputs[0]->sizes()) return false;
  }
  return true;
}

void broadcast(const PointwiseOp& op, const PointwiseArgs& args, Dims* sizes) {
  if (op.n_inputs == 0) return;
  *sizes = Dims(args.inputs[0]->sizes());
  for (int i = 1; i < op.n_inputs; ++i) {
    const IntArrayRef other = args.inputs[i]->sizes();
    const auto n = static_cast<int>(other.size());
    if (n > sizes->size()) {
      const int grow = n - sizes->size();
      const int old = sizes->size();
      sizes->resize(n);
      std::copy_backward(sizes->begin(), sizes->begin() + old, sizes->end());
      std::fill_n(sizes->begin(), grow, 1);
    }
    const int shift = sizes->size() - n;
    for (int d = 0; d < n; ++d) {
      int64_t& s = (*sizes)[d + shift];
      const int64_t o = other[static_cast<size_t>(d)];
      if (s == o || o == 1) continue;
      SY_CHECK(s == 1, Value,
               "[{}] {}: expected sizes that broadcast to {}, got {}", op.name,
               name_of(op.input_names, i), IntArrayRef(*sizes), other);
      s = o;
    }
  }
}

void check_inputs(const PointwiseOp& op, const PointwiseArgs& args) {
  for (int i = 0; i < op.n_inputs; ++i) {
    SY_CHECK(args.inputs[i]->defined(), Value,
             "[{}] {}: expected a tensor, got an undefined one", op.name,
             name_of(op.input_names, i));
  }
}

}  // namespace

ScalarType compute_dtype(const PointwiseOp& op, const PointwiseArgs& args) {
  Promotion p;
  const TensorBase* first = nullptr;
  for (int i = 0; i < op.n_inputs; ++i) {
    if (((op.promote_inputs >> i) & 1) == 0) continue;
    const TensorBase& t = *args.inputs[i];
    if (op.promote == PromoteRule::Same) {
      if (first == nullptr) first = &t;
      SY_CHECK(t.dtype() == first->dtype(), Type,
               "[{}] {}: expected {}, the dtype of the other tensors, got {}",
               op.name, name_of(op.input_names, i), first->dtype(), t.dtype());
    }
    p.add(t);
  }
  const uint32_t numbers = op.promote_scalars & ~args.absent;
  for (int i = 0; i < op.n_scalars; ++i) {
    if ((numbers >> i) & 1) p.add_number(args.scalars[i].type());
  }
  if ((op.promote_scalars >> 31) != 0) p.add_number(kLong);
  ScalarType t = p.result();
  if (t == ScalarType::Undefined) t = default_dtype();
  if (op.promote == PromoteRule::IntToFloat && !is_floating_type(t)) {
    t = default_dtype();
  } else if (op.promote == PromoteRule::BoolToInt && !is_floating_type(t)) {
    t = kLong;
  }
  check_domain(op, t);
  check_numbers(op, args, t);
  if ((op.lower_bounds | op.upper_bounds) != 0) check_bounds(op, args, t);
  return t;
}

void plan_pointwise(const PointwiseOp& op, const PointwiseArgs& args,
                    PointwisePlan* plan) {
  check_inputs(op, args);
  plan->compute = compute_dtype(op, args);
  plan->result = op.program.body.results[0].is_bool ? kBool : plan->compute;
  plan->device = check_same_device(op.name, args.inputs, op.n_inputs);
  if (op.n_inputs != 0 && same_sizes(op, args)) {
    plan->sizes = Dims(args.inputs[0]->sizes());
  } else {
    broadcast(op, args, &plan->sizes);
  }
  plan->numel =
      checked_numel(op.name, plan->sizes, element_size(plan->compute));
}

void check_pointwise(const PointwiseOp& op, const PointwiseArgs& args) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
}

void plan_pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                        const TensorBase& out, bool inplace,
                        PointwisePlan* plan) {
  plan_pointwise(op, args, plan);
  const char* const name = inplace ? name_of(op.input_names, 0) : "out";
  check_defined(op.name, name, out);
  check_can_cast(op.name, name, plan->result, out.dtype());
  SY_CHECK(
      out.device() == plan->device || op.n_inputs == 0 ||
          (plan->numel == 1 && plan->device.is_cpu() && plan->sizes.empty()),
      Value, "[{}] {}: expected a tensor on {}, got {}", op.name, name,
      plan->device, describe(out));
  if (out.sizes() != IntArrayRef(plan->sizes)) {
    SY_CHECK(!inplace, Value,
             "[{}] {}: expected {}, the sizes of the result, got {}", op.name,
             name, IntArrayRef(plan->sizes), out.sizes());
    for (int i = 0; i < op.n_inputs; ++i) {
      const TensorBase& in = *args.inputs[i];
      if (!in.is_alias_of(out)) continue;
      SY_CHECK(!in.is_same(out), Value,
               "[{}] out: expected {}, the sizes of the result, as an input is "
               "never resized, got {}",
               op.name, IntArrayRef(plan->sizes), out.sizes());
      assert_no_partial_overlap(op.name, out, name_of(op.input_names, i), in);
    }
  } else {
    assert_no_internal_overlap(op.name, name, out);
    for (int i = 0; i < op.n_inputs; ++i) {
      assert_no_partial_overlap(op.name, out, name_of(op.input_names, i),
                                *args.inputs[i]);
    }
  }
}

void check_pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                         const TensorBase& out, bool inplace) {
  PointwisePlan plan;
  plan_pointwise_out(op, args, out, inplace, &plan);
}

bool detail::reads_what_it_writes(const PointwiseOp& op,
                                  const PointwiseArgs& args,
                                  const TensorBase& out, bool inplace) {
  PointwisePlan plan;
  plan_pointwise_out(op, args, out, inplace, &plan);
  const bool fits = out.sizes() == IntArrayRef(plan.sizes);
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorBase& in = *args.inputs[i];
    if (in.is_same(out) || !in.is_alias_of(out)) continue;
    if (!fits || sharing(out, in) == Sharing::TooHard) return true;
  }
  return false;
}

void result_strides(const PointwiseOp& op, const PointwiseArgs& args,
                    const Dims& sizes, Dims* strides) {
  const int n = sizes.size();
  strides->resize(n);
  bool row_major = true;
  for (int i = 0; i < op.n_inputs; ++i) {
    row_major &= args.inputs[i]->is_contiguous();
  }
  if (row_major) {
    contiguous_strides(sizes, strides->data());
    return;
  }
  int64_t spread[Iter::kMaxOperands][TensorImpl::kMaxDims];
  const int64_t* lists[Iter::kMaxOperands];
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorBase& t = *args.inputs[i];
    const int shift = n - static_cast<int>(t.dim());
    for (int d = 0; d < n; ++d) {
      const auto from = static_cast<size_t>(d - shift);
      spread[i][d] =
          d < shift || t.sizes()[from] != sizes[d] ? 0 : t.strides()[from];
    }
    lists[i] = spread[i];
  }
  uint8_t order[TensorImpl::kMaxDims];
  sort_dims(lists, op.n_inputs, sizes.data(), n, order);
  int64_t stride = 1;
  for (int i = 0; i < n; ++i) {
    (*strides)[order[i]] = stride;
    stride *= std::max<int64_t>(sizes[order[i]], 1);
  }
}

Tensor make_result(const PointwiseOp& op, const PointwiseArgs& args,
                   const PointwisePlan& plan) {
  Dims strides;
  result_strides(op, args, plan.sizes, &strides);
  return Tensor(
      make_tensor_strided(plan.sizes, strides, plan.result, plan.device));
}

const ElementProgram& select_program(const PointwiseOp& op,
                                     const PointwiseArgs& args) {
  if (op.at_defaults == nullptr || args.absent != 0) return op.program;
  for (int i = 0; i < op.n_scalars; ++i) {
    const lang::Uniform& u = op.defaults[i];
    const Scalar& s = args.scalars[i];
    const bool same = s.is_floating_point() ? s.to_double() == u.as_double()
                                            : u.is_int && s.to_long() == u.i;
    if (!same) return op.program;
  }
  return *op.at_defaults;
}

void fit_bounds(const PointwiseOp& op, const PointwiseArgs& args,
                ScalarType compute, Scalar* out) {
  const IntegerRange range = integer_range(compute);
  for (int i = 0; i < op.n_scalars; ++i) {
    out[i] = args.scalars[i];
    if (((op.lower_bounds | op.upper_bounds) >> i & 1) == 0) continue;
    out[i] = Scalar(std::clamp(out[i].to_long(), range.low, range.high));
  }
}

void eval_uniforms(const ElementProgram& program, const Scalar* scalars,
                   int64_t count, program::ComputeType type,
                   program::Uniform* out) {
  // Not initialised: most calls need two or three of them.
  union Registers {
    Registers() {}
    lang::Uniform at[64];
  } room;
  lang::Uniform* const registers = room.at;
  int n = 0;
  SY_INTERNAL_ASSERT(
      program.n_scalars + program.n_constants + program.n_uniform_steps <= 64);
  for (int i = 0; i < program.n_scalars; ++i) {
    const uint8_t from = program.scalar_index == nullptr
                             ? static_cast<uint8_t>(i)
                             : program.scalar_index[i];
    if (from == ElementProgram::kCount) {
      registers[n++] = lang::Uniform::of(count);
    } else if (scalars[from].is_floating_point()) {
      registers[n++] = lang::Uniform::of(scalars[from].to_double());
    } else {
      registers[n++] = lang::Uniform::of(scalars[from].to_long());
    }
  }
  for (int i = 0; i < program.n_constants; ++i) {
    registers[n++] = program.constants[i];
  }
  for (int i = 0; i < program.n_uniform_steps; ++i) {
    const lang::UniformStep& s = program.uniform_steps[i];
    registers[n++] = lang::eval_uniform(s.op, registers[s.a], registers[s.b],
                                        registers[s.c]);
  }
  for (int i = 0; i < program.body.n_uniforms; ++i) {
    const lang::Uniform& u = registers[program.uniforms[i].reg];
    const bool is_bool = program.uniforms[i].reg_class == lang::RegClass::kBool;
    out[i] = u.is_int ? program::make_uniform(type, is_bool, u.i)
                      : program::make_uniform(type, is_bool, u.d);
  }
}

void eval_call_uniforms(const PointwiseOp& op, const ElementProgram& program,
                        const PointwiseArgs& args, ScalarType compute,
                        program::Uniform* out) {
  const program::ComputeType type = program::compute_type_of(compute);
  const program::Program& p = program.body;
  const bool rounds = is_reduced_floating_type(compute) && p.results[0].is_bool;
  const auto rounded = [&](float v) {
    return compute == kHalf ? float{Half(v)} : float{BFloat16(v)};
  };
  if (rounds && op.n_scalars != 0) {
    Scalar scalars[program::kMaxUniforms];
    for (int i = 0; i < op.n_scalars; ++i) {
      scalars[i] = args.scalars[i];
      if (!scalars[i].is_floating_point()) continue;
      scalars[i] = rounded(static_cast<float>(scalars[i].to_double()));
    }
    eval_uniforms(program, scalars, 0, type, out);
    return;
  }
  if ((op.lower_bounds | op.upper_bounds) != 0 && !is_floating_type(compute)) {
    Scalar scalars[program::kMaxUniforms];
    fit_bounds(op, args, compute, scalars);
    eval_uniforms(program, scalars, 0, type, out);
    return;
  }
  eval_uniforms(program, args.scalars, 0, type, out);
  if (!rounds) return;
  for (int i = 0; i < p.n_uniforms; ++i) {
    if ((p.bool_uniforms >> i & 1) == 0) out[i].f32 = rounded(out[i].f32);
  }
}

}  // namespace sy
