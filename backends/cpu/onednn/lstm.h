#pragma once

#include "backends/cpu/onednn/api.h"

namespace sy::cpu {

bool onednn_lstm(const OneDnnLstm* problem);

}  // namespace sy::cpu
