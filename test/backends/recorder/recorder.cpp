#include "test/backends/recorder/recorder.h"

#include <sy/library.h>

#include <cstring>

#include "aten/backend/node.h"
#include "aten/backend/write_plan.h"
#include "aten/from_blob.h"
#include "aten/ops/copy.h"
#include "aten/tensor_new.h"
#include "c10/schema/function_schema.h"

namespace recorder {

using sy::DispatchKeySet;
using sy::Storage;
using sy::StorageImpl;
using sy::TensorImpl;

namespace {

// Memory of the device is that of the host.
class Devices final : public sy::DeviceInterface, public sy::Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void* allocate(size_t n) override { return sy::cpu_allocator().allocate(n); }
  void deallocate(void* p, size_t n) noexcept override {
    sy::cpu_allocator().deallocate(p, n);
  }
  void copy_from_host(void* to, const void* from, size_t n, int) override {
    std::memcpy(to, from, n);
  }
  void copy_to_host(void* to, const void* from, size_t n, int) override {
    std::memcpy(to, from, n);
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    std::memmove(to, from, n);
  }
};

Devices& devices() {
  static auto* d = new Devices;  // leaked: storages may outlive the library
  return *d;
}

}  // namespace

std::recursive_mutex& mutex() {
  static auto* m = new std::recursive_mutex;
  return *m;
}
Counts& counts() {
  static auto* c = new Counts;
  return *c;
}
sy::Device device() {
  static const sy::Device d("recorder");
  return d;
}

Recorded::Recorded(sy::intrusive_ptr<Node> n)
    : StoragePayload(device().type()), node(std::move(n)) {}

void Recorded::materialize(StorageImpl& storage) {
  const std::lock_guard lock(mutex());
  compute(*node);
  storage.take_memory(node->value);
}

Node* node_of(const TensorBase& t) {
  if (!t.defined() || t.device() != device()) return nullptr;
  auto* const payload = dynamic_cast<Recorded*>(t.storage()->payload());
  return payload == nullptr ? nullptr : payload->node.get();
}

Tensor tensor_of(sy::intrusive_ptr<Node> node) {
  int64_t bytes = static_cast<int64_t>(sy::element_size(node->dtype));
  for (const int64_t s : node->sizes) bytes *= s;
  Storage s = StorageImpl::without_data(static_cast<size_t>(bytes), device());
  const sy::ScalarType dtype = node->dtype;
  const std::vector<int64_t> sizes = node->sizes;
  s->set_payload(sy::make_intrusive<Recorded>(std::move(node)));
  return Tensor(TensorImpl::make(std::move(s), dtype, device(),
                                 DispatchKeySet::dense(device().type()),
                                 sizes));
}

sy::intrusive_ptr<Node> computed_node(const Tensor& cpu) {
  auto node = sy::make_intrusive<Node>();
  auto* const dense = new Tensor(cpu.contiguous());
  node->sizes = dense->sizes().vec();
  node->dtype = dense->scalar_type();
  node->value = StorageImpl::adopt(
      static_cast<char*>(const_cast<void*>(dense->const_data_ptr())),
      dense->nbytes(), device(),
      [](void* t) { delete static_cast<Tensor*>(t); }, dense);
  return node;
}

Tensor on_cpu(const TensorBase& t) {
  Node* const node = node_of(t);
  if (node == nullptr) return Tensor(t);
  compute(*node);
  const auto offset = static_cast<size_t>(t.storage_offset()) * t.itemsize();
  return sy::from_blob(
      static_cast<char*>(node->value->data()) + offset, t.sizes(), t.strides(),
      [keep = node->value](void*) {}, sy::TensorOptions(t.scalar_type()));
}

namespace {

// The value with f(t) in place of each tensor t.
template <class F>
Value with_tensors(const Value& v, F f) {
  if (v.is_tensor()) return Value(TensorBase(f(v.to_tensor())));
  const bool optional = v.tag() == Value::Tag::OptionalTensorList;
  if (v.tag() != Value::Tag::TensorList && !optional) return v;
  std::vector<TensorBase> list;
  for (const TensorBase& t : v.to_tensor_list()) {
    list.push_back(t.defined() ? TensorBase(f(t)) : t);
  }
  return optional ? Value::optional_tensor_list(list.data(), list.size())
                  : Value::tensor_list(list.data(), list.size());
}

}  // namespace

