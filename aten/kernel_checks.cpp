#include "aten/kernel_checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "aten/node.h"
#include "c10/backend.h"
#include "c10/error.h"
#include "c10/introspect.h"
#include "c10/kernel_watch.h"
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

// "Npu kernel of libnpu.so at npu.cpp:12"
std::string kernel_text(OperatorHandle op, const std::string& key) {
  for (const DispatchInfo& d : dispatch_of(op)) {
    if (d.key != key || d.route == DispatchInfo::Route::Missing) continue;
    return str(key, " kernel of ", d.kernel.owner, " at ", d.kernel.file, ":",
               d.kernel.line);
  }
  return str(key, " kernel");
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

// Of all bytes that the tensor's storage has, on whatever device.
uint64_t content_of(const TensorBase& t) {
  const StorageImpl& s = *t.storage();
  DeviceInterface& device = device_interface(s.device().type);
  device.synchronize(s.device().index);
  if (device.host_accessible()) return hash_of(s.data(), s.nbytes());
  std::vector<char> bytes(s.nbytes());
  device.copy_to_host(bytes.data(), s.data(), bytes.size(), s.device().index);
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

// PyTorch's signatures say nothing of the statistics that native_batch_norm
// writes in training, nor of what _copy_from copies to.
bool may_write(const FunctionSchema& schema, const Argument& a) {
  if (a.is_write()) return true;
  if (a.name == "running_mean" || a.name == "running_var") {
    return schema.argument_index("momentum") >= 0;
  }
  return a.name == "dst";
}

// What a call promises, from its arguments.
class Promise {
 public:
  Promise(OperatorHandle op, const Value* args, size_t n) : op_(op) {
    const auto arguments = op.schema().arguments();
    std::vector<TensorBase> written;
    for (size_t i = 0; i < n; ++i) {
      if (args[i].tag() == Value::Tag::Device) {
        devices_.push_back(args[i].to_device());
      }
      for_each_tensor(args[i], [&](const TensorBase& t) {
        devices_.push_back(t.device());
        if (may_write(op.schema(), arguments[i])) written.push_back(t);
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

  // What is wrong, as "result 1: expected float32[2], got int64[2]"; "" if
  // nothing is.
  std::string broken(const Value* results, size_t n) const {
    for (const Input& in : inputs_) {
      if (content_of(in.tensor) != in.content) {
        return str("argument ", in.name,
                   ": expected to be left as it was, got other contents");
      }
    }
    for (size_t i = 0; i < n; ++i) {
      const std::string name = n == 1 ? "result: " : str("result ", i, ": ");
      std::vector<TensorBase> got, expected;
      for_each_tensor(results[i],
                      [&](const TensorBase& t) { got.push_back(t); });
      for (const TensorBase& t : got) {
        if (devices_.empty() || contains(devices_, t.device())) continue;
        return str(name, "expected on ", devices_.front(), ", got on ",
                   t.device());
      }
      if (inferred_.empty()) continue;
      for_each_tensor(inferred_[i],
                      [&](const TensorBase& t) { expected.push_back(t); });
      if (got.size() != expected.size()) {
        return str(name, "expected ", expected.size(), " tensors, got ",
                   got.size());
      }
      for (size_t k = 0; k < got.size(); ++k) {
        if (got[k].dtype() == expected[k].dtype() &&
            got[k].sizes() == expected[k].sizes()) {
          continue;
        }
        return str(name, "expected ", shape_of(expected[k]), ", got ",
                   shape_of(got[k]));
      }
    }
    return {};
  }

 private:
  static bool contains(const std::vector<Device>& list, Device d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  }
  static std::string shape_of(const TensorBase& t) {
    return str(t.dtype(), t.sizes());
  }

  // Not for a call without tensors or device, which would make CPU tensors.
  void infer(const Value* args, size_t n) {
    if (devices_.empty()) return;
    try {
      inferred_ = infer_results(op_, args, n);
    } catch (const Error&) {
      // Results depend on data, or the kernel will refuse the arguments too.
    }
  }

  OperatorHandle op_;
  std::vector<Device> devices_;  // where results may be
  std::vector<Input> inputs_;
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
  const std::string broken = promise.broken(results, num_results);
  SY_CHECK(broken.empty(), Error, "[", entry.name(), "] ",
           kernel_text(op, backend_key_name(backend)), ": ", broken);
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
  const char* const what = std::getenv("SWITCHYARD_CHECK");
  if (what == nullptr || *what == '\0') return false;
  if (what != std::string_view("kernels")) {
    std::fprintf(stderr,
                 "switchyard: SWITCHYARD_CHECK: expected kernels, got '%s'\n",
                 what);
    return false;
  }
  detail::set_kernel_watch(&check_kernel);
  return true;
}();

}  // namespace

}  // namespace sy
