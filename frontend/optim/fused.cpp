#include <algorithm>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "aten/engine/guard.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/optim/update.h"

// The calls of an update as one region.

namespace sy::optim {

namespace {

constexpr int kMaxOperands = 3;

// How an operator is called: the scalars after its tensors.
struct Shape {
  const PointwiseOp* op;
  int tensors;
};

const PointwiseOp* find(const char* name) {
  return node_desc(Dispatcher::singleton().find(name).value().entry())
      ->pointwise;
}

// Returns the shape of an Update::Op. Operators of the library stay.
const Shape& shape_of(Update::Op op) {
  static const Shape shapes[] = {
      {find("aten::lerp.Scalar"), 2},
      {find("aten::mul.Scalar"), 1},
      {find("aten::mul.Tensor"), 2},
      {find("aten::div.Tensor"), 2},
      {find("aten::add.Scalar"), 1},
      {find("aten::add.Tensor"), 2},
      {find("aten::addcmul"), 3},
      {find("aten::addcdiv"), 3},
      {find("aten::sqrt"), 1},
      {find("aten::clamp_min.Tensor"), 2},
      {nullptr, 1},
      {find("aten::neg"), 1},
      {find("aten::abs"), 1},
  };
  return shapes[op];
}

// A call with what its operator is given.
struct DescribedCall {
  const PointwiseOp* op;
  const ElementProgram* program = nullptr;
  Scalar scalars[2];
  PointwiseArgs args;

