// Plain loops, which the compiler makes vectors of for each instruction set.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/batch_norm_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/batch_norm.h"
#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = 32;

double total(const double* lanes) {
  double sum = 0;
  for (int64_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

template <class T>
double sum(const T* x, int64_t n) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      lanes[l] += static_cast<double>(x[i + l]);
    }
  }
  for (int64_t l = 0; i < n; ++i, ++l) lanes[l] += static_cast<double>(x[i]);
  return total(lanes);
}

template <class T>
double squares(const T* x, int64_t n, double mean) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      const double d = static_cast<double>(x[i + l]) - mean;
      lanes[l] += d * d;
    }
  }
  for (int64_t l = 0; i < n; ++i, ++l) {
    const double d = static_cast<double>(x[i]) - mean;
    lanes[l] += d * d;
  }
  return total(lanes);
}

template <class T>
void dots(const T* dy, const T* x, int64_t n, double mean, double* sum,
          double* dot) {
  double sums[kLanes] = {}, products[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      const double g = static_cast<double>(dy[i + l]);
      sums[l] += g;
      products[l] += g * (static_cast<double>(x[i + l]) - mean);
    }
  }
  for (int64_t l = 0; i < n; ++i, ++l) {
    const double g = static_cast<double>(dy[i]);
    sums[l] += g;
    products[l] += g * (static_cast<double>(x[i]) - mean);
  }
  *sum += total(sums);
  *dot += total(products);
}

template <class T>
void affine(const T* HWY_RESTRICT x, int64_t n, T a, T b, T* HWY_RESTRICT y) {
  for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + b;
}

template <class T>
void gradient(const T* HWY_RESTRICT dy, const T* HWY_RESTRICT x, int64_t n, T a,
              T b, T c, T mean, T* HWY_RESTRICT dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = a * dy[i] + (b * (x[i] - mean) + c);
}

template <class T>
void row_sum(const T* HWY_RESTRICT x, int64_t rows, int64_t n,
             double* HWY_RESTRICT sums) {
  for (int64_t r = 0; r < rows; ++r, x += n) {
    for (int64_t i = 0; i < n; ++i) sums[i] += static_cast<double>(x[i]);
  }
}

template <class T>
void row_squares(const T* HWY_RESTRICT x, int64_t rows, int64_t n,
                 const double* HWY_RESTRICT means, double* HWY_RESTRICT sums) {
  for (int64_t r = 0; r < rows; ++r, x += n) {
    for (int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(x[i]) - means[i];
      sums[i] += d * d;
    }
  }
}

template <class T>
void row_dots(const T* HWY_RESTRICT dy, const T* HWY_RESTRICT x, int64_t rows,
              int64_t n, const double* HWY_RESTRICT means,
              double* HWY_RESTRICT sums, double* HWY_RESTRICT dots) {
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n) {
    for (int64_t i = 0; i < n; ++i) {
      const double g = static_cast<double>(dy[i]);
      sums[i] += g;
      dots[i] += g * (static_cast<double>(x[i]) - means[i]);
    }
  }
}

template <class T>
void row_affine(const T* HWY_RESTRICT x, int64_t rows, int64_t n,
                const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                T* HWY_RESTRICT y) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    for (int64_t i = 0; i < n; ++i) y[i] = a[i] * x[i] + b[i];
  }
}

template <class T>
void row_gradient(const T* HWY_RESTRICT dy, const T* HWY_RESTRICT x,
                  int64_t rows, int64_t n, const T* HWY_RESTRICT a,
                  const T* HWY_RESTRICT b, const T* HWY_RESTRICT c,
                  const T* HWY_RESTRICT means, T* HWY_RESTRICT dx) {
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    for (int64_t i = 0; i < n; ++i) {
      dx[i] = a[i] * dy[i] + (b[i] * (x[i] - means[i]) + c[i]);
    }
  }
}

}  // namespace

template <class T>
ChannelKernel<T> kernel() {
  return {&sum<T>,        &squares<T>,     &dots<T>,        &affine<T>,
          &gradient<T>,   &row_sum<T>,     &row_squares<T>, &row_dots<T>,
          &row_affine<T>, &row_gradient<T>};
}
template ChannelKernel<float> kernel<float>();
template ChannelKernel<double> kernel<double>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
const ChannelKernel<T>& channel_kernel() {
  SY_TILE_RETURN(ChannelKernel<T>, kernel<T>())
}
template const ChannelKernel<float>& channel_kernel<float>();
template const ChannelKernel<double>& channel_kernel<double>();

}  // namespace sy::cpu
#endif