Value on_cpu(const Value& v) {
  if (v.tag() == Value::Tag::Device) return Value(sy::Device(sy::kCPU));
  return with_tensors(v, [](const TensorBase& t) { return on_cpu(t); });
}

void compute_on_cpu(Call& call) {
  std::vector<Value> args, results(call.outputs.size());
  for (const Value& v : call.args) args.push_back(on_cpu(v));
  ++counts().on_cpu;
  sy::OperatorHandle(call.op).call_boxed(args.data(), args.size(),
                                         results.data(), results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (call.outputs[i] == nullptr || !results[i].is_tensor()) continue;
    call.outputs[i]->value =
        computed_node(Tensor(results[i].to_tensor()))->value;
  }
}

namespace {

bool any_tensor(const Value* args, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (args[i].is_tensor() && node_of(args[i].to_tensor()) != nullptr) {
      return true;
    }
    if (args[i].tag() == Value::Tag::TensorList) return true;
  }
  return false;
}

// The part of a node's value that lies so.
TensorBase part_of(Node& node, sy::ScalarType dtype, sy::IntArrayRef sizes,
                   sy::IntArrayRef strides, int64_t offset) {
  const Tensor all = tensor_of(sy::intrusive_ptr<Node>::retain(&node));
  auto part = all.impl()->alias(sizes, strides, offset);
  part->set_dtype(dtype);
  return TensorBase(std::move(part));
}

// The tensor as it is now: its storage may have another value later.
TensorBase as_it_is(const TensorBase& t) {
  Node* const node = node_of(t);
  if (node == nullptr) return t;
  return part_of(*node, t.scalar_type(), t.sizes(), t.strides(),
                 t.storage_offset());
}

void record_call(const sy::OperatorEntry& op, const Value* args,
                 size_t num_args, Value* results, size_t num_results) {
  auto call = sy::make_intrusive<Call>();
  call->op = &op;
  for (size_t i = 0; i < num_args; ++i) {
    call->args.push_back(with_tensors(args[i], as_it_is));
  }
  call->outputs.resize(num_results);
  std::vector<Value> shapes;
  bool later = any_tensor(args, num_args);
  try {
    if (later)
      shapes = sy::infer_results(sy::OperatorHandle(&op), args, num_args);
  } catch (const sy::NotImplementedError&) {
    later = false;  // what it gives depends on data
  }
  for (const Value& v : shapes) later &= v.is_tensor();
  if (!later) {
    // At once: numbers, and tensors made of nothing.
    for (Value& v : call->args) v = on_cpu(v);
    ++counts().on_cpu;
    sy::OperatorHandle(&op).call_boxed(call->args.data(), num_args, results,
                                       num_results);
    for (size_t i = 0; i < num_results; ++i) {
      if (!results[i].is_tensor()) continue;
      results[i] = Value(
          TensorBase(tensor_of(computed_node(Tensor(results[i].to_tensor())))));
    }
    return;
  }
  ++counts().recorded;
  for (size_t i = 0; i < num_results; ++i) {
    auto node = sy::make_intrusive<Node>();
    node->call = call;
    node->output = i;
    node->sizes = shapes[i].to_tensor().sizes().vec();
    node->dtype = shapes[i].to_tensor().scalar_type();
    call->outputs[i] = node.get();
    results[i] = Value(TensorBase(tensor_of(std::move(node))));
  }
}

// Every operator that makes no view and writes nothing.
void record(const sy::Kernel&, const sy::OperatorEntry& op, DispatchKeySet,
            Value* args, size_t num_args, Value* results, size_t num_results) {
  const std::lock_guard lock(mutex());
  record_call(op, args, num_args, results, num_results);
}

