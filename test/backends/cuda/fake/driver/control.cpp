#include "test/backends/cuda/fake/driver/entries.h"
#include "test/backends/cuda/fake/driver/memory.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"

// The functions of tests for the driver's state.

using fake_cuda::state;

void fake_cuda_heal() {
  const std::lock_guard lock(state().mutex);
  for (const auto& c : state().contexts) {
    if (c == nullptr) continue;
    fake_cuda::wait_for_context(*c);
    c->failed = 0;
  }
}

int fake_cuda_call(void* stream, void (*work)(void*), void* argument) {
  std::shared_ptr<fake_cuda::StreamState> s;
  const fake_cuda::Result r = fake_cuda::find_stream(
      static_cast<fake_cuda::driver::Stream>(stream), &s);
  if (r != fake_cuda::driver::kSuccess) return r;
  fake_cuda::put_in_order(*s, [context = s->context, work, argument] {
    const fake_cuda::DeviceAccess access(context);
    work(argument);
  });
  return fake_cuda::driver::kSuccess;
}

void fake_cuda_count(fake_cuda_counters* out) {
  const fake_cuda::Counters& c = fake_cuda::counters();
  *out = {};
  out->launches = c.launches;
  out->blocks = c.blocks;
  out->copies_to_device = c.copies_to_device;
  out->copies_to_host = c.copies_to_host;
  out->copies_on_device = c.copies_on_device;
  out->fills = c.fills;
  out->bytes_copied = c.bytes_copied;
  out->allocations = c.allocations;
  out->creations = c.creations;
  out->host_allocations = c.host_allocations;
  out->mappings = c.mappings;
  out->context_switches = c.context_switches;
  out->waits = c.waits;
  out->refused_images = c.refused_images;
  out->contexts = static_cast<int64_t>(state().living_contexts.size());
  out->streams = static_cast<int64_t>(state().streams.size());
  out->events = static_cast<int64_t>(state().events.size());
  out->modules = static_cast<int64_t>(state().modules.size());
  out->device_bytes = fake_cuda::device_bytes();
  out->host_bytes = fake_cuda::pinned_bytes();
}
