#include "aten/backend/kernel_checks.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "aten/backend/node.h"
#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/dispatch/introspect.h"
#include "c10/dispatch/kernel_watch.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"

namespace sy {

namespace {

// Inferring results calls the operator's kernel for Meta, which is not checked.
thread_local bool inside = false;

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

// Whether a call goes to what was registered for that very key.
bool has_own_kernel(OperatorHandle op, const std::string& key) {
  for (const DispatchInfo& d : dispatch_of(op)) {
    if (d.key == key) return d.route == DispatchInfo::Route::Own;
  }
  return false;
}

// "Npu kernel of libnpu.so at npu.cpp:12"
std::string kernel_text(OperatorHandle op, const std::string& key) {
  for (const DispatchInfo& d : dispatch_of(op)) {
    if (d.key != key || d.route == DispatchInfo::Route::Missing) continue;
    return str("{} kernel of {} at {}:{}", key, d.kernel.owner, d.kernel.file,
               d.kernel.line);
  }
  return str("{} kernel", key);
}

uint64_t hash_of(const void* data, size_t n) {
  uint64_t hash = 14695981039346656037ull;
  const auto* at = static_cast<const unsigned char*>(data);
  for (; n >= 8; n -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 1099511628211ull;
    hash ^= hash >> 29;
  }
  for (; n > 0; --n, ++at) hash = (hash ^ *at) * 1099511628211ull;
  return hash;
}

// The hash of all bytes of the tensor's storage, on whatever device.
uint64_t content_of(const TensorBase& t) {
  const StorageImpl& s = *t.storage();
  DeviceInterface& device = device_interface(s.device().type());
  device.synchronize(s.device().index());
  if (device.host_accessible()) return hash_of(s.data(), s.nbytes());
  std::vector<char> bytes(s.nbytes());
  device.copy_to_host(bytes.data(), s.data(), bytes.size(), s.device().index());
  return hash_of(bytes.data(), bytes.size());
}

bool has_data(const TensorBase& t) {
  return t.storage() && t.storage()->data() != nullptr && !t.is_meta();
}

// An argument that is only read.
struct Input {
  std::string name;
  TensorBase tensor;
  uint64_t content;
};

// One of out=, and a tensor over the memory that it reached when it was given.
struct Output {
  std::string name;
  TensorBase tensor;
  TensorBase before;
};

// Some operators lay a dense out= anew, as PyTorch does: the same elements.
bool reaches_the_same(const TensorBase& a, const TensorBase& b) {
  return a.storage() == b.storage() &&
         a.storage_offset() == b.storage_offset() &&
         (a.strides() == b.strides() || (a.is_non_overlapping_and_dense() &&
                                         b.is_non_overlapping_and_dense()));
}

bool shares_memory(const TensorBase& a, const TensorBase& b) {
  return a.storage() && a.storage()->nbytes() != 0 && a.is_alias_of(b);
}

// The stride of a dim of one index says nothing.
bool same_strides(const TensorBase& a, const TensorBase& b) {
  for (size_t d = 0; d < a.sizes().size() && a.numel() != 0; ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

// PyTorch's signatures say nothing of the statistics that native_batch_norm
// writes in training, nor of what _copy_from copies to.
bool may_write(const FunctionSchema& schema, const Argument& a) {
  if (a.is_write()) return true;
  if (a.name == "running_mean" || a.name == "running_var") {
    return schema.argument_index("momentum") >= 0;
  }
  return a.name == "dst";
}

// "npu" is the device that the thread has of that backend: "npu:0".
Device one_device(Device d) {
  if (d.type() > kMeta && !d.has_index()) {
    d.set_index(current_device(d.type()));
  }
  return d;
}

// The promises of a call, from its arguments.
class Promise {
 public:
  Promise(OperatorHandle op, const Value* args, size_t n)
      : op_(op),
        view_(op.entry().info() != nullptr &&
              op.entry().info()->kind == OperatorInfo::kView),
        places_(view_) {
    const auto arguments = op.schema().arguments();
    std::vector<TensorBase> written;
    given_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const Argument& a = arguments[i];
      if (args[i].tag() == Value::Tag::Device) {
        devices_.push_back(one_device(args[i].to_device()));
      }
      // The stride of a window is another thing.
      const bool asks =
          a.name == "memory_format" ||
          (a.name == "stride" && op.schema().argument_index("size") >= 0);
      places_ |= asks && !args[i].is_none();
      for_each_tensor(args[i], [&](const TensorBase& t) {
        devices_.push_back(t.device());
        given_[i].push_back(t);
        if (may_write(op.schema(), a)) written.push_back(t);
        if (a.is_out()) {
          outputs_.push_back(
              {std::string(a.name), t, TensorBase(t.impl()->alias())});
        }
      });
    }
    for (size_t i = 0; i < n; ++i) {
      if (may_write(op.schema(), arguments[i])) continue;
      for_each_tensor(args[i], [&](const TensorBase& t) {
        const bool shared = std::any_of(
            written.begin(), written.end(),
            [&](const TensorBase& w) { return w.storage() == t.storage(); });
        if (shared || !has_data(t)) return;
        inputs_.push_back({std::string(arguments[i].name), t, content_of(t)});
      });
    }
    infer(args, n);
  }

  // The broken promise, as "result 1: expected float32[2], got int64[2]"; "" if
  // there is none. `key` is that of the kernel that ran.
  std::string broken(const Value* results, size_t n,
                     const std::string& key) const {
    for (const Input& in : inputs_) {
      if (content_of(in.tensor) != in.content) {
        return str(
            "argument {}: expected to be left as it was, got other contents",
            in.name);
      }
    }
    for (const auto& [name, out, before] : outputs_) {
      if (out.sizes() != before.sizes() || reaches_the_same(out, before)) {
        continue;
      }
      const bool same = out.storage() == before.storage();
      return str("argument {}: expected to stay in its memory, got {}", name,
                 same ? str("strides {} from element {} on", out.strides(),
                            out.storage_offset())
                      : "other memory");
    }
    for (size_t i = 0; i < n; ++i) {
      const std::string name = n == 1 ? "result: " : str("result {}: ", i);
      std::string why = wrong_shape(results[i], i);
      if (why.empty()) why = wrong_memory(results[i], i, key);
      if (!why.empty()) return name + why;
    }
    return {};
  }

 private:
  std::string wrong_shape(const Value& result, size_t i) const {
    std::vector<TensorBase> got, expected;
    for_each_tensor(result, [&](const TensorBase& t) { got.push_back(t); });
    for (const TensorBase& t : got) {
      if (devices_.empty() || contains(devices_, one_device(t.device()))) {
        continue;
      }
      return str("expected on {}, got on {}", devices_.front(), t.device());
    }
    if (inferred_.empty()) return {};
    for_each_tensor(inferred_[i],
                    [&](const TensorBase& t) { expected.push_back(t); });
    if (got.size() != expected.size()) {
      return str("expected {} tensors, got {}", expected.size(), got.size());
    }
    for (size_t k = 0; k < got.size(); ++k) {
      const TensorBase &g = got[k], &e = expected[k];
      if (g.dtype() != e.dtype() || g.sizes() != e.sizes()) {
        return str("expected {}, got {}", shape_of(e), shape_of(g));
      }
      if (places_ && !same_strides(g, e)) {
        return str("expected strides {} for {}, got {}", e.strides(),
                   shape_of(e), g.strides());
      }
    }
    return {};
  }

  // A written argument comes back itself, a view lies in its argument, and a
  // tensor that a kernel makes lies apart. Composites may return what they were
  // given.
  std::string wrong_memory(const Value& result, size_t i,
                           const std::string& key) const {
    const int aliased = op_.schema().aliased_argument(i);
    std::string why;
    size_t k = 0;
    for_each_tensor(result, [&](const TensorBase& t) {
      const size_t at = k++;
      if (!why.empty()) return;
      if (aliased < 0) {
        why = taken(t, key);
        return;
      }
      const auto& from = given_[static_cast<size_t>(aliased)];
      const std::string_view argument = name_of(static_cast<size_t>(aliased));
      if (op_.schema().returns()[i].alias.is_write()) {
        if (at >= from.size() || t.is_same(from[at])) return;
        why = str("expected {} itself, got another tensor", argument);
      } else if (view_ && !from.empty() && !t.is_alias_of(from.front())) {
        why = str("expected a view of {}, got memory of its own", argument);
      }
    });
    return why;
  }

  // Says whose memory `t` lies in, where it should have its own.
  std::string taken(const TensorBase& t, const std::string& key) const {
    for (size_t a = 0; a < given_.size(); ++a) {
      if (may_write(op_.schema(), op_.schema().arguments()[a])) continue;
      for (const TensorBase& g : given_[a]) {
        if (!shares_memory(t, g) || !has_own_kernel(op_, key)) continue;
        return str("expected memory of its own, got that of {}", name_of(a));
      }
    }
    return {};
  }

  std::string_view name_of(size_t argument) const {
    return op_.schema().arguments()[argument].name.view();
  }
  static bool contains(const std::vector<Device>& list, Device d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  }
  static std::string shape_of(const TensorBase& t) {
    return str("{}{}", t.dtype(), t.sizes());
  }

  // Does nothing for a call without tensors or device, which would make CPU
  // tensors.
  void infer(const Value* args, size_t n) {
    if (devices_.empty()) return;
    try {
      inferred_ = infer_results(op_, args, n);
    } catch (const Error&) {
      // Results depend on data, or the kernel will refuse the arguments too.
    }
  }

  OperatorHandle op_;
  bool view_;
  // Whether strides of results are promised: of views, and where they, or a
  // memory format, are asked for.
  bool places_;
  std::vector<Device> devices_;                 // where results may be
  std::vector<std::vector<TensorBase>> given_;  // of each argument
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<Value> inferred_;  // empty: nothing is known
};

void check_kernel(const Kernel& inner, const OperatorEntry& entry,
                  DispatchKeySet keys, Value* args, size_t num_args,
                  Value* results, size_t num_results) {
  const auto run = [&] {
    inner.boxed(inner, entry, keys, args, num_args, results, num_results);
  };
  const auto backend = static_cast<DeviceType>(keys.highest_backend());
  if (inside || keys.highest_functionality() != DispatchKey::Dense ||
      backend == kMeta) {
    run();
    return;
  }
  const OperatorHandle op(&entry);
  const Promise promise = [&] {
    const Inside quiet;
    return Promise(op, args, num_args);
  }();
  run();
  const std::string key = backend_key_name(backend);
  const std::string broken = promise.broken(results, num_results, key);
  SY_CHECK(broken.empty(), Error, "[{}] {}: {}", entry.name(),
           kernel_text(op, key), broken);
}

}  // namespace

KernelChecks::KernelChecks() {
  init();
  SY_CHECK(detail::kernel_watch() == nullptr, Value,
           "[KernelChecks] kernels are being checked already");
  detail::set_kernel_watch(&check_kernel);
}

KernelChecks::~KernelChecks() { detail::set_kernel_watch(nullptr); }

namespace {

[[maybe_unused]] const bool by_environment = [] {
  const char* const what = environment("SWITCHYARD_CHECK");
  if (what == nullptr || *what == '\0') return false;
  const std::string_view text = what;
  // sy::compile and devices that work later have these checks.
  if (text == "capture" || text == "sync") return false;
  if (text != "kernels") {
    std::fprintf(stderr,
                 "switchyard: SWITCHYARD_CHECK: expected kernels, capture or "
                 "sync, got '%s'\n",
                 what);
    return false;
  }
  detail::set_kernel_watch(&check_kernel);
  return true;
}();

}  // namespace

}  // namespace sy
