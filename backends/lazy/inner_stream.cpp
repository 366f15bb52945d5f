#include "backends/lazy/inner_stream.h"

#include <algorithm>

#include "backends/lazy/value.h"
#include "c10/device/backend.h"
#include "c10/device/stream.h"

namespace sy::lazy {

namespace {

StreamInterface* inner_streams() {
  const Device inner = inner_device();
  return inner.is_cpu() ? nullptr : device_interface(inner.type()).streams();
}
int inner_index() { return std::max<int>(inner_device().index(), 0); }

}  // namespace

void wait_for_inner_stream() {
  StreamInterface* const streams = inner_streams();
  if (streams != nullptr) streams->synchronize_stream(inner_index(), 0);
}

InnerStream::InnerStream() : streams_(nullptr) {
  StreamInterface* const streams = inner_streams();
  if (streams == nullptr) return;
  device_ = inner_index();
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
