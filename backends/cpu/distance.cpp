#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "aten/ops/distance.h"
#include "backends/cpu/distance_kernels_gen.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 1 << 15;
// Products of matrices are faster for more rows than this, as in ATen.
constexpr int64_t kRowsForProducts = 25;

template <class T>
T sign(T v) {
  return static_cast<T>((T(0) < v) - (v < T(0)));
}

// p-norms of differences: `map` of each, joined, `finish`ed; and the slope of
// the result by a difference, given the distance. The joined number may be out
// of range though the result is not, if `kScales`.
template <class T>
struct Count {
  static constexpr bool kScales = false;
  T map(T d) const { return d != 0; }
  static T join(T a, T b) { return a + b; }
  T finish(T a) const { return a; }
  T slope(T, T) const { return 0; }
};
template <class T>
struct Sum {
  static constexpr bool kScales = false;
  T map(T d) const { return std::abs(d); }
  static T join(T a, T b) { return a + b; }
  T finish(T a) const { return a; }
  T slope(T d, T) const { return sign(d); }
};
template <class T>
struct Length {
  static constexpr bool kScales = true;
  T map(T d) const { return d * d; }
  static T join(T a, T b) { return a + b; }
  T finish(T a) const { return std::sqrt(a); }
  T slope(T d, T distance) const { return distance == 0 ? 0 : d / distance; }
};
template <class T>
struct Greatest {
  static constexpr bool kScales = false;
  T map(T d) const { return std::abs(d); }
  static T join(T a, T b) { return b > a || b != b ? b : a; }
  T finish(T a) const { return a; }
  T slope(T d, T distance) const {
    return std::abs(d) == distance ? sign(d) : 0;
  }
};
template <class T>
struct Power {
  static constexpr bool kScales = true;
  T p;
  T map(T d) const { return std::pow(std::abs(d), p); }
  static T join(T a, T b) { return a + b; }
  T finish(T a) const { return std::pow(a, 1 / p); }
  T slope(T d, T distance) const {
    if (distance == 0 || (d == 0 && p < 1)) return 0;
    return sign(d) * std::pow(std::abs(d) / distance, p - 1);
  }
};

// f(norm)
template <class T, class F>
void visit_norm(double p, const F& f) {
  if (p == 0) return f(Count<T>());
  if (p == 1) return f(Sum<T>());
  if (p == 2) return f(Length<T>());
  if (std::isinf(p)) return f(Greatest<T>());
  f(Power<T>{static_cast<T>(p)});
}

template <class F>
void visit_float(ScalarType t, const F& f) {
  if (t == kFloat) return f.template operator()<float>();
  f.template operator()<double>();
}

// Whether a sum of n terms lost nothing to underflow or overflow.
template <class T>
bool is_in_range(T sum, int64_t n) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLeast = Limits::min() / Limits::epsilon();
  return sum >= kLeast * static_cast<T>(n) && sum <= Limits::max();
}

// Differences divided by the greatest first.
template <class T, class N>
T scaled_distance(const N& norm, const T* a, const T* b, int64_t n) {
  T most = 0;
  for (int64_t i = 0; i < n; ++i) {
    most = Greatest<T>::join(most, std::abs(a[i] - b[i]));
  }
  if (most == 0 || !std::isfinite(most)) return most;
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum = N::join(sum, norm.map((a[i] - b[i]) / most));
  }
  return norm.finish(sum) * most;
}

template <class T, class N>
T distance(const N& norm, const T* a, const T* b, int64_t n) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      lanes[l] = N::join(lanes[l], norm.map(a[i + l] - b[i + l]));
    }
  }
  for (int64_t l = 0; i < n; ++i, ++l) {
    lanes[l] = N::join(lanes[l], norm.map(a[i] - b[i]));
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) {
      lanes[l] = N::join(lanes[l], lanes[l + half]);
    }
  }
  if constexpr (N::kScales) {
    if (SY_UNLIKELY(!is_in_range(lanes[0], n))) {
      return scaled_distance(norm, a, b, n);
    }
  }
  return norm.finish(lanes[0]);
}

// out += g * the slope for the vectors a and b.
template <class T, class N>
void add_slope(const N& norm, const T* a, const T* b, int64_t n, T g,
               T distance, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] += g * norm.slope(a[i] - b[i], distance);
  }
}

int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work));
}

template <class T>
const T* data(const Tensor& t) {
  return static_cast<const T*>(t.raw_data());
}

// Returns t with a matrix for each of the batch, contiguous.
Tensor spread(const Tensor& t, IntArrayRef batch) {
  Dims sizes(batch);
  sizes.push_back(t.size(-2));
  sizes.push_back(t.size(-1));
  if (t.is_contiguous() && t.sizes() == IntArrayRef(sizes)) return t;
  Tensor all(make_tensor(sizes, t.dtype(), Device(kCPU)));
  copy_cpu(all, t);
  return all;
}

Tensor room_for(const Tensor& out) {
  return out.is_contiguous()
             ? out
             : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
}

