#pragma once

#include <sy/library.h>

#include <utility>

#include "c10/device/device_guard.h"
#include "calls.h"
#include "memory.h"
#include "span.h"
#include "streams.h"

namespace accel {

// Puts kernel(spans...) into the current stream of the tensors' device and
// counts it. It runs after the call; the memory waits for it, the tensors need
// not.
template <class F, class... T>
void launch(F kernel, const sy::Tensor& first, const T&... more) {
  count_native_call();
  const sy::Device device = first.device();
  SY_CHECK(sy::current_device(device.type()) == device.index(), Error,
           "expected to run on the device of the arguments, {}, the current "
           "one is {}",
           device, sy::current_device(device.type()));
  Streams::singleton().submit(device.index(),
                              {first.storage().get(), more.storage().get()...},
                              [kernel = std::move(kernel),
                               spans = std::tuple(Span(first), Span(more)...)] {
                                std::apply(kernel, spans);
                              });
}

}  // namespace accel
