#include "aten/fused.h"

#include "backends/cpu/pointwise.h"

namespace sy::cpu {

namespace {
[[maybe_unused]] const bool registered =
    (register_fused_runner(kCPU, &pointwise), true);
}  // namespace

}  // namespace sy::cpu
