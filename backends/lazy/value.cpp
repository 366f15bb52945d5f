#include "backends/lazy/value.h"

#include <algorithm>
#include <cstring>
#include <typeinfo>
#include <utility>

#include "aten/engine/copy.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/inner_stream.h"
#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy::lazy {

ValueLayout::ValueLayout(ScalarType t, IntArrayRef sizes, IntArrayRef strides,
                         int64_t first)
    : dtype(t), dim_(static_cast<uint8_t>(sizes.size())), offset(first) {
  int64_t* to = inline_;
  if (dim_ > kInline) {
    more_ = std::make_unique<int64_t[]>(size_t{2} * dim_);
    to = more_.get();
  }
  for (size_t d = 0; d < dim_; ++d) {
    to[d] = sizes[d];
    to[dim_ + d] = strides[d];
    // A later size may be 0.
    numel = static_cast<int64_t>(static_cast<uint64_t>(numel) *
                                 static_cast<uint64_t>(sizes[d]));
  }
}

bool ValueLayout::is_of(const TensorImpl& t, int64_t first) const {
  if (t.dtype() != dtype || t.sizes() != sizes()) return false;
  if (numel == 0) return true;
  if (first != offset) return false;
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (sizes()[d] != 1 && strides()[d] != t.strides()[d]) return false;
  }
  return true;
}

const ValueLayout& Operand::layout() const {
  return part ? *part : node->made[result].layout;
}

Tensor Operand::tensor() const {
  const Made& m = node->made[result];
  SY_INTERNAL_ASSERT(m.memory != nullptr);
  Tensor t = tensor_in(m.memory, layout());
  if (wrapped_number) t.impl()->set_wrapped_number(true);
  return t;
}

void LazyNode::drop_operands() noexcept {
  if (!released) release_uses();
  operands.clear();
}

namespace {

// Dead calls of this thread that have not given up yet what they own.
struct DeadCalls {
  bool busy = false;
  LazyNode* first = nullptr;
};
constinit thread_local DeadCalls dead_calls;

}  // namespace

// A chain of calls goes one by one, not by recursion.
void LazyNode::release_resources() noexcept {
  using Access = RefCountedAccess<LazyNode>;
  DeadCalls& dead = dead_calls;
  if (dead.busy) {
    Access::retain_weak(this);
    next_dead = std::exchange(dead.first, this);
    return;
  }
  dead.busy = true;
  drop();
  while (LazyNode* const n = dead.first) {
    dead.first = n->next_dead;
    n->drop();
    Access::release_weak(n);
  }
  dead.busy = false;
}

void LazyNode::drop() noexcept {
  drop_operands();
  args.clear();
  for (Made& m : made) m.memory.reset();
}

void LazyNode::release_uses() noexcept {
  for (const Operand& o : operands) --o.node->made[o.result].uses;
  released = true;
}

void LazyNode::take_uses_back() noexcept {
  for (const Operand& o : operands) ++o.node->made[o.result].uses;
  released = false;
}

void LazyNode::add_operand(Operand o) {
  ++o.node->made[o.result].uses;
  operands.push_back(std::move(o));
}

const char* LazyNode::name() const {
  switch (kind) {
    case kData: return "data";
    case kEmpty: return "empty";
    case kWrite: return "write";
    default: return op->name().data();
  }
}

RecursiveForkMutex& graph_mutex() {
  static auto* m = new RecursiveForkMutex;  // leaked: storages may outlive
  return *m;
}

Device inner_device() {
  const ForkSection section;
  static const Device d = [] {
    const char* const name = environment("SWITCHYARD_LAZY_DEVICE");
    Device chosen(kCPU);
    try {
      if (name != nullptr && *name != '\0') chosen = Device(name);
    } catch (Error& e) {
      e.add_prefix("SWITCHYARD_LAZY_DEVICE: ");
      throw;
    }
    SY_CHECK(!chosen.is_lazy() && !chosen.is_meta(), Value,
             "SWITCHYARD_LAZY_DEVICE: expected a device that computes, got {}",
             chosen);
    return with_index(chosen);
  }();
  return d;
}

Device lazy_device() { return Device(kLazy, 0); }

// ---- the payload

LazyValue::LazyValue(intrusive_ptr<LazyNode> n, uint16_t r)
    : StoragePayload(kLazy), node(std::move(n)), result(r) {
  ++node->made[result].holders;
}

LazyValue::~LazyValue() { --node->made[result].holders; }

LazyValue* LazyValue::of(const StorageImpl& s) noexcept {
  StoragePayload* const p = s.payload();
  return p != nullptr && typeid(*p) == typeid(LazyValue)
             ? static_cast<LazyValue*>(p)
             : nullptr;
}

