#define SY_FMA 0
#define SY_DEFINE plain_functors
#include "test/backends/cpu/tiles/scalar_functors_all.inc"
