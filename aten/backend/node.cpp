#include "aten/backend/node.h"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

#include "c10/dispatch/thread_state.h"
#include "c10/schema/function_schema.h"

namespace sy {

namespace {

// An argument of the functional form.
struct Arguments {
  const Value* args;
  const int* positions;

  const Value& operator[](int i) const {
    return args[positions == nullptr ? i : positions[i]];
  }
};

// Tensors on Meta in the place of others: one for each, over one storage where
// theirs is one.
class Stand {
 public:
  Value in(const Value& v) {
    if (v.is_tensor()) return Value(in(v.to_tensor()));
    if (v.tag() == Value::Tag::Device) return Value(Device(kMeta));
    const bool optional = v.tag() == Value::Tag::OptionalTensorList;
    if (!optional && v.tag() != Value::Tag::TensorList) return v;
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) list.push_back(in(t));
    return optional ? Value::optional_tensor_list(list.data(), list.size())
                    : Value::tensor_list(list.data(), list.size());
  }

 private:
  struct Pair {
    TensorBase from, to;
  };

  TensorBase in(const TensorBase& t) {
    if (!t.defined()) return t;
    if (const Pair* const known = find(t.impl())) return known->to;
    const Pair* const shared = t.storage() ? find(t.storage().get()) : nullptr;
    Storage storage =
        shared != nullptr
            ? shared->to.storage()
            : StorageImpl::allocate(t.storage() ? t.storage()->nbytes() : 0,
                                    Device(kMeta));
    TensorBase to(TensorImpl::make(std::move(storage), t.dtype(), Device(kMeta),
                                   DispatchKeySet::dense(kMeta), t.sizes(),
                                   t.strides(), t.storage_offset()));
    to.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
    pairs_.push_back({t, to});
    if (pairs_.size() > kFew) index();
    return to;
  }

  // The first with this tensor, or with this storage.
  const Pair* find(const void* of) const {
    for (size_t i = 0; i < std::min(pairs_.size(), kFew); ++i) {
      const TensorBase& t = pairs_[i].from;
      if (t.impl() == of || t.storage().get() == of) return &pairs_[i];
    }
    const auto at = later_.find(of);
    return at == later_.end() ? nullptr : &pairs_[at->second];
  }
  void index() {
    const size_t last = pairs_.size() - 1;
    const TensorBase& t = pairs_[last].from;
    later_.emplace(t.impl(), last);
    if (t.storage()) later_.emplace(t.storage().get(), last);
  }

  // These are searched one by one, later ones by their address.
  static constexpr size_t kFew = 16;
  std::vector<Pair> pairs_;
  std::unordered_map<const void*, size_t> later_;
};

}  // namespace

std::vector<Value> infer_results(OperatorHandle op, const Value* args,
                                 size_t n) {
  Stand stand;
  std::vector<Value> own;
  own.reserve(n);
  for (size_t i = 0; i < n; ++i) own.push_back(stand.in(args[i]));
  std::vector<Value> results(op.schema().returns().size());
  const AutoDispatchBelowAutograd no_tape;
  op.call_boxed(own.data(), n, results.data(), results.size());
  return results;
}

Scalar read_scalar(NodeScalar::Kind kind, const char* text, const Value& v) {
  if (kind == NodeScalar::kHasValue) return !v.is_none();
  if (kind == NodeScalar::kEquals) {
    return !v.is_none() && v.to_string_view() == text;
  }
  if (v.is_none()) return {};
  switch (kind) {
    case NodeScalar::kInt: return v.to_int();
    case NodeScalar::kFloat: return v.to_double();
    case NodeScalar::kBool: return v.to_bool();
    default: return v.to_scalar();
  }
}

PointwiseNode::PointwiseNode(const NodeDesc& node, const Value* args,
                             const int* positions)
    : node_(node) {
  const Arguments in{args, positions};
  SY_INTERNAL_ASSERT(node.pointwise != nullptr && node.n_inputs <= kMaxInputs &&
                     node.n_scalars <= kMaxScalars);
  for (int i = 0; i < node.n_inputs; ++i) {
    inputs_[i] = &in[node.inputs[i]].to_tensor();
  }
  for (int i = 0; i < node.n_scalars; ++i) {
    const NodeScalar& s = node.scalars[i];
    const Value& v = in[s.argument];
    new (&room_.scalars[i]) Scalar(read_scalar(s.kind, s.text, v));
    if (s.kind < NodeScalar::kHasValue && v.is_none()) absent_ |= 1u << i;
  }
}

ReduceNode::ReduceNode(const NodeDesc& node, const Value* args,
                       const int* positions)
    : node_(node) {
  const Arguments in{args, positions};
  SY_INTERNAL_ASSERT(node.reduce != nullptr && node.n_scalars <= kMaxScalars);
  args_.self = &in[node.inputs[0]].to_tensor();
  if (node.dim != NodeDesc::kNone) {
    const Value& dim = in[node.dim];
    if (dim.is_int()) {
      dim_ = dim.to_int();
      args_.dims = IntArrayRef(dim_);
    } else if (!dim.is_none()) {
      args_.dims = dim.to_int_list();
    }
  }
  if (node.keepdim != NodeDesc::kNone) {
    args_.keepdim = in[node.keepdim].to_bool();
  }
  if (node.dtype != NodeDesc::kNone && !in[node.dtype].is_none()) {
    args_.dtype = in[node.dtype].to_scalar_type();
  }
  for (int i = 0; i < node.n_scalars; ++i) {
    const NodeScalar& s = node.scalars[i];
    new (&room_.scalars[i]) Scalar(read_scalar(s.kind, s.text, in[s.argument]));
  }
  args_.scalars = room_.scalars;
}

ScanArgs scan_node(const NodeDesc& node, const Value* args) {
  SY_INTERNAL_ASSERT(node.scan != nullptr);
  ScanArgs out{&args[node.inputs[0]].to_tensor()};
  if (node.dim != NodeDesc::kNone) out.dim = args[node.dim].to_int();
  if (node.dtype != NodeDesc::kNone && !args[node.dtype].is_none()) {
    out.dtype = args[node.dtype].to_scalar_type();
  }
  return out;
}

}  // namespace sy
