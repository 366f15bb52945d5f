#include "backends/cpu/gemm/matrix.h"

#include <algorithm>
#include <type_traits>

#include "aten/engine/copy.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/gemm/gemm_blas.h"
#include "backends/cpu/gemm/packed_weight.h"
#include "backends/cpu/onednn/api.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/dispatch/implementation.h"
#include "c10/process/fork.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// The fewest multiplications for which oneDNN is faster than our own loops.
constexpr int64_t kOneDnnWork = int64_t{1} << 21;
constexpr int64_t kOneDnnWorkReduced = int64_t{1} << 17;
// Rows by which columns are read again rather than converted to float.
constexpr int64_t kFewRows = 4;

enum : size_t { kPacked, kOneDnn, kPairs, kGemm, kCopies, kLoops };
const Implementations kProducts(
    "CPU", "product of matrices",
    "mm addmm bmm mv dot conv_tbc convolution "
    "convolution_backward",
    {{"oneDNN with a packed weight",
      "as oneDNN, up to 64 rows, by a matrix that comes again unchanged while "
      "gradients are off"},
     {"oneDNN",
      "float32 from 2^21 multiplications on but rows by a vector; from 2^17 on "
      "bfloat16 without AVX512_BF16 or with AMX_BF16, and float16 with "
      "AVX512_FP16; rows or columns lie close together"},
     {"gemm of pairs",
      "bfloat16 with AVX512_BF16; of a weight that comes again packed"},
     {"gemm",
      "float32; up to 4 rows by columns that lie close together of "
      "float16, bfloat16"},
     {"gemm of float32 copies", "bfloat16, float16"},
     {"loops", "integers"}});

enum : size_t { kBlas, kOwn };
const Implementations kDoubleProducts(
    "CPU", "product of float64 matrices",
    "mm addmm bmm mv dot conv_tbc convolution "
    "convolution_backward",
    {{"OpenBLAS",
      "from 8 rows by 512 columns of 384 terms on; rows or columns of each "
      "matrix lie close together"},
     {"gemm", "all"}});

// Borrows its matrices and factors.
struct Problem {
  ScalarType dtype;
  const Matrix &a, &b, &c;
  const Scalar &alpha, &beta;
  const void* bias;
  const TensorBase* weight = nullptr;  // that b is of

  int64_t work() const { return a.rows * b.cols * a.cols; }
};

// Whether gemm() computes this at the speed of memory, and oneDNN through
// copies.
bool is_rows_by_vector(const Problem& p) {
  return (p.a.rows == 1 && p.b.row_stride == 1) ||
         (p.b.cols == 1 && p.a.col_stride == 1);
}

bool by_onednn(const Problem& p) {
  OneDnnType type;
  switch (p.dtype) {
    case kFloat: type = OneDnnType::f32; break;
    case kBFloat16:
      if (has_bf16_products() && !has_bf16_tiles()) {
        return kProducts.declines(kOneDnn, "no AMX_BF16");
      }
      type = OneDnnType::bf16;
      break;
    case kHalf:
      if (!has_f16_products()) {
        return kProducts.declines(kOneDnn, "no AVX512_FP16");
      }
      type = OneDnnType::f16;
      break;
    default: return kProducts.declines(kOneDnn, "dtype {}", p.dtype);
  }
  const int64_t least = p.dtype == kFloat ? kOneDnnWork : kOneDnnWorkReduced;
  if (p.work() < least) {
    return kProducts.declines(kOneDnn, "{} multiplications, fewer than {}",
                              p.work(), least);
  }
  if (p.dtype == kFloat && is_rows_by_vector(p)) {
    return kProducts.declines(kOneDnn, "rows by a vector");
  }
  if (p.c.col_stride != 1 || p.c.row_stride < p.c.cols ||
      !has_unit_stride(p.a) || !has_unit_stride(p.b)) {
    return kProducts.declines(kOneDnn, "a matrix with no stride of 1");
  }
  const OneDnnApi* api = onednn();
  if (api == nullptr) {
    return kProducts.declines(kOneDnn, "not loaded ({})", why_no_onednn());
  }
  const ForkSection section;
  OneDnnMatmul call = {type,
                       1,
                       p.a.rows,
                       p.b.cols,
                       p.a.cols,
                       p.a.data,
                       0,
                       p.a.row_stride,
                       p.a.col_stride,
                       p.b.data,
                       0,
                       p.b.row_stride,
                       p.b.col_stride,
                       p.c.data,
                       0,
                       p.c.row_stride,
                       p.bias,
                       static_cast<float>(p.alpha.to_double()),
                       static_cast<float>(p.beta.to_double()),
                       in_parallel_region() ? 1 : get_num_threads(),
                       &PackedWeight::memory,
                       nullptr};
  if (p.a.rows <= kPackedRows) {
    PackedWeight packed(p.weight);
    call.packed_context = &packed;
    if (packed.why_not() != nullptr) {
      kProducts.declines(kPacked, "{}", packed.why_not());
    } else if (api->matmul(&call)) {
      packed.keep();
      kProducts.takes(kPacked);
      return true;
    }
  } else {
    kProducts.declines(kPacked, "{} rows, more than {}", p.a.rows, kPackedRows);
  }
  call.packed = nullptr;
  if (!api->matmul(&call)) {
    return kProducts.declines(kOneDnn, "it has none for this machine");
  }
  kProducts.takes(kOneDnn);
  return true;
}

