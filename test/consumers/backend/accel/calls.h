#pragma once

#include <cstdint>

namespace accel {

// Every kernel of the device counts its calls here; a call that it passes on
// to the CPU does not count.
void count_native_call() noexcept;
int64_t native_calls();

}  // namespace accel
