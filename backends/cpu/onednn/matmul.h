#pragma once

#include "backends/cpu/onednn/api.h"

namespace sy::cpu {

bool onednn_matmul(const OneDnnMatmul* problem);

}  // namespace sy::cpu
