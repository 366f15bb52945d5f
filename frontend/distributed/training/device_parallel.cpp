#include "frontend/distributed/training/device_parallel.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

#include "aten/operators.h"
#include "aten/ops/shape.h"
#include "autograd/function.h"
#include "autograd/thread.h"
#include "c10/device/device_guard.h"
#include "c10/device/stream.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"
#include "frontend/distributed/context.h"

namespace sy::distributed {

namespace {

constexpr const char* kName = "DataParallel";

Devices exact(Devices devices) {
  for (Device& d : devices) d = with_index(d);
  return devices;
}

Tensor moved(const Tensor& t, Device to) {
  return t.device() == with_index(to) ? t : t.to(to, t.scalar_type());
}

int64_t rows_of(const Tensor& t, int64_t dim) {
  return dim >= -t.dim() && dim < t.dim() ? t.size(dim) : -1;
}

int64_t rows_each(int64_t rows, size_t devices) {
  const auto n = static_cast<int64_t>(devices);
  return std::max<int64_t>(1, (rows + n - 1) / n);
}

size_t parts_of(int64_t rows, size_t devices) {
  const int64_t each = rows_each(rows, devices);
  return static_cast<size_t>(std::max<int64_t>(1, (rows + each - 1) / each));
}

Tensor part_of(const Tensor& t, int64_t dim, size_t i, const Devices& devices) {
  const int64_t rows = t.size(dim);
  const int64_t each = rows_each(rows, devices.size());
  const int64_t from = std::min(rows, static_cast<int64_t>(i) * each);
  return moved(t.narrow(dim, from, std::min(each, rows - from)), devices[i]);
}

// Makes `copy`, which has the values of `original`, a result of it.
struct Copied : autograd::Function<Copied> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& original,
                        const Tensor& copy) {
    ctx->saved_data["device"] = original.device();
    ctx->mark_dirty({copy});
    return copy;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list grads) {
    return {moved(grads[0], ctx->saved_data["device"].to_device()), Tensor()};
  }
};

void connect(const nn::Module& original, const nn::Module& copy) {
  const std::vector<Tensor> from = original.parameters();
  const std::vector<Tensor> to = copy.parameters();
  SY_INTERNAL_ASSERT(from.size() == to.size(), "a clone has other parameters");
  for (size_t i = 0; i < from.size(); ++i) {
    if (!from[i].requires_grad()) continue;
    to[i].requires_grad_(false);
    if (GradMode::is_enabled()) Copied::apply(from[i], to[i]);
  }
}

// The first tensor of a module that is not on the device; "" for none.
std::string not_on(const nn::Module& module, Device device) {
  const auto look = [&](const NamedTensors& all) {
    for (const auto& t : all) {
      if (t.value().device() != device) {
        return str("'{}' is on {}", t.key(), t.value().device());
      }
    }
    return std::string();
  };
  const std::string found = look(module.named_parameters());
  return found.empty() ? look(module.named_buffers()) : found;
}

// The modes that a thread takes over from the one that it works for, without
// the state of what runs there.
class Modes {
 public:
  Modes()
      : modes_(thread_state),
        context_(Context::current()),
        label_(CallLabel::current()) {
    const autograd::detail::Thread& t = autograd::detail::thread;
    autograd_.sequence_nr = t.sequence_nr;
    autograd_.saved_hooks = t.saved_hooks;
    autograd_.anomaly = t.anomaly;
    autograd_.check_nan = t.check_nan;
  }

  // Layers of transforms and captures belong to one thread.
  bool may_leave() const {
    return modes_.transforms == nullptr && modes_.capture == nullptr;
  }
  void run(const std::function<void()>& f) const {
    const ThreadModesGuard modes(modes_);
    autograd::detail::thread = autograd_;
    std::optional<ContextGuard> guard;
    if (context_ != nullptr) guard.emplace(*context_);
    const CallLabel label(label_);
    f();
  }

 private:
  const ThreadModes modes_;
  autograd::detail::Thread autograd_;
  Context* const context_;
  const std::string label_;
};

// Threads that are joined at the end of the scope.
struct Threads {
  std::vector<std::thread> all;
  ~Threads() {
    for (std::thread& t : all) t.join();
  }
};

// The streams of this thread, for others.
std::vector<std::optional<Stream>> streams_of(const Devices& devices) {
  std::vector<std::optional<Stream>> all(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].has_index()) continue;
    const Stream s = Stream::current(devices[i]);
    if (s.id() != 0) all[i] = s;
  }
  return all;
}

}  // namespace

std::vector<Tensor> scatter(const Tensor& t, const Devices& devices,
                            int64_t dim) {
  detail::Scattering scattering(devices, dim);
  scattering.add(t);
  std::vector<Tensor> parts;
  for (size_t i = 0; i < scattering.size(); ++i) {
    parts.push_back(scattering.part(t, i));
  }
  return parts;
}

Tensor gather(const std::vector<Tensor>& parts, Device to, int64_t dim) {
  SY_CHECK(!parts.empty(), Value, "[gather] parts: expected some, got none");
  std::vector<Tensor> there;
  for (const Tensor& t : parts) {
    const Tensor m = moved(t, to);
    there.push_back(m.dim() == 0 ? m.unsqueeze(0) : m);
  }
  return cat(there, parts[0].dim() == 0 ? 0 : dim);
}

