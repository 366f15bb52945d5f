#include <algorithm>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/engine/view.h"
#include "backends/cpu/gemm/matrix.h"
#include "backends/cpu/linalg_kernels_gen.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// n elements as a matrix of one column.
Matrix column(const TensorBase& t) {
  return {static_cast<char*>(t.raw_data()), t.numel(), 1,
          t.dim() == 0 ? 1 : t.strides()[0], 1};
}

}  // namespace

void mm_out(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  multiply("mm", self.dtype(), matrix_of(self), matrix_of(mat2), matrix_of(out),
           1, 0, nullptr, &mat2);
}

void bmm_out(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  const Matrix a = matrix_of(self), b = matrix_of(mat2), c = matrix_of(out);
  const auto item = static_cast<int64_t>(self.itemsize());
  const int64_t steps[] = {self.strides()[0] * item, mat2.strides()[0] * item,
                           out.strides()[0] * item};
  const int64_t work =
      std::max<int64_t>(1, c.rows * c.cols * std::max<int64_t>(a.cols, 1));
  const ScalarType dtype = self.dtype();
  parallel_for(0, self.sizes()[0], std::max<int64_t>(1, (1 << 16) / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   Matrix x = a, y = b, z = c;
                   x.data += i * steps[0];
                   y.data += i * steps[1];
                   z.data += i * steps[2];
                   multiply("bmm", dtype, x, y, z, 1, 0, nullptr);
                 }
               });
}

void addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
               const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  const Matrix a = matrix_of(mat1), b = matrix_of(mat2), c = matrix_of(out);
  const ScalarType dtype = mat1.dtype();
  const int64_t n = c.cols;
  const bool row = self.dim() == 1 && self.sizes()[0] == n &&
                   (n == 1 || self.strides()[0] == 1);
  if (row && beta.to_double() == 1) {
    multiply("addmm", dtype, a, b, c, alpha, 0, self.raw_data(), &mat2);
    return;
  }
  if (beta.to_double() != 0) copy_cpu(out, self);
  multiply("addmm", dtype, a, b, c, alpha, beta, nullptr, &mat2);
}

void mv_out(const Tensor& self, const Tensor& vec, const Tensor& out) {
  multiply("mv", self.dtype(), matrix_of(self), column(vec), column(out), 1, 0,
           nullptr);
}

void dot_out(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  multiply("dot", self.dtype(), column(self).transposed(), column(tensor),
           column(out), 1, 0, nullptr);
}

}  // namespace sy::cpu
