#pragma once

#include "launch_head.cuh"
#include "walk.cuh"

// Arguments of the kernels of copy.cu and factory.cu.

namespace sy::cuda {

struct CopyParams {
  LaunchHead head;
  Walk<2> walk;  // to, from
  char* to;
  const char* from;
};

struct FillParams {
  LaunchHead head;
  Walk<1> walk;
  char* to;
  alignas(16) unsigned char value[16];
};

// Element i is start + i * step; whole numbers (`whole`) wrap modulo 2^64.
struct ArangeParams {
  LaunchHead head;
  char* to;
  long long n;
  int whole;
  long long first, by;
  double start, step;
};

}  // namespace sy::cuda
