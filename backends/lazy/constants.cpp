#include "backends/lazy/constants.h"

#include <algorithm>

#include "aten/ops/factory.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/run.h"
#include "c10/dispatch/thread_state.h"

namespace sy::lazy {

namespace {

const OperatorEntry& fill_entry() {
  const ForkSection section;
  static const OperatorEntry& e =
      Dispatcher::singleton().find_or_throw("aten::fill_.Scalar").entry();
  return e;
}

const program::Program& number() {
  static constexpr program::Result kUniform{0, false};
  static const program::Program program = [] {
    program::Program p;
    p.n_uniforms = 1;
    p.n_registers = 1;
    p.results = &kUniform;
    return p;
  }();
  return program;
}

bool reads_constant(const Operand& o) { return is_constant(*o.node); }

// Promotion counts dims, so the tensor has as many as the operand. Its dtype
// may be narrower than the number.
Tensor one_element(const Operand& o) {
  const program::Uniform& u = o.node->uniforms[0];
  const std::vector<int64_t> ones(static_cast<size_t>(o.layout().dim()), 1);
  Tensor t = empty(ones, TensorOptions(o.layout().dtype));
  switch (program::compute_type_of(o.node->compute)) {
    case program::ComputeType::f32: t.fill_(double{u.f32}); break;
    case program::ComputeType::f64: t.fill_(u.f64); break;
    case program::ComputeType::u8: t.fill_(int64_t{u.u8}); break;
    case program::ComputeType::i8: t.fill_(int64_t{u.i8}); break;
    case program::ComputeType::i16: t.fill_(int64_t{u.i16}); break;
    case program::ComputeType::i32: t.fill_(int64_t{u.i32}); break;
    default: t.fill_(u.i64);
  }
  t.impl()->set_wrapped_number(o.wrapped_number);
  return t;
}

}  // namespace

bool is_constant(const LazyNode& n) { return n.program == &number(); }

intrusive_ptr<LazyNode> constant(const Scalar& value, ScalarType dtype,
                                 IntArrayRef sizes, IntArrayRef strides) {
  auto node = make_intrusive<LazyNode>(
      dtype == kBool ? LazyNode::kCall : LazyNode::kPointwise, &fill_entry());
  node->made.emplace_back(ValueLayout(dtype, sizes, strides));
  node->args.push_back(Value(value));
  if (dtype == kBool) return node;
  node->program = &number();
  node->compute = dtype;
  const program::ComputeType type = program::compute_type_of(dtype);
  node->uniforms.push_back(
      value.is_floating_point()
          ? program::make_uniform(type, false, value.to<double>())
          : program::make_uniform(type, false, value.to<int64_t>()));
  return node;
}

intrusive_ptr<LazyNode> folded(const LazyNode& call) {
  const bool folds =
      call.kind == LazyNode::kPointwise && computing_device().type() == kCPU &&
      call.made.size() == 1 && call.made[0].layout.dtype != kBool &&
      !call.operands.empty() &&
      std::all_of(call.operands.begin(), call.operands.end(), reads_constant);
  if (!folds) return nullptr;
  const PlainModes modes;
  std::vector<Value> args(call.args.begin(), call.args.end()), results;
  const Operand* next = call.operands.begin();
  for (size_t i = 0; i < args.size(); ++i) {
    if ((call.tensors >> i & 1) == 0) continue;
    args[i] = Value(TensorBase(one_element(*next++)));
  }
  try {
    call_inner(*call.op, args, &results);
  } catch (const Error&) {
    return nullptr;  // it fails when it runs, if it does
  }
  const ValueLayout& made = call.made[0].layout;
  return constant(Tensor(results[0].to_tensor()).item(), made.dtype,
                  made.sizes(), made.strides());
}

}  // namespace sy::lazy
