#pragma once

namespace sample {

inline constexpr int kDevices = 1;

}  // namespace sample