const char* LazyValue::describe() const noexcept {
  return node->state == LazyNode::kDone
             ? "the lazy result of a call that has run"
             : "the lazy result of a recorded call";
}

void LazyValue::materialize(StorageImpl& storage) {
  const intrusive_ptr<LazyNode> keep = node;
  compute(*keep, Cause::kPointer, nullptr);
  const Made& m = keep->made[result];
  Storage copy = StorageImpl::allocate(storage.nbytes(), storage.device());
  // A storage that was resized has more bytes than the value, or less.
  const size_t bytes = std::min(storage.nbytes(), m.layout.bytes());
  if (bytes != 0) {
    device_interface(kLazy).copy_on_device(copy->data(), m.memory->data(),
                                           bytes, 0);
  }
  storage.take_memory(std::move(copy));
}

LazyValue* value_of(const StorageImpl& s) noexcept {
  LazyValue* const value = LazyValue::of(s);
  if (value == nullptr || s.data_acquire() != nullptr) return nullptr;
  const ValueLayout& l = value->node->made[value->result].layout;
  return s.nbytes() == l.bytes() ? value : nullptr;  // it was resized
}

// ---- tensors and values

bool is_lazy(const TensorBase& t) {
  return t.defined() && t.device().is_lazy();
}

bool is_recorded(const TensorBase& t) {
  const Capture* const capture = Capture::current();
  return capture != nullptr ? capture->takes(t) : is_lazy(t);
}

bool fills_storage(const TensorBase& t) {
  return t.storage_offset() == 0 && t.impl()->is_non_overlapping_and_dense() &&
         static_cast<size_t>(t.numel()) * t.itemsize() == t.storage()->nbytes();
}

void end_piece_to_see(const TensorBase& t) {
  Capture* const capture = Capture::current();
  if (capture != nullptr) capture->end_piece_to_see(t);
}

bool is_whole(const TensorBase& t) {
  const Capture* const capture = Capture::current();
  return capture != nullptr ? capture->is_whole(t) : fills_storage(t);
}

bool is_exposed(const StorageImpl& s) {
  return Capture::current() == nullptr && s.data_acquire() != nullptr &&
         s.is_handed_out();
}

graph::Layout view_of(const ValueLayout& l) {
  return {l.dtype, l.sizes(), l.strides(), l.offset};
}

Tensor tensor_in(const Storage& memory, const ValueLayout& layout) {
  return graph::tensor_in(memory, view_of(layout));
}

intrusive_ptr<LazyNode> data_node(ValueLayout layout) {
  auto node = make_intrusive<LazyNode>(LazyNode::kData, nullptr);
  node->state = LazyNode::kDone;
  node->made.emplace_back(std::move(layout));
  return node;
}

Storage part_of_memory(Storage s, void* data, size_t bytes, Device device) {
  if (data == s->data() && bytes == s->nbytes() && device == s->device()) {
    return s;
  }
  return StorageImpl::adopt(
      data, bytes, device,
      [](void* p) { Storage::reclaim(static_cast<StorageImpl*>(p)); },
      s.release());
}

intrusive_ptr<LazyNode> data_of(const Tensor& inner) {
  intrusive_ptr<LazyNode> node = data_node(
      ValueLayout(inner.scalar_type(), inner.sizes(), inner.strides()));
  node->made[0].memory = inner.storage();
  return node;
}

Tensor copied_to_inner(const TensorBase& t) {
  const InnerStream stream;
  return copied_to(inner_device(), t);
}

Tensor copied_to(Device device, const TensorBase& t) {
  Tensor copy{TensorBase(TensorImpl::make(
      StorageImpl::allocate(static_cast<size_t>(t.numel()) * t.itemsize(),
                            device),
      t.dtype(), device, DispatchKeySet::dense(device.type()), t.sizes()))};
  copy_between(copy, t);
  return copy;
}

