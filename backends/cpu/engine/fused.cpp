#include "aten/backend/fused_runner.h"

#include "backends/cpu/engine/pointwise.h"

namespace sy::cpu {

namespace {
[[maybe_unused]] const bool registered =
    (register_fused_runner(kCPU, &pointwise), true);
}  // namespace

}  // namespace sy::cpu
