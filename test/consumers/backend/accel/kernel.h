#pragma once

#include <sy/library.h>

#include <utility>

#include "calls.h"
#include "memory.h"
#include "streams.h"

namespace accel {

// Puts a kernel into the current stream of `on`'s device and counts it. It runs
// after the call; the tensors that it captures live until it has run.
template <class F>
void launch(const char* op, const sy::Tensor& on, F kernel) {
  count_native_call();
  Streams::singleton().submit(on.device().index(), op, std::move(kernel));
}

}  // namespace accel
