#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The table of C functions that libswitchyard_onednn.so offers. The 55 MB
// behind it are mapped on first use, and nothing of it is linked.

namespace sy::cpu {

enum class OneDnnType : uint32_t { f32, bf16, f16, s8, u8 };

// Returns the caller's memory for a weight in a layout that oneDNN prefers;
// `layout` names the layout. If *filled, the memory holds the weight already;
// else the call fills it. May throw. nullptr: matmul declines, the others use
// their own memory.
using OneDnnPacked = void* (*)(void* context, uint64_t layout, size_t bytes,
                               bool* filled);

// c = alpha * a b + beta * c or, with a bias, c = alpha * a b + bias[j] in
// column j. Strides are in elements. One of the two strides of a matrix is 1,
// the other is at least the width of the matrix.
struct OneDnnMatmul {
  // The type of a, b, c and bias. s8 and u8 are the type of a only: then b is
  // s8, c is s32, alpha is 1 and beta is 0.
  OneDnnType type;
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
  OneDnnPacked packed;  // for b; nullptr: b is read as it lies
  void* packed_context;
};

enum class OneDnnPart : uint32_t { forward, by_input, by_weight };

// One computation of a convolution of x (batch, in, x...) with w (out, in /
// groups, kernel...) to y (batch, out, y...). It is y, or the derivative with
// respect to x or w.
struct OneDnnConvolution {
  OneDnnPart part;
  OneDnnType type;    // of all but w
  OneDnnType w_type;  // the same, or f32 where w is written
  int64_t dims;       // 1 to 3: how many elements of the arrays count
  int64_t batch, in, out, groups;
  int64_t x_size[3], y_size[3], kernel[3];
  int64_t stride[3], padding[3], dilation[3];
  // Else row-major. channels_last is the layout of x and y.
  bool channels_last, w_channels_last;
  const void *x, *w, *y;  // one of them is written
  const void* bias;       // forward: of y's channels, or nullptr
  int threads;
  // Returns memory for the time of the call, aligned to 64 bytes. May throw.
  void* (*allocate)(void* context, size_t bytes);
  void* context;
  OneDnnPacked packed;  // for w, if it is read and not taken as it lies
  void* packed_context;
};

// A contiguous matrix, (4 * hidden) x features, with gates in PyTorch's order.
struct OneDnnLstmWeight {
  const void* data;
  OneDnnPacked packed;  // nullptr: it is brought to oneDNN's layout each time
  void* packed_context;
};

// One direction of a layer over x (steps x rows x in) to y (steps x rows x
// hidden), from the states h and c (rows x hidden) to last_h and last_c. All
// are contiguous and float.
struct OneDnnLstm {
  int64_t steps, rows, in, hidden;
  bool reverse;  // from the last step on
  const void *x, *h, *c;
  OneDnnLstmWeight w_x, w_h;
  const void* bias;  // 4 * hidden: the biases of x and of h, added
  void *y, *last_h, *last_c;
  int threads;
  // Returns memory for the time of the call, aligned to 64 bytes. May throw.
  void* (*allocate)(void* context, size_t bytes);
  void* context;
};

struct OneDnnApi {
  static constexpr uint32_t kVersion = 4;
  uint32_t version;
  // Each returns false, and writes nothing, if oneDNN declines. Thread-safe.
  bool (*matmul)(const OneDnnMatmul* problem);
  bool (*convolution)(const OneDnnConvolution* problem);
  bool (*lstm)(const OneDnnLstm* problem);
};

// The table; nullptr if the library is not there or SWITCHYARD_ONEDNN=0. The
// first call loads it. Thread-safe.
const OneDnnApi* onednn();
// The reason why onednn() is nullptr, for people.
std::string why_no_onednn();

}  // namespace sy::cpu