namespace {

// The value of a storage that was resized before it had memory: its elements
// as far as both reach.
intrusive_ptr<LazyNode> resized_value(StorageImpl& s, size_t bytes) {
  LazyValue* const value = LazyValue::of(s);
  SY_CHECK(value != nullptr, Value,
           "[lazy] expected a tensor with elements, got one without memory");
  const ValueLayout& old = value->node->made[value->result].layout;
  const auto itemsize = element_size(old.dtype);
  const int64_t one = 1, all = static_cast<int64_t>(bytes / itemsize);
  const int64_t kept = std::min(all, old.numel);
  const auto part = [&](int64_t n) {
    return ValueLayout(old.dtype, {&n, 1}, {&one, 1});
  };
  auto empty = make_intrusive<LazyNode>(LazyNode::kEmpty, nullptr);
  empty->made.emplace_back(part(all));
  add_recorded(empty);
  auto node = make_intrusive<LazyNode>(LazyNode::kWrite, nullptr);
  node->made.emplace_back(part(all));
  node->window = std::make_unique<ValueLayout>(part(kept));
  Operand base, from;
  base.node = empty;
  from.node = value->node;
  from.result = value->result;
  from.part = std::make_unique<ValueLayout>(part(kept));
  node->add_operand(std::move(base));
  node->add_operand(std::move(from));
  add_recorded(node);
  s.set_payload(make_intrusive<LazyValue>(node, uint16_t{0}));
  return node;
}

}  // namespace

// The memory that a storage has of its own, as a value.
intrusive_ptr<LazyNode> value_of_memory(const TensorBase& t) {
  StorageImpl& s = *t.storage();
  const auto n = static_cast<int64_t>(s.nbytes() / t.itemsize());
  const int64_t one = 1;
  const ValueLayout flat(t.dtype(), {&n, 1}, {&one, 1});
  if (s.is_handed_out()) {
    const TensorBase all(TensorImpl::make(
        t.storage(), t.dtype(), t.device(),
        DispatchKeySet::dense(t.device().type()), {&n, 1}, {&one, 1}, 0));
    return data_of(copied_to_inner(all));
  }
  if (s.data_acquire() == nullptr) return resized_value(s, n * t.itemsize());
  Storage own = s.give_memory();
  void* const data = own->data();
  auto node = data_of(tensor_in(
      part_of_memory(std::move(own), data,
                     static_cast<size_t>(n) * t.itemsize(), inner_device()),
      flat));
  s.set_payload(make_intrusive<LazyValue>(node, uint16_t{0}));
  return node;
}

namespace {

// `first`: where the value begins in the storage of `t`, in elements.
Operand part_of(intrusive_ptr<LazyNode> node, uint16_t result,
                const TensorBase& t, int64_t first = 0) {
  Operand o;
  const int64_t offset = t.numel() == 0 ? 0 : t.storage_offset() - first;
  if (!node->made[result].layout.is_of(*t.impl(), offset)) {
    o.part = std::make_unique<ValueLayout>(t.dtype(), t.sizes(), t.strides(),
                                           offset);
  }
  o.node = std::move(node);
  o.result = result;
  return o;
}

}  // namespace

Operand operand_of(const TensorBase& t) {
  Operand o;
  Capture* const capture = Capture::current();
  if (capture != nullptr && capture->takes(t)) {
    capture->end_piece_to_see(t);
    const Capture::ValuePart part = capture->value_of(t);
    o = part_of(part.value->node, part.value->result, t, part.offset);
  } else if (capture != nullptr) {
    capture->reads_elsewhere(t);
    const PlainModes modes;
    o.node = data_of(copied_to(capture->device(), t));
  } else if (!is_lazy(t)) {
    // A number made into a tensor, or an argument that may lie on the CPU.
    o.node = data_of(copied_to_inner(t));
  } else {
    LazyValue* const value = value_of(*t.storage());
    if (value != nullptr) {
      o = part_of(value->node, value->result, t);
    } else if (t.storage()->nbytes() == 0) {
      o.node = data_of(copied_to_inner(t));
    } else {
      o = part_of(value_of_memory(t), 0, t);
    }
  }
  o.wrapped_number = t.impl()->is_wrapped_number();
  return o;
}

Tensor tensor_of(const intrusive_ptr<LazyNode>& node, uint16_t result) {
  const ValueLayout& l = node->made[result].layout;
  const Device device = recorded_device();
  Storage s = StorageImpl::without_data(l.bytes(), device);
  s->set_payload(make_intrusive<LazyValue>(node, result));
  if (Capture* const capture = Capture::current()) capture->made(s);
  return Tensor(TensorImpl::make(std::move(s), l.dtype, device,
                                 DispatchKeySet::dense(device.type()),
                                 l.sizes(), l.strides(), 0));
}

void give_value(const TensorBase& t, const intrusive_ptr<LazyNode>& node,
                uint16_t result) {
  if (Capture* const capture = Capture::current()) {
    return capture->give(t, node, result);
  }
  StorageImpl& s = *t.storage();
  if (s.data_acquire() != nullptr) s.give_memory();
  s.set_payload(make_intrusive<LazyValue>(node, result));
}

}  // namespace sy::lazy
