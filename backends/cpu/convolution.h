#pragma once

#include "aten/contract/convolution.h"
#include "aten/tensor.h"
#include "c10/dispatch/implementation.h"

// There are several ways for each part of a convolution; convolution.cpp
// chooses one.

namespace sy::cpu {

// The ways, in the order in which convolution.cpp tries them.
enum ConvolutionBy : size_t {
  kByProducts,
  kByOneDnn,
  kByRows,
  kByColumns,
};
extern const Implementations kConvolutions;

// Whether the convolution is a plain matrix product with x: one tap, without
// steps and padding.
bool is_product(const ConvolutionGeometry& g);

// Convolves by matrix products. The taps are written out as columns, tile by
// tile.
void convolve_by_columns(const Convolution& c, ConvolutionPart part);
// Convolves by loops over rows, for groups of few channels.
void convolve_by_rows(const Convolution& c, ConvolutionPart part);
// Returns false, and writes nothing, if oneDNN is not there or declines.
bool convolve_by_onednn(const Convolution& c, ConvolutionPart part);

// The dtype that our own kernels compute in.
inline ScalarType work_dtype(ScalarType t) {
  return t == kHalf || t == kBFloat16 ? kFloat : t;
}

// Calls f.operator()<T>() for the C++ type of a work dtype. Integers of 4 and 8
// bytes are unsigned, since sums wrap around.
template <class F>
void visit_work_dtype(const char* op, ScalarType t, const F& f) {
  switch (t) {
    case kFloat: return f.template operator()<float>();
    case kDouble: return f.template operator()<double>();
    case kByte: return f.template operator()<uint8_t>();
    case kChar: return f.template operator()<int8_t>();
    case kShort: return f.template operator()<int16_t>();
    case kInt: return f.template operator()<uint32_t>();
    case kLong: return f.template operator()<uint64_t>();
    default:
      fail(ErrorKind::Type,
           "[{}] input: expected an integer or floating dtype, got {}", op, t);
  }
}

// One element of a batch in contiguous memory of the work dtype. It is the
// tensor's own memory, or a copy that store() writes back.
class ConvolutionImage {
 public:
  ConvolutionImage(const Tensor& batch, int64_t n, bool read);
  void* data() const { return image_.raw_data(); }
  void store() const;

 private:
  Tensor own_, image_;
};

// Some neighbouring places in a row of y.
struct ConvolutionRow {
  int64_t place[3];  // of the first
  int64_t length;
};

// The places [begin, end) of a row of y for which tap `k` of dim 2 lies within
// x. The first one reads x[start], and the others follow `stride` apart.
struct RowOverlap {
  int64_t begin, end, start;
};
RowOverlap row_overlap(const ConvolutionGeometry& g, int64_t first,
                       int64_t length, int64_t k);
// The row of x that tap (k0, k1) reads for row (y0, y1) of y; -1 if it lies
// outside.
int64_t row_of_x(const ConvolutionGeometry& g, int64_t y0, int64_t y1,
                 int64_t k0, int64_t k1);

}  // namespace sy::cpu
