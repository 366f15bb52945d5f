#include "aten/backend/cpu_fallback.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "aten/backend/write_plan.h"
#include "aten/engine/copy.h"
#include "c10/device/backend.h"
#include "c10/process/fork.h"
#include "c10/schema/function_schema.h"

namespace sy {

namespace {

// Leaked: calls may come while statics are destroyed.
struct Counters {
  ForkMutex mutex;
  std::unordered_map<const OperatorEntry*, int64_t> calls;
};
Counters& counters() {
  static auto* c = new Counters;
  return *c;
}

thread_local int composed_calls = 0;

// The alignment of spans of storages, so that tensors of any dtype start at a
// whole element of the copy.
constexpr size_t kAlign = 64;

// The copy of one device storage, as far as the arguments reach.
struct HostStorage {
  TensorBase owner;  // one of the tensors over it
  size_t first = 0, end = 0;
  Storage host;
};

struct HostTensor {
  TensorBase device;
  TensorBase host;
};

class Fallback {
 public:
  Fallback(const OperatorEntry& op, const Value* args, size_t n)
      : op_(op), args_(args, args + n) {
    for (const Value& v : args_)
      for_each_tensor(v, [&](const TensorBase& t) {
        if (is_foreign(t)) span_of(t);
      });
    for (HostStorage& s : storages_) download(&s);
    for (Value& v : args_) v = to_host(v);
    keep_optional();
  }

  void call(Value* results, size_t n) {
    OperatorHandle(&op_).redispatch_boxed(
        DispatchKeySet::dense(kCPU), args_.data(), args_.size(), results, n);
  }

  void write_back() {
    const auto arguments = op_.schema().arguments();
    for (size_t i = 0; i < arguments.size() && i < args_.size(); ++i) {
      if (!arguments[i].is_write()) continue;
      for_each_tensor(args_[i], [&](const TensorBase& host) {
        for (HostTensor& t : tensors_) {
          if (t.host.is_same(host)) upload(t);
        }
      });
    }
    for (const Kept& k : kept_) {
      if (bytes_of(k.tensor) == k.bytes) continue;
      for (HostTensor& t : tensors_) {
        if (t.host.is_same(k.tensor)) upload(t);
      }
    }
    for (const auto& [device, host] : generators_) {
      device->set_offset(host->offset());
    }
  }

  Value to_device_value(const Value& v) const {
    if (v.is_tensor()) return Value(to_device_tensor(v.to_tensor()));
    if (v.tag() != Value::Tag::TensorList) return v;
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) {
      list.push_back(t.defined() ? to_device_tensor(t) : t);
    }
    return Value::tensor_list(list.data(), list.size());
  }

 private:
  // A tensor as it was before the call that may write it without saying so in
  // the signature: running statistics of batch norms, what _copy_from copies
  // to.
  struct Kept {
    TensorBase tensor;
    std::string bytes;
  };

  static std::string bytes_of(const TensorBase& t) {
    const StorageSpan span = storage_span(t);
    if (span.bytes == 0) return {};
    return {static_cast<const char*>(t.storage()->data()) + span.first,
            span.bytes};
  }

  void keep_optional() {
    const auto arguments = op_.schema().arguments();
    for (size_t i = 0; i < arguments.size() && i < args_.size(); ++i) {
      const Argument& a = arguments[i];
      const auto& written = write_plan(op_).written;
      const bool may_be =
          a.type.is_optional() ||
          std::find(written.begin(), written.end(), i) != written.end();
      if (!may_be || a.is_write() || !args_[i].is_tensor()) continue;
      kept_.push_back({args_[i].to_tensor(), bytes_of(args_[i].to_tensor())});
    }
  }

  static bool is_foreign(const TensorBase& t) {
    return t.defined() && !t.is_cpu();
  }

  HostStorage* find(const Storage& device) {
    for (HostStorage& s : storages_) {
      if (s.owner.storage() == device) return &s;
    }
    return nullptr;
  }

  void span_of(const TensorBase& t) {
    SY_CHECK(!t.is_meta(), Value, "[{}] expected tensors with data, got {}",
             op_.name(), describe(t));
    if (!has_device_) {
      has_device_ = true;
      device_ = t.device();
    }
    const StorageSpan span = storage_span(t);
    const size_t first = span.first / kAlign * kAlign;
    const size_t end = span.first + span.bytes;
    if (HostStorage* s = find(t.storage())) {
      if (span.bytes == 0) return;
      s->first = s->end == 0 ? first : std::min(s->first, first);
      s->end = std::max(s->end, end);
      return;
    }
    storages_.push_back(
        {t, span.bytes == 0 ? 0 : first, span.bytes == 0 ? 0 : end, nullptr});
  }

  void download(HostStorage* s) const {
    const Device device = s->owner.device();
    s->host = StorageImpl::allocate(s->end - s->first, Device(kCPU));
    if (s->end == s->first) return;
    const auto* const data = static_cast<const char*>(
        s->owner.storage()->const_data(op_.name().data()));
    DeviceInterface& d = device_interface(device.type());
    d.synchronize(device.index());
    d.copy_to_host(s->host->data(), data + s->first, s->end - s->first,
                   device.index());
  }

