#pragma once

#include "c10/device/stream.h"

// The streams of CUDA devices. Stream 0 of a device is ordered with the
// driver's own default stream, so that work which other code puts there sees
// what came before; the streams that programs make are not.

namespace sy::cuda {

class DeviceState;
class StreamState;

// Never destroyed. Without a driver there are no streams; the calls that need
// one throw what is missing.
StreamInterface& stream_interface() noexcept;

// Waits for all work of the device, whoever put it there. Then throws the first
// error of a kernel that nobody has seen.
void synchronize(int device);

// Work that now is in other streams of the device is done before what enters
// `into` from here on. Costs a comparison for a device with one stream.
void join_streams(DeviceState& device, StreamState& into);

}  // namespace sy::cuda