template <class T>
Gemm<T> gemm_of(const Problem& p) {
  return {p.a.rows,
          p.b.cols,
          p.a.cols,
          reinterpret_cast<const T*>(p.a.data),
          p.a.row_stride,
          p.a.col_stride,
          reinterpret_cast<const T*>(p.b.data),
          p.b.row_stride,
          p.b.col_stride,
          reinterpret_cast<T*>(p.c.data),
          p.c.row_stride,
          static_cast<T>(p.alpha.to_double()),
          static_cast<T>(p.beta.to_double()),
          static_cast<const T*>(p.bias)};
}

bool by_blas(const Problem& p, const Gemm<double>& g) {
  const Implementations& list = kDoubleProducts;
  if (g.m < kBlasRows || g.n < kBlasCols || g.k < kBlasTerms) {
    return list.declines(kBlas,
                         "{} rows, {} columns, {} terms, fewer than {}, {} or "
                         "{}",
                         g.m, g.n, g.k, kBlasRows, kBlasCols, kBlasTerms);
  }
  if (g.c_row < g.n || !has_unit_stride(p.a) || !has_unit_stride(p.b)) {
    return list.declines(kBlas, "a matrix with no stride of 1");
  }
  if (g.alpha == 0) {
    // BLAS would not read a and b, and lose their NaN.
    return list.declines(kBlas, "alpha is 0");
  }
  if (!fits_blas(g)) {
    return list.declines(kBlas, "a size or stride of 2^31 or more");
  }
  const LapackApi* api = lapack();
  if (api == nullptr) {
    return list.declines(kBlas, "not loaded ({})", why_no_lapack());
  }
  list.takes(kBlas);
  gemm_by_blas(*api, g);
  return true;
}

void by_doubles(const Problem& p) {
  const Gemm<double> g = gemm_of<double>(p);
  if (by_blas(p, g)) return;
  kDoubleProducts.takes(kOwn);
  gemm(g);
}

// Bytes of a packed weight mean what gemm_bf16 makes of them.
constexpr uint64_t kPairsLayout = 0x73726961705f3662;

bool by_pairs(const Problem& p) {
  if (p.dtype != kBFloat16) return false;
  if (!has_bf16_products()) {
    return kProducts.declines(kPairs, "no AVX512_BF16");
  }
  GemmBf16 g{p.a.rows,
             p.b.cols,
             p.a.cols,
             reinterpret_cast<const BFloat16*>(p.a.data),
             p.a.row_stride,
             p.a.col_stride,
             reinterpret_cast<const BFloat16*>(p.b.data),
             p.b.row_stride,
             p.b.col_stride,
             p.c.data,
             p.c.row_stride,
             false,
             static_cast<float>(p.alpha.to_double()),
             static_cast<float>(p.beta.to_double()),
             static_cast<const BFloat16*>(p.bias)};
  kProducts.takes(kPairs);
  if (p.a.rows > kPackedRows || p.work() < kOneDnnWorkReduced ||
      !packs_bf16(g)) {
    gemm(g);
    return true;
  }
  PackedWeight packed(p.weight);
  if (packed.why_not() == nullptr) {
    g.packed = PackedWeight::memory(
        &packed, kPairsLayout,
        static_cast<size_t>(bf16_packed_bytes(p.a.cols, p.b.cols)),
        &g.is_packed);
  }
  gemm(g);
  if (g.packed != nullptr) packed.keep();
  return true;
}

