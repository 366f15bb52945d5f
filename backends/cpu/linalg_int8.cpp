#include <algorithm>

#include "aten/engine/copy.h"
#include "backends/cpu/gemm/matrix.h"
#include "backends/cpu/gemm/packed_weight.h"
#include "backends/cpu/linalg_kernels_gen.h"
#include "backends/cpu/onednn/api.h"
#include "c10/dispatch/implementation.h"
#include "c10/process/fork.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// The fewest multiplications for which oneDNN is faster than loops.
constexpr int64_t kOneDnnWork = int64_t{1} << 14;

enum : size_t { kPacked, kOneDnn, kLoops };
const Implementations kProducts(
    "CPU", "product of int8 matrices", "_int_mm",
    {{"oneDNN with a packed weight",
      "as oneDNN, up to 64 rows, by a matrix that comes again unchanged while "
      "gradients are off"},
     {"oneDNN", "from 2^14 multiplications on, a CPU with VNNI"},
     {"loops", "all others"}});

// c lies row by row.
bool by_onednn(const Matrix& a, const Matrix& b, const Matrix& c,
               ScalarType dtype, const TensorBase& weight) {
  const int64_t work = a.rows * a.cols * b.cols;
  if (work < kOneDnnWork) {
    return kProducts.declines(kOneDnn, "{} multiplications, fewer than {}",
                              work, kOneDnnWork);
  }
  if (!has_unit_stride(a) || !has_unit_stride(b)) {
    return kProducts.declines(kOneDnn, "a matrix with no stride of 1");
  }
  const OneDnnApi* const api = onednn();
  if (api == nullptr) {
    return kProducts.declines(kOneDnn, "not loaded ({})", why_no_onednn());
  }
  const ForkSection section;
  OneDnnMatmul call{};
  call.type = dtype == kByte ? OneDnnType::u8 : OneDnnType::s8;
  call.batch = 1;
  call.m = a.rows;
  call.n = b.cols;
  call.k = a.cols;
  call.a = a.data;
  call.a_row = a.row_stride;
  call.a_col = a.col_stride;
  call.b = b.data;
  call.b_row = b.row_stride;
  call.b_col = b.col_stride;
  call.c = c.data;
  call.c_row = c.row_stride;
  call.alpha = 1;
  call.threads = in_parallel_region() ? 1 : get_num_threads();
  if (a.rows <= kPackedRows) {
    PackedWeight packed(&weight);
    call.packed = &PackedWeight::memory;
    call.packed_context = &packed;
    if (packed.why_not() != nullptr) {
      kProducts.declines(kPacked, "{}", packed.why_not());
    } else if (api->matmul(&call)) {
      packed.keep();
      kProducts.takes(kPacked);
      return true;
    }
    call.packed = nullptr;
  }
  if (!api->matmul(&call)) {
    return kProducts.declines(kOneDnn, "it has none for this machine");
  }
  kProducts.takes(kOneDnn);
  return true;
}

// Rows of b added up; sums wrap around.
template <class T>
void by_loops(const Matrix& a, const Matrix& b, const Matrix& c) {
  const int64_t work = std::max<int64_t>(1, a.cols * b.cols);
  parallel_for(
      0, a.rows, std::max<int64_t>(1, (1 << 16) / work),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const T* const row = reinterpret_cast<T*>(a.data) + i * a.row_stride;
          auto* const out =
              reinterpret_cast<uint32_t*>(c.data) + i * c.row_stride;
          std::fill_n(out, b.cols, 0u);
          for (int64_t k = 0; k < a.cols; ++k) {
            const int32_t x = row[k * a.col_stride];
            const auto* const terms =
                reinterpret_cast<const int8_t*>(b.data) + k * b.row_stride;
            for (int64_t j = 0; j < b.cols; ++j) {
              out[j] += static_cast<uint32_t>(x * terms[j]);
            }
          }
        }
      });
}

}  // namespace

void int_mm_out(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor c = out.is_contiguous()
                       ? out
                       : Tensor(make_tensor(out.sizes(), kInt, Device(kCPU)));
  const Matrix a = matrix_of(self), to = matrix_of(c);
  if (!by_onednn(a, matrix_of(mat2), to, self.dtype(), mat2)) {
    kProducts.takes(kLoops);
    const Tensor rows = contiguous_cpu(mat2);
    if (self.dtype() == kByte) {
      by_loops<uint8_t>(a, matrix_of(rows), to);
    } else {
      by_loops<int8_t>(a, matrix_of(rows), to);
    }
  }
  if (!c.is_same(out)) copy_cpu(out, c);
}

}  // namespace sy::cpu
