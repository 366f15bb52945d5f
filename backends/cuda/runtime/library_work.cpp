#include "backends/cuda/runtime/library_work.h"

#include <algorithm>

#include "backends/cuda/copy.h"
#include "backends/cuda/runtime/device_state.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/device/stream.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"

namespace sy::cuda {

Tensor room_of(int device, size_t bytes) {
  const auto index = static_cast<int8_t>(device);
  return empty_on(Device(kCUDA, index),
                  std::max<int64_t>(1, static_cast<int64_t>(bytes)), kByte);
}

void enqueue_library(int device, const LibraryWork& work, LibraryCall call,
                     const void* argument, const TensorBase& room,
                     ArrayRef<const TensorBase*> tensors) {
  // The CUDA runtime goes by the thread's context, which other code of the
  // process may have changed.
  DeviceState& d = device_state(device);
  enter_device(d);
  StreamState& s = current_stream_state(d);
  driver::Result r = driver::kSuccess;
  const uint64_t ticket =
      s.enqueue(work.what, work.lasting, &r, [&](driver::Stream stream) {
        return static_cast<driver::Result>(call(argument, stream));
      });
  // The runtime's numbers of faults are the driver's.
  if (driver::is_fault(r)) check(d, r, work.what);
  SY_CHECK(r == driver::kSuccess, Error, "[{}] {} did not start: {}",
           running_operator_name(), work.what,
           work.error_text(static_cast<int>(r)));
  const auto note = [&](const TensorBase& t) {
    if (!t.defined() || !t.storage()) return;
    note_use(*t.storage(), device, s.number(), ticket);
  };
  note(room);
  for (const TensorBase* const t : tensors) note(*t);
}

}  // namespace sy::cuda
