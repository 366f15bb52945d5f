#pragma once

#include "backends/cpu/onednn/api.h"

namespace sy::cpu {

bool onednn_convolution(const OneDnnConvolution* problem);

}  // namespace sy::cpu
