#include "backends/lazy/inner_stream.h"

#include <algorithm>

#include "backends/lazy/value.h"
#include "c10/backend.h"
#include "c10/stream.h"

namespace sy::lazy {

InnerStream::InnerStream() : streams_(nullptr) {
  const Device inner = inner_device();
  if (inner.is_cpu()) return;
  StreamInterface* const streams = device_interface(inner.type()).streams();
  if (streams == nullptr) return;
  device_ = std::max<int>(inner.index(), 0);
  before_ = streams->current_stream(device_);
  if (before_ == 0) return;
  streams_ = streams;
  wait(0, before_);
  streams->set_current_stream(device_, 0);
}

InnerStream::~InnerStream() {
  if (streams_ == nullptr) return;
  streams_->set_current_stream(device_, before_);
  try {
    wait(before_, 0);
  } catch (...) {
    // The device has failed, and says so at the next call.
  }
}

// Work that enters `stream` from now on waits for what is in `other`.
void InnerStream::wait(uint64_t stream, uint64_t other) {
  const uint64_t event = streams_->record_event(device_, other);
  streams_->wait_event(device_, stream, event);
  streams_->destroy_event(device_, event);
}

}  // namespace sy::lazy
