#pragma once

#include "launch_head.cuh"
#include "walk.cuh"

namespace sy::cuda {

// Operands of frexp: mantissa, exponent, number; of nextafter: result, number,
// towards.
struct NumberParams {
  LaunchHead head;
  Walk<3> walk;
  char* data[3];
};

}  // namespace sy::cuda
