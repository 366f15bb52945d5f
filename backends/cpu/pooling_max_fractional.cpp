#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/pooling_max_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/images.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

// Windows at random starts, after B. Graham, "Fractional max-pooling" (2014).

namespace sy::cpu {

namespace {

// The begins of the windows of one dim, with the roundings of T.
template <class T>
void window_starts(T sample, int64_t size, int64_t windows, int64_t kernel,
                   int64_t* starts) {
  using A = typename Accumulate<T>::type;
  const auto rounded = [](A v) { return static_cast<A>(static_cast<T>(v)); };
  starts[windows - 1] = size - kernel;
  if (windows == 1) return;
  const A alpha = rounded(rounded(static_cast<A>(size - kernel)) /
                          rounded(static_cast<A>(windows - 1)));
  const A s = static_cast<A>(sample);
  // A number that is no sample at all starts at 0.
  const auto whole = [size](A v) {
    return v >= 0 && v <= static_cast<A>(size) ? static_cast<int64_t>(v) : 0;
  };
  const int64_t base = whole(rounded(s * alpha));
  for (int64_t i = 0; i < windows - 1; ++i) {
    const A at = rounded(rounded(static_cast<A>(i) + s) * alpha);
    starts[i] = std::clamp<int64_t>(whole(at) - base, 0, size - kernel);
  }
}

struct Fractional {
  int64_t kernel[3] = {1, 1, 1}, windows[3] = {1, 1, 1};
  int64_t longest() const { return *std::max_element(windows, windows + 3); }
};

// `starts` has room for the windows of the three axes.
template <class T>
void pool_plane(const Images& in, const Fractional& f, const T* plane,
                int64_t* const* starts, T* out, int64_t* indices) {
  using A = typename Accumulate<T>::type;
  for (int64_t d = 0; d < f.windows[0]; ++d) {
    for (int64_t h = 0; h < f.windows[1]; ++h) {
      for (int64_t w = 0; w < f.windows[2]; ++w) {
        const int64_t z = starts[0][d], y = starts[1][h], x = starts[2][w];
        int64_t where = (z * in.size[1] + y) * in.size[2] + x;
        A most = -std::numeric_limits<A>::infinity();
        for (int64_t i = z; i < z + f.kernel[0]; ++i) {
          for (int64_t j = y; j < y + f.kernel[1]; ++j) {
            const int64_t row = (i * in.size[1] + j) * in.size[2];
            for (int64_t k = row + x; k < row + x + f.kernel[2]; ++k) {
              const A v = static_cast<A>(plane[k]);
              if (v > most || v != v) {
                most = v;
                where = k;
              }
            }
          }
        }
        *out++ = static_cast<T>(most);
        *indices++ = where;
      }
    }
  }
}

void fractional_max_pool(const char* op, int64_t n, const Tensor& self,
                         IntArrayRef kernel_size, const Tensor& random_samples,
                         const Tensor& out, const Tensor& indices) {
  if (out.numel() == 0) return;
  const Images in = read_images(self, n, self.dtype(), false);
  const Images room = room_for_images(out, n, self.dtype(), false);
  const Images at = room_for_images(indices, n, kLong, false);
  // samples[i][c]: two numbers, of width and height, or three, of depth first.
  const Images samples = read_images(random_samples, 1, self.dtype(), false);
  Fractional f;
  for (int64_t k = 0; k < n; ++k) {
    f.kernel[3 - n + k] = kernel_size[static_cast<size_t>(k)];
    f.windows[3 - n + k] = room.size[3 - n + k];
  }
  visit_floating_dtypes(op, self.dtype(), [&]<class T>() {
    const int64_t windows = room.places();
    parallel_for(
        0, in.planes(), grain_of(windows * f.kernel[1] * f.kernel[2]),
        [&](int64_t begin, int64_t end) {
          ScratchVector<int64_t> memory(static_cast<size_t>(3 * f.longest()));
          int64_t* const starts[3] = {memory.data(),
                                      memory.data() + f.longest(),
                                      memory.data() + 2 * f.longest()};
          for (int64_t p = begin; p < end; ++p) {
            const int64_t i = p / in.channels, c = p % in.channels;
            const T* const sample =
                samples.data<T>() + (i * samples.channels + c) * n;
            for (int64_t k = 3 - n; k < 3; ++k) {
              const int64_t of = n == 2 ? 2 - k : k;
              window_starts(sample[of], in.size[k], f.windows[k], f.kernel[k],
                            starts[k]);
            }
            if (n == 2) starts[0][0] = 0;
            pool_plane(in, f, in.data<T>() + p * in.places(), starts,
                       room.data<T>() + p * windows,
                       at.data<int64_t>() + p * windows);
          }
        });
  });
  store_images(room, out);
  store_images(at, indices);
}

}  // namespace

void fractional_max_pool2d_out(const Tensor& self, IntArrayRef kernel_size,
                               IntArrayRef, const Tensor& random_samples,
                               const Tensor& out, const Tensor& indices) {
  fractional_max_pool("fractional_max_pool2d", 2, self, kernel_size,
                      random_samples, out, indices);
}

void fractional_max_pool3d_out(const Tensor& self, IntArrayRef kernel_size,
                               IntArrayRef, const Tensor& random_samples,
                               const Tensor& out, const Tensor& indices) {
  fractional_max_pool("fractional_max_pool3d", 3, self, kernel_size,
                      random_samples, out, indices);
}

}  // namespace sy::cpu
