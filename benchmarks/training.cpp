#include <sy/sy.h>

namespace lib = sy;

#include "benchmarks/training.inc"

void training::give_back_memory() { sy::trim_memory(); }
