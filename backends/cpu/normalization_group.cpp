#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/kernel/norm_kernel.h"
#include "backends/cpu/normalization_kernels_gen.h"
#include "backends/cpu/support/converted.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;

// Each of n x groups groups: `channels` channels of `places` elements, which
// lie together.
struct Groups {
  int64_t n, groups, channels, places;

  Groups(const Tensor& input, int64_t group)
      : n(input.sizes()[0]),
        groups(group),
        channels(input.sizes()[1] / group),
        places(1) {
    for (size_t d = 2; d < input.sizes().size(); ++d) {
      places *= input.sizes()[d];
    }
  }
  int64_t count() const { return n * groups; }
  int64_t size() const { return channels * places; }
  int64_t grain() const {
    return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size()));
  }
};

template <class T>
constexpr ScalarType kTypeOf = std::is_same_v<T, double> ? kDouble : kFloat;

template <class T>
Tensor as_compute(const std::optional<Tensor>& t) {
  return t && t->defined() ? contiguous_cpu(*t, kTypeOf<T>) : Tensor();
}
template <class T>
T* data_of(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.raw_data()) : nullptr;
}

template <class T>
void forward(const Groups& g, const Tensor& input,
             const std::optional<Tensor>& weight,
             const std::optional<Tensor>& bias, double eps, const Tensor& out,
             const Tensor& mean_out, const Tensor& rstd_out) {
  const NormKernel<T>& k = norm_kernel<T>();
  const Tensor x_held = contiguous_cpu(input), y_held = contiguous_target(out);
  const ConvertedSource<T> x(x_held);
  const ConvertedTarget<T> y(y_held);
  const Tensor w_held = as_compute<T>(weight), b_held = as_compute<T>(bias);
  const T* const w = data_of<T>(w_held);
  const T* const b = data_of<T>(b_held);
  const Tensor means(make_tensor(mean_out.sizes(), kTypeOf<T>, Device(kCPU)));
  const Tensor rstds(make_tensor(rstd_out.sizes(), kTypeOf<T>, Device(kCPU)));
  const int64_t size = g.size();
  parallel_for(0, g.count(), g.grain(), [&](int64_t begin, int64_t end) {
    ScratchVector<T> room(x.converts() ? static_cast<size_t>(size) : 0);
    for (int64_t i = begin; i < end; ++i) {
      const T* const from = x.read(i * size, size, room.data());
      T* const to = y.begin(i * size, room.data());
      const double count = static_cast<double>(size);
      const T mean = size == 0 ? 0 : static_cast<T>(k.sum(from, size) / count);
      const T rstd = static_cast<T>(
          1 / std::sqrt(k.squares(from, mean, size) / count + eps));
      data_of<T>(means)[i] = mean;
      data_of<T>(rstds)[i] = rstd;
      const int64_t first = i % g.groups * g.channels;
      if (g.places == 1) {
        k.apply(to, from, mean, rstd, w == nullptr ? nullptr : w + first,
                b == nullptr ? nullptr : b + first, size);
      } else {
        for (int64_t c = 0; c < g.channels; ++c) {
          k.scale(to + c * g.places, from + c * g.places, mean,
                  w == nullptr ? rstd : rstd * w[first + c],
                  b == nullptr ? T{0} : b[first + c], g.places);
        }
      }
      y.end(i * size, size, room.data());
    }
  });
  store_target(out, y_held);
  copy_cpu(mean_out, means);
  copy_cpu(rstd_out, rstds);
}

// The sums of dy and of dy * (x - mean) of each channel of a group.
template <class T>
void channel_sums(const NormKernel<T>& k, const Groups& g, const T* dy,
                  const T* x, T mean, double* sums) {
  if (g.places != 1) {
    for (int64_t c = 0; c < g.channels; ++c) {
      k.sums(dy + c * g.places, x + c * g.places, mean, nullptr, g.places,
             sums + 2 * c);
    }
    return;
  }
  for (int64_t c = 0; c < g.channels; ++c) {
    sums[2 * c] = static_cast<double>(dy[c]);
    sums[2 * c + 1] = static_cast<double>(dy[c] * (x[c] - mean));
  }
}

