#include <algorithm>

#include "aten/engine/copy.h"
#include "backends/cpu/convolution.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// f(tap, row of x, row of y, n, stride of x) for what the taps of one plane of
// x and one of y have to do with each other.
template <class T, class F>
void for_rows(const ConvolutionGeometry& g, T* x, T* y, const F& f) {
  for (int64_t y0 = 0; y0 < g.y[0]; ++y0) {
    for (int64_t y1 = 0; y1 < g.y[1]; ++y1) {
      T* const row = y + (y0 * g.y[1] + y1) * g.y[2];
      int64_t tap = 0;
      for (int64_t k0 = 0; k0 < g.kernel[0]; ++k0) {
        for (int64_t k1 = 0; k1 < g.kernel[1]; ++k1, tap += g.kernel[2]) {
          const int64_t at = row_of_x(g, y0, y1, k0, k1);
          if (at < 0) continue;
          for (int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
            const RowOverlap o = row_overlap(g, 0, g.y[2], k2);
            f(tap + k2, x + at * g.x[2] + o.start, row + o.begin,
              o.end - o.begin);
          }
        }
      }
    }
  }
}

template <class T>
struct Planes {
  const ConvolutionGeometry& g;
  int64_t stride = g.stride[2];

  void forward(T* x, const T* w, T* y) const {
    for_rows(g, x, y, [&](int64_t tap, const T* from, T* to, int64_t n) {
      const T k = w[tap];
      if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) {
          to[i] = static_cast<T>(to[i] + k * from[i]);
        }
      } else {
        for (int64_t i = 0; i < n; ++i) {
          to[i] = static_cast<T>(to[i] + k * from[i * stride]);
        }
      }
    });
  }

  void by_input(T* x, const T* w, T* y) const {
    for_rows(g, x, y, [&](int64_t tap, T* to, const T* from, int64_t n) {
      const T k = w[tap];
      if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) {
          to[i] = static_cast<T>(to[i] + k * from[i]);
        }
      } else {
        for (int64_t i = 0; i < n; ++i) {
          to[i * stride] = static_cast<T>(to[i * stride] + k * from[i]);
        }
      }
    });
  }

  // Adds in lanes, which compilers make vectors of.
  void by_weight(T* x, T* w, T* y) const {
    constexpr int64_t kLanes = 16;
    for_rows(g, x, y, [&](int64_t tap, const T* a, const T* b, int64_t n) {
      T lanes[kLanes] = {};
      int64_t i = 0;
      if (stride == 1) {
        for (; i + kLanes <= n; i += kLanes) {
          for (int64_t l = 0; l < kLanes; ++l) {
            lanes[l] = static_cast<T>(lanes[l] + a[i + l] * b[i + l]);
          }
        }
      }
      for (; i < n; ++i) {
        T& lane = lanes[i % kLanes];
        lane = static_cast<T>(lane + a[i * stride] * b[i]);
      }
      for (const T lane : lanes) w[tap] = static_cast<T>(w[tap] + lane);
    });
  }
};

int64_t grain(const ConvolutionGeometry& g, int64_t channels) {
  const int64_t work = channels * g.taps() * g.y_places();
  return std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, work));
}

// The channels of one image that are written, for forward and by_input.
template <class T>
void image(const ConvolutionGeometry& g, bool forward, T* x, const T* w, T* y,
           const T* bias) {
  const Planes<T> planes{g};
  const int64_t in = g.group_in(), out = g.group_out(), taps = g.taps();
  const int64_t xs = g.x_places(), ys = g.y_places();
  const auto start = [&](T* plane, int64_t n, int64_t c) {
    std::fill_n(plane, n, bias == nullptr ? T{} : bias[c]);
  };
  if (forward) {
    parallel_for(0, g.out, grain(g, in), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        start(y + o * ys, ys, o);
        for (int64_t c = 0; c < in; ++c) {
          planes.forward(x + (o / out * in + c) * xs, w + (o * in + c) * taps,
                         y + o * ys);
        }
      }
    });
    return;
  }
  parallel_for(0, g.in, grain(g, out), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / in, c = i % in;
      start(x + i * xs, xs, i);
      for (int64_t o = group * out; o < (group + 1) * out; ++o) {
        planes.by_input(x + i * xs, w + (o * in + c) * taps, y + o * ys);
      }
    }
  });
}

template <class T>
void weights(const ConvolutionGeometry& g, T* x, T* w, T* y) {
  const Planes<T> planes{g};
  const int64_t in = g.group_in(), out = g.group_out();
  parallel_for(0, g.out, grain(g, in), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      for (int64_t c = 0; c < in; ++c) {
        planes.by_weight(x + (o / out * in + c) * g.x_places(),
                         w + (o * in + c) * g.taps(), y + o * g.y_places());
      }
    }
  });
}

template <class T>
T* data(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.raw_data()) : nullptr;
}

template <class T>
void run(const Convolution& c, ConvolutionPart part, ScalarType dtype) {
  const Tensor bias =
      c.bias.defined() ? contiguous_cpu(c.bias, dtype) : Tensor();
  if (part == ConvolutionPart::kByWeight) {
    const Tensor w(make_tensor(c.w.sizes(), dtype, Device(kCPU)));
    std::fill_n(data<T>(w), w.numel(), T{});
    for (int64_t n = 0; n < c.g.batch; ++n) {
      const ConvolutionImage x(c.x, n, true), y(c.y, n, true);
      weights(c.g, static_cast<T*>(x.data()), data<T>(w),
              static_cast<T*>(y.data()));
    }
    copy_cpu(c.w, w);
    return;
  }
  const bool forward = part == ConvolutionPart::kForward;
  const Tensor w = contiguous_cpu(c.w, dtype);
  parallel_for(0, c.g.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const ConvolutionImage x(c.x, n, forward), y(c.y, n, !forward);
      image(c.g, forward, static_cast<T*>(x.data()), data<T>(w),
            static_cast<T*>(y.data()), data<T>(bias));
      (forward ? y : x).store();
    }
  });
}

}  // namespace

void convolve_by_rows(const Convolution& c, ConvolutionPart part) {
  const ScalarType dtype = work_dtype(c.x.dtype());
  visit_work_dtype(c.op, dtype, [&]<class T>() { run<T>(c, part, dtype); });
}

}  // namespace sy::cpu
