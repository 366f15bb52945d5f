#include "pinned.h"

#include <sy/library.h>

#include "c10/device/stream.h"
#include "check.h"
#include "model.h"
#include "streams.h"

namespace host {

using sy::Device;
using sy::Tensor;

namespace {

// The bytes in use, by the program or by copies that go on.
int64_t pinned_bytes(Device device) {
  const sy::MemoryStats s =
      sy::device_interface(device.type()).pinned_allocator()->stats();
  return s.allocated + s.cached;
}

}  // namespace

void pinned_memory_is_the_hosts(Device device) {
  const std::string name = device.str();
  const int64_t before = pinned_bytes(device);
  {
    const Tensor x = noise({4, 6}, 31), p = x.pin_memory(device);
    check(p.is_cpu() && p.is_pinned() && p.is_pinned(device),
          name + ": a pinned tensor");
    check(!x.is_pinned() && !x.to(device).is_pinned(),
          name + ": others are not pinned");
    check(p.pin_memory(device).is_same(p), name + ": pinning twice is once");
    check(pinned_bytes(device) - before == 4 * 6 * 4, name + ": it is counted");
    sy::reset_fallback_counts();
    check_close(p.to(device), x, name + ": a round trip");
    check_close(p.t().to(device).cpu(), x.t(), name + ": and of a view");
    check(sy::fallback_counts().empty(), name + ": that calls no kernel");
    check_close(p.add(p), x.add(x), name + ": the CPU computes with it");
    const Tensor w = x.clone().requires_grad_();
    w.pin_memory(device).to(device).mul(p.to(device)).sum().backward();
    check_close(w.grad(), x, name + ": gradients pass through it");
    check_throws<sy::ValueError>(name + ": a device's tensor is not pinned",
                                 [&] { p.to(device).pin_memory(); },
                                 {"pin_memory", "only memory of the host"});
    check_throws<sy::ValueError>(
        name + ": nor made there",
        [&] { sy::zeros({2}, sy::TensorOptions(device).pinned_memory(true)); },
        {"pin_memory", sy::backend_device_name(device.type())});
    check(sy::ones({2}, sy::TensorOptions().pinned_memory(true)).is_pinned(),
          name + ": factories make some");
  }
  check(pinned_bytes(device) == before, name + ": and all comes back");
}

void copies_need_not_wait(Device device) {
  const std::string name = device.str();
  const int64_t before = pinned_bytes(device);
  const Tensor x = noise({512}, 32);
  const Tensor there = sy::zeros({512}, device);
  sy::synchronize(device);
  sleep_on(there);
  there.copy_(x.pin_memory(device), /*non_blocking=*/true);
  check(!sy::Stream::current(device).is_done(),
        name + ": a copy from pinned memory does not wait");
  check(pinned_bytes(device) > before, name + ": its memory is kept meanwhile");
  const Tensor sum = there.add(there);
  check_close(sum, x.add(x), name + ": a kernel after it sees what it wrote");
  check(pinned_bytes(device) == before, name + ": then it is free");

  sleep_on(there);
  const Tensor back = there.to(Device(sy::kCPU), sy::kFloat, true);
  check(back.is_pinned(device) && !sy::Stream::current(device).is_done(),
        name + ": nor does a copy to the host");
  sy::Stream::current(device).synchronize();
  check_close(back, x, name + ": which is there when its stream is done");

  sleep_on(there);
  there.copy_(x.mul(2), true);
  check(sy::Stream::current(device).is_done(),
        name + ": a copy from other memory waits");
  check_close(there, x.mul(2), name + ": and is right");
}

void pinned_memory_keeps_its_library(sy::LibraryHandle& library,
                                     Device device) {
  const Tensor held = noise({2}, 33).pin_memory(device);
  check_throws<sy::Error>("unloading is refused while a pinned tensor lives",
                          [&] { library.unload(); }, {"1 storage"});
  check_close(held, noise({2}, 33), "which is whole");
}

}  // namespace host
