#include "test/backends/cuda/fake/driver/launch.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "test/backends/cuda/fake/driver/address_space.h"
#include "test/backends/cuda/fake/driver/entries.h"
#include "test/backends/cuda/fake/driver/memory.h"
#include "test/backends/cuda/fake/driver/patience.h"
#include "test/backends/cuda/fake/emulator/executor.h"

// cuLaunchKernel.

namespace fake_cuda {
namespace {

constexpr int kJunk = 0xcd;

struct Found {
  uintptr_t loaded_at;
  SharedVariables variables;
};

// The argument of a launch.
class Params {
 public:
  Params(const void* from, size_t bytes, size_t alignment)
      : alignment_(alignment < 16 ? 16 : alignment),
        copy_(::operator new (bytes, std::align_val_t{alignment_})) {
    std::memcpy(copy_, from, bytes);
  }
  ~Params() { ::operator delete (copy_, std::align_val_t{alignment_}); }
  Params(const Params&) = delete;
  Params& operator=(const Params&) = delete;
  const void* get() const { return copy_; }

 private:
  size_t alignment_;
  void* copy_;
};

Result check_shape(const FunctionState& f, const dim3& grid, const dim3& block,
                   unsigned shared) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 ||
      block.y == 0 || block.z == 0) {
    return kInvalidValue;
  }
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return kInvalidValue;
  }
  if (block.x > 1024 || block.y > 1024 || block.z > 64) return kInvalidValue;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  // More than __launch_bounds__ says, too.
  if (threads > 1024 || threads > f.info.max_threads) return kInvalidValue;
  if (shared > f.most_shared) return kInvalidValue;
  return kSuccess;
}

// `extra` names the arguments as one buffer: {1, buffer, 2, &bytes, 0}.
Result find_params(const FunctionState& f, void** params, void** extra,
                   const void** found) {
  if ((params == nullptr) == (extra == nullptr)) return kInvalidValue;
  if (params != nullptr) {
    *found = params[0];
    return *found == nullptr ? kInvalidValue : kSuccess;
  }
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != nullptr; extra += 2) {
    switch (reinterpret_cast<uintptr_t>(extra[0])) {
      case 1: buffer = extra[1]; break;
      case 2: bytes = *static_cast<const size_t*>(extra[1]); break;
      default: return kInvalidValue;
    }
  }
  if (buffer == nullptr || bytes != f.info.params_bytes) return kInvalidValue;
  *found = buffer;
  return kSuccess;
}

Result code_of(Ending ending) {
  switch (ending) {
    case Ending::kIllegalAddress: return kIllegalAddress;
    case Ending::kMisaligned: return kMisalignedAddress;
    default: return kLaunchFailed;
  }
}

void run(ContextState& context, FunctionState& f, Grid grid) {
  SharedVariables variables = shared_variables(*f.module);
  grid.name = f.name.c_str();
  grid.kernel = f.kernel;
  grid.params_bytes = f.info.params_bytes;
  grid.most_checked = f.left_to_check;
  // One block after the other is as good without checks, and faster.
  grid.resident = grid.most_checked == 0
                      ? 1
                      : static_cast<unsigned>(settings().multiprocessors);
  grid.variables = variables;
  grid.seed = faults().seed;
  grid.memory_begin = addresses().begin;
  grid.memory_end = addresses().end;
  grid.order = static_cast<BlockOrder>(faults().block_order.load());
  if (variables.bytes != 0) {
    grid.data = &variables;
    grid.before_block = [](void* data, uint64_t number) {
      // Other blocks find what the one before left.
      if (number > 1 && number % 16 != 0) return;
      const auto* v = static_cast<const SharedVariables*>(data);
      std::memset(v->begin, kJunk, v->bytes);
    };
  }
  const Patience patience(f.name);
  const DeviceAccess access(&context);
  const Outcome outcome = run_grid(grid);
  if (grid.most_checked != ~uint64_t{0}) {
    f.left_to_check =
        grid.most_checked - std::min(grid.most_checked, outcome.checked);
  }
  if (outcome.ending == Ending::kDone) return;
  note_fault(outcome.text, false);
  fail_context(context, code_of(outcome.ending));
}

}  // namespace

SharedVariables shared_variables(const ModuleState& module) {
  // Makes the thread's copy, if there are any.
  if (void* touch = dlsym(module.library, "sy_on_host_touch_shared")) {
    reinterpret_cast<void (*)()>(touch)();
  } else {
    return {};
  }
  Found found{module.loaded_at, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* f = static_cast<Found*>(data);
        if (info->dlpi_addr != f->loaded_at) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
          f->variables = {info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz};
        }
        return 1;
      },
      &found);
  if (found.variables.begin == nullptr) return {};
  return found.variables;
}

namespace entry {

Result launch(Function handle, unsigned gx, unsigned gy, unsigned gz,
              unsigned bx, unsigned by, unsigned bz, unsigned shared,
              Stream stream_handle, void** params, void** extra) {
  ContextState* c;
  Result r = usable_context(&c);
  if (r != kSuccess) return r;
  const auto f = state().functions.find(handle);
  if (f == nullptr) return kInvalidHandle;
  std::shared_ptr<StreamState> stream;
  r = find_stream(stream_handle, &stream);
  if (r != kSuccess) return r;
  if (stream->context != c || f->module->context != c) return kInvalidHandle;
  const dim3 grid(gx, gy, gz), block(bx, by, bz);
  r = check_shape(*f, grid, block, shared);
  if (r != kSuccess) return r;
  const void* argument;
  r = find_params(*f, params, extra, &argument);
  if (r != kSuccess) return r;
  r = faults().launch.hit();
  if (r != kSuccess) return r;
  const Result fault = faults().fault.hit();

  ++counters().launches;
  counters().blocks += int64_t{gx} * gy * gz;
  auto copy = std::make_shared<Params>(argument, f->info.params_bytes,
                                       f->info.params_align);
  put_in_order(*stream, [c, f, fault, grid, block, shared,
                         copy = std::move(copy)] {
    if (fault != kSuccess) {
      note_fault("kernel '" + f->name + "': a fault that was asked for", true);
      fail_context(*c, fault);
      return;
    }
    Grid g;
    g.params = copy->get();
    g.blocks = grid;
    g.threads = block;
    g.shared_bytes = shared;
    run(*c, *f, g);
  });
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