  DescribedCall(const Update::Call& c, const TensorBase* const* like)
      : op(shape_of(c.op).op), args{like, scalars} {
    scalars[0] = c.number.known();
    scalars[1] = 1.0;  // the alpha of add.Scalar
    if (op != nullptr) program = &select_program(*op, args);
  }
};

// Whether both are dense in the same way, so that they are rows of elements.
bool alike(const Tensor& a, const Tensor& b) {
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  if (x.dtype() != y.dtype() || x.sizes() != y.sizes()) return false;
  if (x.is_contiguous() && y.is_contiguous()) return true;
  return x.is_non_overlapping_and_dense() && x.strides() == y.strides();
}

DispatchKeySet keys_of(const Tensor& t) {
  return t.key_set() - DispatchKeySet(DispatchKey::Autograd);
}

bool may_fuse(const Bucket& b, ArrayRef<Update::Call> calls) {
  if (GradMode::is_enabled() || thread_state.capture != nullptr) return false;
  for (const Update::Call& c : calls) {
    if (c.number.is_tensor()) return false;
  }
  const DeviceType device = keys_of(b.params[0]).highest_backend();
  const DispatchKeySet keys = DispatchKeySet::dense(device);
  const auto plain = [&](const Tensor& t, const Tensor& param) {
    return keys_of(t) == keys && alike(t, param) && !t.is_inference();
  };
  for (size_t i = 0; i < b.params.size(); ++i) {
    const Tensor& param = b.params[i];
    if (!plain(param, param) || !plain(b.grads[i], param)) return false;
    // A region writes to nothing else that it reads.
    if (b.grads[i].is_alias_of(param)) return false;
    for (const std::vector<Tensor>& s : b.states) {
      if (!s.empty() && s[i].defined() && !plain(s[i], param)) return false;
    }
  }
  return region_engine(device) != nullptr;
}

const Tensor& tensor_of(const Bucket& b, int list, size_t i) {
  if (list == Update::kParam) return b.params[i];
  if (list == Update::kGrad) return b.grads[i];
  return b.states[static_cast<size_t>(list - 2)][i];
}

// Makes the region of the calls, if a backend takes it.
bool prepare(const Bucket& b, ArrayRef<Update::Call> calls,
             ArrayRef<DescribedCall> nodes, int kept, int lists,
             Bucket::Fused* to) {
  const ScalarType dtype = b.params[0].scalar_type();
  const int64_t open = kOpen, one = 1;
  RegionBuilder builder{IntArrayRef(open)};
  std::vector<int> value(static_cast<size_t>(lists), -1);
  std::vector<bool> written(static_cast<size_t>(lists));
  to->inputs.clear();
  to->outputs.clear();
  const auto at = [&](int list) -> int& {
    return value[static_cast<size_t>(list)];
  };
  for (const Update::Call& c : calls) {
    for (const int list : {c.x, c.a, c.b, c.out}) {
      if (list < 0 || list >= kept || at(list) >= 0) continue;
      at(list) = builder.input(dtype, IntArrayRef(one));
      to->inputs.push_back(list);
    }
  }
  const std::vector<int> inputs = value;
  for (size_t k = 0; k < calls.size(); ++k) {
    const Update::Call& c = calls[k];
    const int operands[kMaxOperands] = {at(c.x), c.a < 0 ? -1 : at(c.a),
                                        c.b < 0 ? -1 : at(c.b)};
    const auto n = static_cast<size_t>(shape_of(c.op).tensors);
    at(c.out) = nodes[k].op == nullptr
                    ? builder.cast(operands[0], dtype)
                    : builder.pointwise(*nodes[k].op, nodes[k].args,
                                        ArrayRef<int>(operands, n));
    written[static_cast<size_t>(c.out)] = true;
  }
  for (int list = 0; list < kept; ++list) {
    if (!written[static_cast<size_t>(list)]) continue;
    builder.output(at(list), dtype, IntArrayRef(one),
                   inputs[static_cast<size_t>(list)]);
    to->outputs.push_back(list);
  }
  const Region region = builder.region();
  RegionReason why;
  const DeviceType device = b.params[0].device().type();
  if (!region_engine(device)->supports(region, &why)) return false;
  to->handle = prepare_region(device, region);
  return true;
}

}  // namespace

bool Update::run_fused() {
  Bucket& b = bucket_;
  const CallScope in_call;
  if (b.differentiable || !may_fuse(b, calls_)) return false;
  const TensorBase* const like[kMaxOperands] = {&b.params[0], &b.params[0],
                                                &b.params[0]};
  std::vector<DescribedCall> nodes;
  nodes.reserve(calls_.size());
  std::vector<const void*> programs;
  std::vector<uint32_t> operands;
  for (const Call& c : calls_) {
    DescribedCall& n = nodes.emplace_back(c, like);
    // The arguments point into the node.
    n.args.scalars = n.scalars;
    programs.push_back(n.program);
    const auto byte = [](int v) { return static_cast<uint32_t>(v + 1); };
    operands.push_back(byte(c.out) | byte(c.x) << 8 | byte(c.a) << 16 |
                       byte(c.b) << 24);
  }
  Bucket::Fused& f = b.fused;
  if (f.programs != programs || f.calls != operands) {
    f.programs.clear();
    const int kept = 2 + static_cast<int>(b.states.size());
    if (!prepare(b, calls_, nodes, kept, lists_, &f)) return false;
    f.programs = std::move(programs);
    f.calls = std::move(operands);
  }
  const ScalarType dtype = b.params[0].scalar_type();
  std::vector<program::Uniform> uniforms;
  for (const DescribedCall& n : nodes) {
    if (n.op == nullptr) continue;
    const size_t first = uniforms.size();
    uniforms.resize(first + static_cast<size_t>(n.program->body.n_uniforms));
    eval_call_uniforms(*n.op, *n.program, n.args, dtype,
                       uniforms.data() + first);
  }
  std::vector<RegionMemory> memory(f.inputs.size() + f.outputs.size());
  RegionCall call;
  call.inputs = {memory.data(), f.inputs.size()};
  call.outputs = {memory.data() + f.inputs.size(), f.outputs.size()};
  call.uniforms = uniforms.data();
  call.n_uniforms = static_cast<int32_t>(uniforms.size());
  call.device = std::max<int32_t>(b.params[0].device().index(), 0);
  for (size_t i = 0; i < b.params.size(); ++i) {
    const int64_t numel = b.params[i].numel();
    if (numel == 0) continue;
    RegionMemory* to = memory.data();
    for (const std::vector<int>* lists : {&f.inputs, &f.outputs}) {
      for (const int list : *lists) {
        const Tensor& t = tensor_of(b, list, i);
        t.impl()->const_data("optim");
        *to++ = {t.raw_data(), nullptr, dtype, t.storage().get()};
      }
    }
    call.sizes = numel;
    f.handle.run(call);
    for (const int list : f.outputs) {
      bump_version(tensor_of(b, list, i), nullptr);
    }
  }
  return true;
}

}  // namespace sy::optim