namespace detail {

Scattering::Scattering(const Devices& devices, int64_t dim)
    : devices_(devices), dim_(dim), size_(devices.size()) {
  SY_CHECK(!devices.empty(), Value,
           "[scatter] devices: expected some, got none");
}

void Scattering::add_tensor(const Tensor& t) {
  if (!t.defined()) return;
  const int64_t rows = rows_of(t, dim_);
  SY_CHECK(rows >= 0, Value,
           "[scatter] argument {}: expected a tensor with a dimension {} to "
           "split, got one of sizes {}",
           argument_, dim_, t.sizes());
  if (rows_ < 0) {
    rows_ = rows;
    first_ = argument_;
    size_ = parts_of(rows, devices_.size());
  }
  SY_CHECK(rows == rows_, Value,
           "[scatter] argument {}: expected {} rows in dimension {}, as "
           "argument {} has, got {}",
           argument_, rows_, dim_, first_, rows);
}

Tensor Scattering::tensor_part(const Tensor& t, size_t replica) const {
  return t.defined() ? part_of(t, dim_, replica, devices_) : t;
}

Tensor Gathering::join_tensors(const std::vector<Tensor>& parts) const {
  const bool none = std::none_of(parts.begin(), parts.end(),
                                 [](const auto& t) { return t.defined(); });
  if (none) return {};
  for (const Tensor& t : parts) {
    if (!t.defined()) results_differ(1, 0);
  }
  return alone_ ? moved(parts[0], to_) : gather(parts, to_, dim_);
}

void results_differ(size_t a, size_t b) {
  fail(ErrorKind::Value,
       "[{}] expected as many values for each replica, got {} and {}", kName, a,
       b);
}

void check_counts(size_t modules, size_t inputs, size_t devices) {
  SY_CHECK(inputs == modules, Value,
           "[parallel_apply] inputs: expected {}, one for each module, got {}",
           modules, inputs);
  SY_CHECK(devices == modules, Value,
           "[parallel_apply] devices: expected {}, one for each module, got {}",
           modules, devices);
}

std::vector<std::shared_ptr<nn::Module>> replicas_of(
    const std::shared_ptr<nn::Module>& module, const Devices& devices) {
  std::vector<std::shared_ptr<nn::Module>> all;
  for (const Device d : exact(devices)) {
    if (all.empty() && not_on(*module, d).empty()) {
      all.push_back(module);
    } else {
      {
        // clone() marks what requires a gradient.
        const InferenceMode off(false);
        all.push_back(module->clone(d));
      }
      connect(*module, *all.back());
    }
  }
  return all;
}

void run_replicas(const Devices& devices,
                  const std::function<void(size_t)>& f) {
  std::vector<std::exception_ptr> errors(devices.size());
  const auto run = [&](size_t i) noexcept {
    const auto where = [&] {
      return str("in replica {} on {}", i, devices[i]);
    };
    try {
      const DeviceGuard guard(devices[i]);
      f(i);
    } catch (Error& e) {
      e.add_context(where());
      errors[i] = std::current_exception();
    } catch (const std::exception& e) {
      errors[i] =
          std::make_exception_ptr(Error(str("{}\n{}", where(), e.what())));
    } catch (...) {
      errors[i] = std::make_exception_ptr(
          Error(str("{}\nsomething that is no std::exception", where())));
    }
  };
  const Modes modes;
  const auto streams = streams_of(exact(devices));
  {
    Threads threads;
    std::vector<size_t> here;
    for (size_t i = 0; i < devices.size(); ++i) {
      if (i == 0 || !modes.may_leave()) {
        here.push_back(i);
        continue;
      }
      try {
        threads.all.emplace_back([&, i] {
          modes.run([&] {
            std::optional<StreamGuard> stream;
            if (streams[i].has_value()) stream.emplace(*streams[i]);
            run(i);
          });
        });
      } catch (const std::system_error&) {
        here.push_back(i);  // the system gives no thread
      }
    }
    for (const size_t i : here) run(i);
  }
  for (const std::exception_ptr& e : errors) {
    if (e != nullptr) std::rethrow_exception(e);
  }
}

Devices devices_for(const nn::Module& module, Devices devices) {
  if (devices.empty()) {
    Device own;
    const std::vector<Tensor> parameters = module.parameters();
    const std::vector<Tensor> buffers = module.buffers();
    if (!parameters.empty() || !buffers.empty()) {
      own = (parameters.empty() ? buffers : parameters)[0].device();
    }
    devices.push_back(own);
    const int count = own.has_index() ? device_count(to_string(own.type())) : 1;
    for (int i = 0; i < count; ++i) {
      if (i != own.index() && own.has_index()) {
        devices.push_back(Device(own.type(), i));
      }
    }
  }
  devices = exact(std::move(devices));
  const std::string other = not_on(module, devices[0]);
  SY_CHECK(other.empty(), Value,
           "[{}] module: expected parameters and buffers on {}, the first of "
           "the devices, but {}",
           kName, devices[0], other);
  return devices;
}

}  // namespace detail

}  // namespace sy::distributed