  TensorBase host_tensor(const TensorBase& t) {
    if (!is_foreign(t)) return t;
    for (const HostTensor& h : tensors_) {
      if (h.device.is_same(t)) return h.host;
    }
    const HostStorage& s = *find(t.storage());
    const int64_t offset =
        t.numel() == 0
            ? 0
            : t.storage_offset() - static_cast<int64_t>(s.first / t.itemsize());
    TensorBase host(TensorImpl::make(s.host, t.dtype(), Device(kCPU),
                                     DispatchKeySet::dense(kCPU), t.sizes(),
                                     t.strides(), offset));
    host.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
    tensors_.push_back({t, host});
    return host;
  }

  Value to_host(const Value& v) {
    switch (v.tag()) {
      case Value::Tag::Tensor: return Value(host_tensor(v.to_tensor()));
      case Value::Tag::TensorList:
      case Value::Tag::OptionalTensorList: {
        std::vector<TensorBase> list;
        for (const TensorBase& t : v.to_tensor_list()) {
          list.push_back(host_tensor(t));
        }
        return v.tag() == Value::Tag::TensorList
                   ? Value::tensor_list(list.data(), list.size())
                   : Value::optional_tensor_list(list.data(), list.size());
      }
      case Value::Tag::Device: {
        const Device d = v.to_device();
        if (d.is_cpu()) {
          results_stay_ = true;
        } else if (!has_device_) {
          has_device_ = true;
          device_ = d;
        }
        return Value(Device(kCPU));
      }
      case Value::Tag::Generator: {
        const Generator g = v.to_generator();
        if (g->device().is_cpu()) return v;
        Generator host = make_generator(g->seed());
        host->set_offset(g->offset());
        generators_.emplace_back(g, host);
        return Value(std::move(host));
      }
      default: return v;
    }
  }

  void upload(const HostTensor& t) {
    TensorImpl* const device = t.device.impl();
    // The operator may have given an out= argument other sizes and strides.
    if (t.host.sizes() != t.device.sizes()) device->resize(t.host.sizes());
    if (t.host.strides() != t.device.strides() &&
        storage_span(t.host).bytes <=
            device->storage()->nbytes() -
                static_cast<size_t>(device->storage_offset()) *
                    device->itemsize()) {
      device->set_sizes_and_strides(t.host.sizes(), t.host.strides(),
                                    device->storage_offset());
    }
    const Tensor target{TensorBase(t.device)};
    copy_between(target, t.host);
  }

  TensorBase to_device_tensor(const TensorBase& host) const {
    for (const HostTensor& t : tensors_) {
      if (t.host.is_same(host)) return t.device;
    }
    for (const HostStorage& s : storages_) {
      if (s.host != host.storage()) continue;
      return TensorBase(s.owner.impl()->alias(
          host.sizes(), host.strides(),
          host.storage_offset() +
              static_cast<int64_t>(s.first / host.itemsize())));
    }
    for (const Value& v : args_) {  // an argument that was on the CPU
      bool own = false;
      for_each_tensor(v, [&](const TensorBase& t) { own |= t.is_same(host); });
      if (own) return host;
    }
    if (results_stay_ || !has_device_ || !host.is_cpu()) return host;
    return to_device(Tensor(host), device_);
  }

  const OperatorEntry& op_;
  std::vector<Value> args_;
  std::vector<HostStorage> storages_;
  std::vector<HostTensor> tensors_;
  std::vector<Kept> kept_;
  std::vector<std::pair<Generator, Generator>> generators_;
  bool has_device_ = false;
  bool results_stay_ = false;
  Device device_;
};

}  // namespace

ComposedCall::ComposedCall() noexcept { ++composed_calls; }
ComposedCall::~ComposedCall() { --composed_calls; }

void cpu_fallback(const Kernel& kernel, const OperatorEntry& op,
                  DispatchKeySet keys, Value* args, size_t num_args,
                  Value* results, size_t num_results) {
  if (composed_calls > 0 && kernel.is_fallback()) throw NeedsFallback();
  SY_CHECK(!keys.has_backend(kMeta), NotImplemented,
           "[{}] has no kernel for Meta, which has no data to fall back with",
           op.name());
  {
    Counters& c = counters();
    const std::lock_guard lock(c.mutex);
    ++c.calls[&op];
  }
  Fallback fallback(op, args, num_args);
  fallback.call(results, num_results);
  fallback.write_back();
  for (size_t i = 0; i < num_results; ++i) {
    results[i] = fallback.to_device_value(results[i]);
  }
}

std::vector<FallbackCount> fallback_counts() {
  std::vector<FallbackCount> list;
  {
    Counters& c = counters();
    const std::lock_guard lock(c.mutex);
    for (const auto& [op, n] : c.calls) {
      list.push_back({std::string(op->name()), n});
    }
  }
  std::sort(list.begin(), list.end(),
            [](const FallbackCount& a, const FallbackCount& b) {
              return a.calls != b.calls ? a.calls > b.calls : a.op < b.op;
            });
  return list;
}

void reset_fallback_counts() {
  Counters& c = counters();
  const std::lock_guard lock(c.mutex);
  c.calls.clear();
}

}  // namespace sy