// Gives the storage of `t`, and so all its views, another value: `fresh`, which
// has the sizes of `t`, where `t` lies, and the old elements elsewhere.
void write(const TensorBase& t, Value fresh) {
  constexpr int64_t kOne = 1;
  Node& node = *node_of(t);
  int64_t n = 1;
  for (const int64_t s : node.sizes) n *= s;
  const bool whole = t.numel() == n && t.is_contiguous();
  if (!whole) {
    static const sy::OperatorEntry& scatter =
        sy::Dispatcher::singleton().find_or_throw("as_strided_scatter").entry();
    const Value args[] = {
        Value(part_of(node, node.dtype, {&n, 1}, {&kOne, 1}, 0)), fresh,
        Value(t.sizes()), Value(t.strides()), Value(t.storage_offset())};
    record_call(scatter, args, std::size(args), &fresh, 1);
  }
  StorageImpl& storage = *t.storage();
  if (storage.data_acquire() != nullptr) storage.give_memory();
  storage.set_payload(sy::make_intrusive<Recorded>(
      sy::intrusive_ptr<Node>::retain(node_of(fresh.to_tensor()))));
}

// Operators that write one tensor: the functional operator is recorded.
void record_write(const sy::Kernel&, const sy::OperatorEntry& op,
                  DispatchKeySet, Value* args, size_t, Value* results,
                  size_t num_results) {
  const sy::WritePlan& plan = sy::write_plan(op);
  const bool one = plan.kind == sy::WritePlan::kFunctional &&
                   plan.written.size() == 1 &&
                   args[plan.written[0]].is_tensor();
  SY_CHECK(one, NotImplemented,
           "{}: 'recorder' writes one tensor, with a functional operator",
           op.name());
  const TensorBase t = args[plan.written[0]].to_tensor();
  const std::lock_guard lock(mutex());
  const std::vector<Value> pure = sy::functional_arguments(plan, args);
  Value fresh;
  record_call(*plan.functional, pure.data(), pure.size(), &fresh, 1);
  const Node& node = *node_of(fresh.to_tensor());
  SY_CHECK(t.sizes() == sy::IntArrayRef(node.sizes) &&
               t.scalar_type() == node.dtype && node_of(t) != nullptr &&
               node_of(t)->dtype == node.dtype,
           NotImplemented, "{}: 'recorder' neither resizes nor converts",
           op.name());
  write(t, std::move(fresh));
  if (num_results == 1) results[0] = Value(t);
}

Tensor lift(const Tensor& t) { return tensor_of(computed_node(t.clone())); }

Tensor value(const Tensor& t) {
  const std::lock_guard lock(mutex());
  return on_cpu(t).clone();
}

Tensor count() {
  const std::lock_guard lock(mutex());
  const Counts c = counts();
  counts() = Counts();
  return sy::tensor({c.recorded, c.regions, c.in_regions, c.on_cpu, c.largest});
}

}  // namespace

SY_BACKEND(Recorder, m) { m.device("recorder", &devices()); }

// Views are made of metadata alone, as on any backend: they share the storage,
// and the node with it. So a write to one is seen by all. All else is recorded
// before it is taken apart.
SY_LIBRARY_IMPL(aten, Recorder, m) {
  for (const sy::OperatorHandle op : sy::Dispatcher::singleton().operators()) {
    const std::string_view name = op.name();
    if (!name.starts_with("aten::") ||
        op.entry().has_flag(sy::OperatorDef::kAliases) ||
        op.entry().has_flag(sy::OperatorDef::kGeometry)) {
      continue;
    }
    const bool writes = op.entry().has_flag(sy::OperatorDef::kWrites);
    m.impl(name, sy::Kernel::from_boxed(writes ? &record_write : &record));
  }
}
SY_LIBRARY_IMPL(_, Recorder, m) { m.fallback(sy::Kernel::from_boxed(&record)); }

SY_LIBRARY(recorder, m) {
  // A tensor of the backend with the elements of one of the CPU, and back.
  m.def("lift(Tensor t) -> Tensor", SY_FN(lift));
  m.def("value(Tensor t) -> Tensor", SY_FN(value));
  // Since the last call: calls recorded, regions run, calls in them, calls run
  // on the CPU one by one, the most calls of a region.
  m.def("counts() -> Tensor", SY_FN(count));
}

}  // namespace recorder
