#pragma once

namespace sy::cuda {

// A number of a program, in its compute type, or a bool: for the host and for
// kernels.
union Number {
  float f32;
  double f64;
  unsigned char u8, b8;
  signed char i8;
  short i16;
  int i32;
  long long i64;
};

}  // namespace sy::cuda