// Few rows by columns that lie close together, of 16 bits.
bool by_converting_dots(const Problem& p) {
  if (p.a.rows > kFewRows || p.b.row_stride != 1 || p.a.cols == 0) {
    return false;
  }
  const tiles::ConvertFn widen = tiles::convert_fn(p.dtype, kFloat);
  const tiles::ConvertFn narrow = tiles::convert_fn(kFloat, p.dtype);
  const int64_t n = p.b.cols, k = p.a.cols;
  const Tensor room(make_tensor({k + 2 * n}, kFloat, Device(kCPU)));
  float* const x = static_cast<float*>(room.raw_data());
  float* const y = x + k;
  float* const bias = p.bias == nullptr ? nullptr : y + n;
  if (bias != nullptr) widen(bias, p.bias, n);
  kProducts.takes(kGemm);
  for (int64_t i = 0; i < p.a.rows; ++i) {
    const char* const from = p.a.data + 2 * i * p.a.row_stride;
    char* const to = p.c.data + 2 * i * p.c.row_stride;
    if (p.a.col_stride == 1) {
      widen(x, from, k);
    } else {
      for (int64_t j = 0; j < k; ++j) {
        widen(x + j, from + 2 * j * p.a.col_stride, 1);
      }
    }
    if (p.beta.to_double() != 0) widen(y, to, n);
    gemm_dots(p.dtype, {n, k, p.b.data, p.b.col_stride, x, y, 1,
                        static_cast<float>(p.alpha.to_double()),
                        static_cast<float>(p.beta.to_double()), bias, 1});
    narrow(to, y, n);
  }
  return true;
}

// Integers, which wrap around: rows of b added up.
template <class T>
void by_loops(const Problem& p) {
  kProducts.takes(kLoops);
  using U = std::make_unsigned_t<T>;
  const auto at = [](const Matrix& m, int64_t i, int64_t j) -> T& {
    return reinterpret_cast<T*>(m.data)[i * m.row_stride + j * m.col_stride];
  };
  const U alpha = static_cast<U>(p.alpha.to_long());
  const U beta = static_cast<U>(p.beta.to_long());
  const int64_t grain =
      std::max<int64_t>(1, 32768 / std::max<int64_t>(1, p.b.cols * p.a.cols));
  parallel_for(0, p.a.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < p.b.cols; ++j) {
        T& c = at(p.c, i, j);
        U start = beta == 0 ? U{0} : static_cast<U>(beta * static_cast<U>(c));
        if (p.bias != nullptr) {
          start = static_cast<U>(static_cast<const T*>(p.bias)[j]);
        }
        c = static_cast<T>(start);
      }
      for (int64_t k = 0; k < p.a.cols; ++k) {
        const U x = static_cast<U>(alpha * static_cast<U>(at(p.a, i, k)));
        for (int64_t j = 0; j < p.b.cols; ++j) {
          T& c = at(p.c, i, j);
          c = static_cast<T>(static_cast<U>(static_cast<U>(c) +
                                            x * static_cast<U>(at(p.b, k, j))));
        }
      }
    }
  });
}

Tensor over(const Matrix& m, ScalarType dtype) {
  const int64_t span =
      (m.rows - 1) * m.row_stride + (m.cols - 1) * m.col_stride + 1;
  Storage s = StorageImpl::adopt(
      m.data, static_cast<size_t>(span) * element_size(dtype), Device(kCPU),
      nullptr, nullptr);
  return Tensor(TensorImpl::make(std::move(s), dtype, Device(kCPU),
                                 DispatchKeySet::dense(kCPU), {m.rows, m.cols},
                                 {m.row_stride, m.col_stride}, 0));
}

