#pragma once

#include <cstdint>

// What libswitchyard_onednn.so offers: a table of C functions, so that the 55
// MB behind it are mapped on first use and nothing of it is linked.

namespace sy::cpu {

enum class OneDnnType : uint32_t { f32, bf16, f16 };

// c = alpha * a b + beta * c, or + bias[j] in column j. Strides in elements;
// one of each matrix's two is 1, the other at least the matrix's width.
struct OneDnnMatmul {
  OneDnnType type;  // of all four
  int64_t batch, m, n, k;
  const void* a;
  int64_t a_batch, a_row, a_col;
  const void* b;
  int64_t b_batch, b_row, b_col;
  void* c;
  int64_t c_batch, c_row;
  const void* bias;  // n values of the same type, or nullptr
  float alpha, beta;
  int threads;
};

struct OneDnnApi {
  static constexpr uint32_t kVersion = 1;
  uint32_t version;
  // False, with nothing written, if oneDNN declines. Thread-safe.
  bool (*matmul)(const OneDnnMatmul* problem);
};

// The table; nullptr if the library is not there or SWITCHYARD_ONEDNN=0. Loads
// it on the first call. Thread-safe.
const OneDnnApi* onednn();

}  // namespace sy::cpu
