#include "backends/cuda/memory/streams.h"

#include "backends/cuda/driver/api.h"
#include "backends/cuda/runtime/context.h"
#include "c10/process/error.h"

namespace sy::cuda {

void wait_for(int device, uint64_t stream) {
  StreamInterface& s = stream_interface();
  if (s.is_capturing(device, stream) ||
      s.completed_ticket(device, stream) >= s.last_ticket(device, stream)) {
    return;
  }
  use_device(device);
  void* handle = nullptr;
  try {
    handle = s.native_stream(device, stream);
  } catch (const ValueError&) {
    return;  // gone meanwhile
  }
  driver::check(
      driver::api().stream_synchronize(static_cast<driver::Stream>(handle)),
      "cuStreamSynchronize");
}

}  // namespace sy::cuda
