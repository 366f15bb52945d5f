#include "tools/sy/calls/device_arguments.h"

#include <utility>

#include "tools/sy/cases/tensors.h"

namespace sy::tools {

namespace {

constexpr OnHost kOnHost[] = {
    {.op = "aten::_pack_padded_sequence", .result = 1},  // of lengths
    {.op = "aten::_pad_packed_sequence", .result = 1},
    {.op = "aten::tensor_split.tensor_indices_or_sections", .argument = 1},
};

// Copies to a device: tensors of one storage share there, too.
class Mover {
 public:
  explicit Mover(Device device) : device_(device) {}
  TensorBase operator()(const TensorBase& t) {
    if (!t.defined()) return t;
    for (const auto& [from, to] : moved_) {
      if (from.dtype() != t.dtype() || !from.is_alias_of(t)) continue;
      return TensorBase(TensorImpl::make(to.storage(), t.dtype(), device_,
                                         DispatchKeySet::dense(device_.type()),
                                         t.sizes(), t.strides(),
                                         t.storage_offset()));
    }
    moved_.emplace_back(t, copy_to(device_, t));
    return moved_.back().second;
  }

 private:
  Device device_;
  std::vector<std::pair<TensorBase, TensorBase>> moved_;
};

Value moved(const Value& v, Device device, Mover& copy) {
  if (v.is_tensor()) return Value(copy(v.to_tensor()));
  if (v.tag() == Value::Tag::Device && v.to_device().is_cpu()) {
    return Value(device);
  }
  const bool optional = v.tag() == Value::Tag::OptionalTensorList;
  if (!optional && v.tag() != Value::Tag::TensorList) return v;
  std::vector<TensorBase> list;
  for (const TensorBase& t : v.to_tensor_list()) list.push_back(copy(t));
  return optional ? Value::optional_tensor_list(list.data(), list.size())
                  : Value::tensor_list(list.data(), list.size());
}

}  // namespace

OnHost on_host(OperatorHandle op) {
  for (const OnHost& h : kOnHost) {
    if (h.op == op.name()) return h;
  }
  return {};
}

std::vector<Value> moved(OperatorHandle op, const Arguments& in,
                         Device device) {
  const int stays = on_host(op).argument;
  Mover there(device), here{Device(kCPU)};
  std::vector<Value> out;
  for (size_t k = 0; k < in.values.size(); ++k) {
    const bool kept = static_cast<int>(k) == stays;
    out.push_back(kept ? moved(in.values[k], Device(kCPU), here)
                       : moved(in.values[k], device, there));
  }
  return out;
}

}  // namespace sy::tools