template <class T>
void backward(const Groups& g, const Tensor& grad_out,
              const std::optional<Tensor>& grad_mean,
              const std::optional<Tensor>& grad_rstd, const Tensor& input,
              const Tensor& mean, const Tensor& rstd,
              const std::optional<Tensor>& weight, const Tensor& input_grad,
              const Tensor& weight_grad, const Tensor& bias_grad) {
  const NormKernel<T>& k = norm_kernel<T>();
  const Tensor dy_held = contiguous_cpu(grad_out);
  const Tensor x_held = contiguous_cpu(input);
  const ConvertedSource<T> dy_source(dy_held), x_source(x_held);
  const Tensor mean_held = contiguous_cpu(mean, kTypeOf<T>);
  const Tensor rstd_held = contiguous_cpu(rstd, kTypeOf<T>);
  const Tensor gm_held = as_compute<T>(grad_mean);
  const Tensor gr_held = as_compute<T>(grad_rstd);
  const Tensor w_held = as_compute<T>(weight);
  const T* const w = data_of<T>(w_held);
  const int64_t size = g.size(), channels = g.groups * g.channels;
  // Two for each channel of each batch, summed over batches at the end.
  const Tensor sums(make_tensor({g.n, channels, 2}, kDouble, Device(kCPU)));
  std::optional<ConvertedTarget<T>> dx;
  if (input_grad.defined()) dx.emplace(input_grad);

  parallel_for(0, g.count(), g.grain(), [&](int64_t begin, int64_t end) {
    const size_t n = dy_source.converts() ? static_cast<size_t>(size) : 0;
    ScratchVector<T> dy_room(n), x_room(n);
    for (int64_t i = begin; i < end; ++i) {
      const T* const dy = dy_source.read(i * size, size, dy_room.data());
      const T* const x = x_source.read(i * size, size, x_room.data());
      const T mean_i = data_of<T>(mean_held)[i];
      const auto r = static_cast<double>(data_of<T>(rstd_held)[i]);
      const int64_t first = i % g.groups * g.channels;
      double* const s = data_of<double>(sums) + 2 * i * g.channels;
      channel_sums(k, g, dy, x, mean_i, s);
      double s0 = 0, s1 = 0;
      for (int64_t c = 0; c < g.channels; ++c) {
        const double by = w == nullptr ? 1 : static_cast<double>(w[first + c]);
        s0 += s[2 * c] * by;
        s1 += s[2 * c + 1] * by;
        s[2 * c + 1] *= r;
      }
      if (!dx) continue;
      const double count = static_cast<double>(size);
      const double cube = r * r * r / count;
      double shift = -s0 * r / count, slope = -s1 * cube;
      if (gm_held.defined()) {
        shift += static_cast<double>(data_of<T>(gm_held)[i]) / count;
      }
      if (gr_held.defined()) {
        slope -= static_cast<double>(data_of<T>(gr_held)[i]) * cube;
      }
      T* const to = dx->begin(i * size, dy_room.data());
      if (g.places == 1) {
        k.grad(to, dy, x, w == nullptr ? nullptr : w + first, mean_i,
               static_cast<T>(r), static_cast<T>(slope), static_cast<T>(shift),
               size);
      } else {
        for (int64_t c = 0; c < g.channels; ++c) {
          const double by =
              w == nullptr ? r : r * static_cast<double>(w[first + c]);
          const int64_t at = c * g.places;
          k.grad(to + at, dy + at, x + at, nullptr, mean_i, static_cast<T>(by),
                 static_cast<T>(slope), static_cast<T>(shift), g.places);
        }
      }
      dx->end(i * size, size, dy_room.data());
    }
  });

  const auto over_batches = [&](int64_t which, const Tensor& to) {
    if (!to.defined()) return;
    const Tensor total(make_tensor({channels}, kDouble, Device(kCPU)));
    std::fill_n(data_of<double>(total), channels, 0.0);
    for (int64_t b = 0; b < g.n; ++b) {
      const double* const s = data_of<double>(sums) + 2 * b * channels;
      for (int64_t c = 0; c < channels; ++c) {
        data_of<double>(total)[c] += s[2 * c + which];
      }
    }
    copy_cpu(to, total);
  };
  over_batches(1, weight_grad);
  over_batches(0, bias_grad);
}

}  // namespace

void native_group_norm_out(const Tensor& input,
                           const std::optional<Tensor>& weight,
                           const std::optional<Tensor>& bias, int64_t, int64_t,
                           int64_t, int64_t group, double eps,
                           const Tensor& out, const Tensor& mean,
                           const Tensor& rstd) {
  const Groups groups(input, group);
  visit_compute_type(input.dtype(), [&]<class T>() {
    forward<T>(groups, input, weight, bias, eps, out, mean, rstd);
  });
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward(
    const Tensor& grad_out, const std::optional<Tensor>& grad_mean,
    const std::optional<Tensor>& grad_rstd, const Tensor& input,
    const Tensor& mean, const Tensor& rstd, const std::optional<Tensor>& weight,
    int64_t group, ArrayRef<bool> output_mask) {
  const Groups groups(input, group);
  const Device cpu(kCPU);
  const ScalarType parameter_dtype =
      weight && weight->defined() ? weight->dtype() : input.dtype();
  Tensor dx, dw, db;
  if (output_mask[0]) {
    dx = Tensor(make_tensor(input.sizes(), input.dtype(), cpu));
  }
  if (output_mask[1]) {
    dw = Tensor(make_tensor({input.sizes()[1]}, parameter_dtype, cpu));
  }
  if (output_mask[2]) {
    db = Tensor(make_tensor({input.sizes()[1]}, parameter_dtype, cpu));
  }
  visit_compute_type(input.dtype(), [&]<class T>() {
    backward<T>(groups, grad_out, grad_mean, grad_rstd, input, mean, rstd,
                weight, dx, dw, db);
  });
  return {dx, dw, db};
}

}  // namespace sy::cpu