void run(const char* op, const Problem& p);

// Multiplies in another dtype or layout, through copies of what does not fit.
void by_copies(const char* op, const Problem& p, ScalarType dtype) {
  if (dtype != p.dtype) kProducts.takes(kCopies);
  const auto converted = [&](const Matrix& m) {
    return m.rows == 0 || m.cols == 0
               ? Tensor(make_tensor({m.rows, m.cols}, dtype, Device(kCPU)))
               : contiguous_cpu(over(m, p.dtype), dtype);
  };
  // Copies lie as the matrices do: by rows or by columns.
  const auto operand = [&](const Matrix& m, Tensor& copy) {
    if (dtype == p.dtype) return m;
    const bool by_columns = m.row_stride == 1 && m.col_stride != 1;
    copy = converted(by_columns ? m.transposed() : m);
    return by_columns ? matrix_of(copy).transposed() : matrix_of(copy);
  };
  Tensor a_copy, b_copy;
  const Matrix a = operand(p.a, a_copy), b = operand(p.b, b_copy);
  const Tensor c(make_tensor({p.c.rows, p.c.cols}, dtype, Device(kCPU)));
  const Tensor target = over(p.c, p.dtype);
  if (p.beta.to_double() != 0) copy_cpu(c, target);
  Tensor bias;
  const void* bias_data = p.bias;
  if (p.bias != nullptr && dtype != p.dtype) {
    bias = converted({static_cast<char*>(const_cast<void*>(p.bias)), 1,
                      p.c.cols, p.c.cols, 1});
    bias_data = bias.raw_data();
  }
  run(op, {dtype, a, b, matrix_of(c), p.alpha, p.beta, bias_data});
  copy_cpu(target, c);
}

void run(const char* op, const Problem& p) {
  if (p.c.rows == 0 || p.c.cols == 0) return;
  if (p.c.cols > 1 && p.c.col_stride != 1) {
    if (p.bias == nullptr && (p.c.row_stride == 1 || p.c.rows == 1)) {
      return run(op, {p.dtype, p.b.transposed(), p.a.transposed(),
                      p.c.transposed(), p.alpha, p.beta, nullptr});
    }
    return by_copies(op, p, p.dtype);
  }
  if (p.dtype == kDouble) return by_doubles(p);
  if (by_onednn(p) || by_pairs(p)) return;
  switch (p.dtype) {
    case kFloat: kProducts.takes(kGemm); return gemm(gemm_of<float>(p));
    case kHalf:
    case kBFloat16:
      if (by_converting_dots(p)) return;
      return by_copies(op, p, kFloat);
    case kByte: return by_loops<uint8_t>(p);
    case kChar: return by_loops<int8_t>(p);
    case kShort: return by_loops<int16_t>(p);
    case kInt: return by_loops<int32_t>(p);
    case kLong: return by_loops<int64_t>(p);
    default:
      fail(ErrorKind::Type,
           "[{}] self: expected an integer or floating dtype, got {}", op,
           p.dtype);
  }
}

}  // namespace

bool has_unit_stride(const Matrix& m) {
  return (m.col_stride == 1 && m.row_stride >= std::max<int64_t>(m.cols, 1)) ||
         (m.row_stride == 1 && m.col_stride >= std::max<int64_t>(m.rows, 1));
}

Matrix matrix_of(const TensorBase& t) {
  const auto n = static_cast<size_t>(t.dim());
  return {static_cast<char*>(t.raw_data()), t.sizes()[n - 2], t.sizes()[n - 1],
          t.strides()[n - 2], t.strides()[n - 1]};
}

void multiply(const char* op, ScalarType dtype, const Matrix& a,
              const Matrix& b, const Matrix& c, const Scalar& alpha,
              const Scalar& beta, const void* bias, const TensorBase* weight) {
  run(op, {dtype, a, b, c, alpha, beta, bias, weight});
}

}  // namespace sy::cpu
