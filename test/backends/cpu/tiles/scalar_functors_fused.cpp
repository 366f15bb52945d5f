#define SY_FMA 1
#define SY_DEFINE fused_functors
#include "test/backends/cpu/tiles/scalar_functors_all.inc"
