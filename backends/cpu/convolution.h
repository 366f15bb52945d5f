#pragma once

#include "aten/contract/convolution.h"
#include "aten/tensor.h"
#include "c10/implementation.h"

// The three computations of a convolution (see ConvolutionGeometry), one of
// x, w and y being written. Several ways to each; convolution.cpp chooses.

namespace sy::cpu {

struct Convolution {
  const char* op;
  ConvolutionGeometry g;
  // Of one dtype, at any strides.
  Tensor x, w, y;
  // One element for each channel of what `forward` and `by_input` write, which
  // is added; may be undefined.
  Tensor bias;
};

enum class ConvolutionPart : uint8_t {
  kForward,   // y from x and w
  kByInput,   // x: the derivative where y has the gradient
  kByWeight,  // w: the same
};

// In the order in which they are asked.
enum ConvolutionBy : size_t {
  kByProducts,
  kByOneDnn,
  kByRows,
  kByColumns,
};
extern const Implementations kConvolutions;

// Whether x itself is what taps see, so that it is a product of matrices.
bool is_product(const ConvolutionGeometry& g);

// By products of matrices: of taps written out as columns, tile by tile.
void convolve_by_columns(const Convolution& c, ConvolutionPart part);
// By loops over rows, for groups of few channels.
void convolve_by_rows(const Convolution& c, ConvolutionPart part);
// False, with nothing written, if oneDNN is not there or declines.
bool convolve_by_onednn(const Convolution& c, ConvolutionPart part);

// The dtype that own kernels compute in.
inline ScalarType work_dtype(ScalarType t) {
  return t == kHalf || t == kBFloat16 ? kFloat : t;
}

// f.operator()<T>() for the C++ type of one; unsigned where sums wrap around.
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

// One element of a batch in contiguous memory of the work dtype: its own, or a
// copy that store() writes back.
class ConvolutionImage {
 public:
  ConvolutionImage(const Tensor& batch, int64_t n, bool read);
  void* data() const { return image_.raw_data(); }
  void store() const;

 private:
  Tensor own_, image_;
};

// A range of places of y, as rows.
struct ConvolutionRow {
  int64_t place[3];  // of the first
  int64_t length;
};

// Where tap `k` of dim 2 lies within x along a row of y: places [begin, end) of
// the row, the first at x[start], the others `stride` apart.
struct RowOverlap {
  int64_t begin, end, start;
};
RowOverlap row_overlap(const ConvolutionGeometry& g, int64_t first,
                       int64_t length, int64_t k);
// The row of x that tap (k0, k1) of row (y0, y1) of y reads; -1 if it lies
// outside.
int64_t row_of_x(const ConvolutionGeometry& g, int64_t y0, int64_t y1,
                 int64_t k0, int64_t k1);

}  // namespace sy::cpu