void store(const Tensor& room, const Tensor& out) {
  if (!room.is_same(out)) copy_cpu(out, room);
}

// The place of the distance of rows i < j in the result of pdist.
int64_t pair_index(int64_t i, int64_t j, int64_t n) {
  return n * i - i * (i + 1) / 2 + j - i - 1;
}

}  // namespace

void cdist_forward_out(const Tensor& x1, const Tensor& x2, double p,
                       std::optional<int64_t> compute_mode, const Tensor& out) {
  const int64_t rows = x1.size(-2), cols = x2.size(-2), n = x1.size(-1);
  const int64_t mode = compute_mode.value_or(0);
  const bool large = rows > kRowsForProducts || cols > kRowsForProducts;
  if (p == 2 && n > 0 && (mode == 1 || (mode == 0 && large))) {
    copy_cpu(out, sy::_euclidean_dist(x1, x2));
    return;
  }
  if (out.numel() == 0) return;
  const IntArrayRef batch = out.sizes().slice(0, out.sizes().size() - 2);
  const Tensor a = spread(x1, batch), b = spread(x2, batch);
  const Tensor room = room_for(out);
  visit_float(out.dtype(), [&]<class T>() {
    visit_norm<T>(p, [&](const auto& norm) {
      parallel_for(0, out.numel() / cols, grain_of(cols * n),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t r = begin; r < end; ++r) {
                       const T* other = data<T>(b) + r / rows * cols * n;
                       T* to = static_cast<T*>(room.raw_data()) + r * cols;
                       for (int64_t c = 0; c < cols; ++c) {
                         to[c] = distance(norm, data<T>(a) + r * n,
                                          other + c * n, n);
                       }
                     }
                   });
    });
  });
  store(room, out);
}

void cdist_backward_out(const Tensor& grad_output, const Tensor& x1,
                        const Tensor& x2, double p, const Tensor& cdist,
                        const Tensor& out) {
  const int64_t rows = x1.size(-2), cols = x2.size(-2), n = x1.size(-1);
  if (out.numel() == 0) return;
  const IntArrayRef batch = out.sizes().slice(0, out.sizes().size() - 2);
  const Tensor a = spread(x1, batch), b = spread(x2, batch);
  const Tensor g = contiguous_cpu(grad_output), d = contiguous_cpu(cdist);
  const Tensor room = room_for(out);
  visit_float(out.dtype(), [&]<class T>() {
    visit_norm<T>(p, [&](const auto& norm) {
      parallel_for(0, out.numel() / n, grain_of(cols * n),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t r = begin; r < end; ++r) {
                       const T* other = data<T>(b) + r / rows * cols * n;
                       T* to = static_cast<T*>(room.raw_data()) + r * n;
                       std::fill_n(to, n, T(0));
                       for (int64_t c = 0; c < cols; ++c) {
                         add_slope(norm, data<T>(a) + r * n, other + c * n, n,
                                   data<T>(g)[r * cols + c],
                                   data<T>(d)[r * cols + c], to);
                       }
                     }
                   });
    });
  });
  store(room, out);
}

void pdist_forward_out(const Tensor& self, double p, const Tensor& out) {
  const int64_t rows = self.size(0), n = self.size(1);
  if (out.numel() == 0) return;
  const Tensor x = contiguous_cpu(self);
  const Tensor room = room_for(out);
  visit_float(out.dtype(), [&]<class T>() {
    visit_norm<T>(p, [&](const auto& norm) {
      parallel_for(
          0, rows - 1, grain_of(rows * n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              T* to =
                  static_cast<T*>(room.raw_data()) + pair_index(i, i + 1, rows);
              for (int64_t j = i + 1; j < rows; ++j) {
                *to++ =
                    distance(norm, data<T>(x) + i * n, data<T>(x) + j * n, n);
              }
            }
          });
    });
  });
  store(room, out);
}

void pdist_backward_out(const Tensor& grad_output, const Tensor& self, double p,
                        const Tensor& pdist, const Tensor& out) {
  const int64_t rows = self.size(0), n = self.size(1);
  if (out.numel() == 0) return;
  const Tensor x = contiguous_cpu(self);
  const Tensor g = contiguous_cpu(grad_output), d = contiguous_cpu(pdist);
  const Tensor room = room_for(out);
  visit_float(out.dtype(), [&]<class T>() {
    visit_norm<T>(p, [&](const auto& norm) {
      parallel_for(0, rows, grain_of(rows * n),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       T* to = static_cast<T*>(room.raw_data()) + i * n;
                       std::fill_n(to, n, T(0));
                       for (int64_t j = 0; j < rows; ++j) {
                         if (j == i) continue;
                         const int64_t at =
                             pair_index(std::min(i, j), std::max(i, j), rows);
                         add_slope(norm, data<T>(x) + i * n, data<T>(x) + j * n,
                                   n, data<T>(g)[at], data<T>(d)[at], to);
                       }
                     }
                   });
    });
  });
  store(room, out);
}

}  // namespace sy::cpu
