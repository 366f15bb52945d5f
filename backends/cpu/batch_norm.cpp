#include "backends/cpu/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/contract/batch_norm.h"
#include "aten/engine/copy.h"
#include "aten/ops/factory.h"
#include "backends/cpu/batch_norm_kernels_gen.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

using MaybeTensor = std::optional<Tensor>;
using Doubles = std::vector<double>;

Tensor tensor_of(const MaybeTensor& t) { return t ? *t : Tensor(); }

ScalarType work_dtype(ScalarType t) { return t == kDouble ? kDouble : kFloat; }

// A tensor of floats or doubles as batch x channels x places, or, where places
// lie before channels, as rows of channels.
struct Shape {
  int64_t batch, channels, places;
  bool by_rows;
  int64_t count() const { return batch * places; }  // of each channel
};

MemoryFormat format_of(const Tensor& t) { return t.suggest_memory_format(); }

Shape shape_of(const Tensor& t) {
  Shape s{t.sizes()[0], t.sizes()[1], 1, false};
  for (size_t d = 2; d < t.sizes().size(); ++d) s.places *= t.sizes()[d];
  s.by_rows = s.places == 1 || format_of(t) != MemoryFormat::Contiguous;
  return s;
}

// t in memory of that format and dtype: itself if it is.
Tensor dense(const Tensor& t, MemoryFormat format, ScalarType dtype) {
  if (t.dtype() == dtype && t.is_contiguous(format)) return t;
  const Tensor copy =
      sy::empty(t.sizes(), TensorOptions(dtype).device(t.device()), format);
  copy_cpu(copy, t);
  return copy;
}

template <class T>
const T* data(const Tensor& t) {
  return static_cast<const T*>(t.raw_data());
}

Doubles values(const Tensor& t, int64_t n, double otherwise) {
  Doubles v(static_cast<size_t>(n), otherwise);
  if (!t.defined()) return v;
  const Tensor d = contiguous_cpu(t, kDouble);
  std::copy_n(data<double>(d), n, v.begin());
  return v;
}

// Vectors of the work dtype for the loops over rows.
template <class T>
std::vector<T> narrowed(const Doubles& v) {
  return std::vector<T>(v.begin(), v.end());
}

Tensor stored(const Doubles& v, ScalarType dtype) {
  const Tensor d(
      make_tensor({static_cast<int64_t>(v.size())}, kDouble, Device(kCPU)));
  std::copy(v.begin(), v.end(), static_cast<double*>(d.raw_data()));
  return dtype == kDouble ? d : contiguous_cpu(d, dtype);
}

constexpr int64_t kGrain = 32768;

// f(image, channel, offset) for all of them, a channel's images together.
template <class F>
void for_channels(const Shape& s, const F& f) {
  parallel_for(0, s.channels,
               std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.count())),
               [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c) {
                   for (int64_t n = 0; n < s.batch; ++n) {
                     f(c, (n * s.channels + c) * s.places);
                   }
                 }
               });
}

// f(first row, rows, part) for blocks of rows; a number of them that depends
// on the shape alone.
constexpr int64_t kBlocks = 64;
int64_t rows_of_block(const Shape& s) {
  const int64_t least =
      std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.channels));
  return std::max(least, (s.count() + kBlocks - 1) / kBlocks);
}
template <class F>
void for_blocks(const Shape& s, const F& f) {
  const int64_t rows = rows_of_block(s);
  parallel_for(0, (s.count() + rows - 1) / rows, 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   f(i * rows, std::min(rows, s.count() - i * rows), i);
                 }
               });
}

// k sums for each channel: f(first row, rows, sums of the k) adds to them.
template <class F>
void sum_blocks(const Shape& s, std::initializer_list<Doubles*> sums,
                const F& f) {
  const int64_t rows = rows_of_block(s);
  const int64_t blocks = (s.count() + rows - 1) / rows;
  const auto k = static_cast<int64_t>(sums.size());
  Doubles parts(static_cast<size_t>(blocks * k * s.channels));
  for_blocks(s, [&](int64_t row, int64_t n, int64_t i) {
    f(row, n, parts.data() + i * k * s.channels);
  });
  for (int64_t i = 0; i < blocks; ++i) {
    const double* part = parts.data() + i * k * s.channels;
    for (Doubles* sum : sums) {
      for (double& v : *sum) v += *part++;
    }
  }
}

// Mean and the sum of squared distances from it, of each channel.
template <class T>
void statistics(const Shape& s, const T* x, Doubles* means, Doubles* squares) {
  const ChannelKernel<T>& k = channel_kernel<T>();
  const auto channels = static_cast<size_t>(s.channels);
  const double n = static_cast<double>(s.count());
  means->assign(channels, 0);
  squares->assign(channels, 0);
  if (s.by_rows) {
    sum_blocks(s, {means}, [&](int64_t row, int64_t rows, double* sums) {
      k.row_sum(x + row * s.channels, rows, s.channels, sums);
    });
    for (double& m : *means) m /= n;
    sum_blocks(s, {squares}, [&](int64_t row, int64_t rows, double* sums) {
      k.row_squares(x + row * s.channels, rows, s.channels, means->data(),
                    sums);
    });
    return;
  }
  parallel_for(0, s.channels, std::max<int64_t>(1, kGrain / s.count()),
               [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c) {
                   const auto i = static_cast<size_t>(c);
                   const T* const first = x + c * s.places;
                   const int64_t step = s.channels * s.places;
                   double sum = 0;
                   for (int64_t b = 0; b < s.batch; ++b) {
                     sum += k.sum(first + b * step, s.places);
                   }
                   const double mean = sum / n;
                   double square = 0;
                   for (int64_t b = 0; b < s.batch; ++b) {
                     square += k.squares(first + b * step, s.places, mean);
                   }
                   (*means)[i] = mean;
                   (*squares)[i] = square;
                 }
               });
}

// y = a x + b for each channel.
template <class T>
void transform(const Shape& s, const T* x, const Doubles& a, const Doubles& b,
               T* y) {
  const ChannelKernel<T>& k = channel_kernel<T>();
  if (s.by_rows) {
    const auto scale = narrowed<T>(a), shift = narrowed<T>(b);
    for_blocks(s, [&](int64_t row, int64_t rows, int64_t) {
      k.row_affine(x + row * s.channels, rows, s.channels, scale.data(),
                   shift.data(), y + row * s.channels);
    });
    return;
  }
  for_channels(s, [&](int64_t c, int64_t at) {
    const auto i = static_cast<size_t>(c);
    k.affine(x + at, s.places, static_cast<T>(a[i]), static_cast<T>(b[i]),
             y + at);
  });
}

// running = (1 - momentum) * running + momentum * now
void follow(const Tensor& running, const Doubles& now, double momentum) {
  if (!running.defined()) return;
  Doubles v = values(running, running.numel(), 0);
  for (size_t c = 0; c < v.size(); ++c) {
    v[c] = (1 - momentum) * v[c] + momentum * now[c];
  }
  copy_cpu(running, stored(v, kDouble));
}

struct Statistics {
  Doubles means, squares;
};

// Returns the statistics of the batch, and updates the running ones, by the
// unbiased variance.
Statistics batch_statistics(const Tensor& x, const Shape& s,
                            const Tensor& running_mean,
                            const Tensor& running_var, double momentum) {
  Statistics found;
  if (x.dtype() == kDouble) {
    statistics(s, data<double>(x), &found.means, &found.squares);
  } else {
    statistics(s, data<float>(x), &found.means, &found.squares);
  }
  follow(running_mean, found.means, momentum);
  Doubles unbiased = found.squares;
  for (double& v : unbiased) v /= static_cast<double>(s.count() - 1);
  follow(running_var, unbiased, momentum);
  return found;
}

template <class F>
void visit(ScalarType dtype, const F& f) {
  if (dtype == kDouble) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

double inverse_std(double variance, double eps) {
  return 1 / std::sqrt(variance + eps);
}

// The sums of dy and of dy * (x - mean), of each channel.
template <class T>
void gradient_sums(const Shape& s, const T* dy, const T* x,
                   const Doubles& means, Doubles* sums, Doubles* dots) {
  const ChannelKernel<T>& k = channel_kernel<T>();
  sums->assign(means.size(), 0);
  dots->assign(means.size(), 0);
  if (s.by_rows) {
    sum_blocks(s, {sums, dots}, [&](int64_t row, int64_t rows, double* to) {
      const int64_t at = row * s.channels;
      k.row_dots(dy + at, x + at, rows, s.channels, means.data(), to,
                 to + s.channels);
    });
    return;
  }
  for_channels(s, [&](int64_t c, int64_t at) {
    const auto i = static_cast<size_t>(c);
    k.dots(dy + at, x + at, s.places, means[i], &(*sums)[i], &(*dots)[i]);
  });
}

// dx = a dy + b (x - mean) + c for each channel.
template <class T>
void gradient(const Shape& s, const T* dy, const T* x, const Doubles& a,
              const Doubles& b, const Doubles& c, const Doubles& means, T* dx) {
  const ChannelKernel<T>& k = channel_kernel<T>();
  if (s.by_rows) {
    const auto ta = narrowed<T>(a), tb = narrowed<T>(b), tc = narrowed<T>(c),
               tm = narrowed<T>(means);
    for_blocks(s, [&](int64_t row, int64_t rows, int64_t) {
      const int64_t at = row * s.channels;
      k.row_gradient(dy + at, x + at, rows, s.channels, ta.data(), tb.data(),
                     tc.data(), tm.data(), dx + at);
    });
    return;
  }
  for_channels(s, [&](int64_t channel, int64_t at) {
    const auto i = static_cast<size_t>(channel);
    k.gradient(dy + at, x + at, s.places, static_cast<T>(a[i]),
               static_cast<T>(b[i]), static_cast<T>(c[i]),
               static_cast<T>(means[i]), dx + at);
  });
}

Tensor with_dtype(const Tensor& t, ScalarType dtype, MemoryFormat format) {
  return t.dtype() == dtype ? t : dense(t, format, dtype);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    bool training, double momentum, double eps) {
  const BatchNormArgs args{input,
                           tensor_of(weight),
                           tensor_of(bias),
                           tensor_of(running_mean),
                           tensor_of(running_var),
                           training};
  const ScalarType dtype = check_batch_norm("native_batch_norm", args);
  const Shape s = shape_of(input);
  const MemoryFormat format = format_of(input);
  const Tensor x = dense(input, format, work_dtype(input.dtype()));
  Doubles means, invstds;
  if (training) {
    Statistics found =
        batch_statistics(x, s, args.running_mean, args.running_var, momentum);
    means = std::move(found.means);
    invstds = std::move(found.squares);
    for (double& v : invstds) {
      v = inverse_std(v / static_cast<double>(s.count()), eps);
    }
  } else {
    means = values(args.running_mean, s.channels, 0);
    invstds = values(args.running_var, s.channels, 0);
    for (double& v : invstds) v = inverse_std(v, eps);
  }
  Doubles a = values(args.weight, s.channels, 1);
  Doubles b = values(args.bias, s.channels, 0);
  for (size_t c = 0; c < a.size(); ++c) {
    a[c] *= invstds[c];
    b[c] -= means[c] * a[c];
  }
  const Tensor y = sy::empty(
      input.sizes(), TensorOptions(x.dtype()).device(input.device()), format);
  visit(x.dtype(), [&]<class T>() {
    transform(s, data<T>(x), a, b, static_cast<T*>(y.raw_data()));
  });
  if (!training) {
    means.clear();
    invstds.clear();
  }
  return {with_dtype(y, input.dtype(), format), stored(means, dtype),
          stored(invstds, dtype)};
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(
    const Tensor& grad_out, const Tensor& input, const MaybeTensor& weight,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    const MaybeTensor& save_mean, const MaybeTensor& save_invstd, bool train,
    double eps, ArrayRef<bool> output_mask) {
  const BatchNormArgs args{input,
                           tensor_of(weight),
                           Tensor(),
                           tensor_of(running_mean),
                           tensor_of(running_var),
                           train};
  check_batch_norm_grad("native_batch_norm_backward", grad_out, args,
                        tensor_of(save_mean), tensor_of(save_invstd));
  const ScalarType parameters =
      args.weight.defined() ? args.weight.dtype() : input.dtype();
  const Shape s = shape_of(input);
  const MemoryFormat format = format_of(input);
  const ScalarType dtype = work_dtype(input.dtype());
  const Tensor x = dense(input, format, dtype);
  const Tensor dy = dense(grad_out, format, dtype);
  const Doubles means =
      values(train ? *save_mean : args.running_mean, s.channels, 0);
  Doubles invstds =
      values(train ? *save_invstd : args.running_var, s.channels, 0);
  if (!train) {
    for (double& v : invstds) v = inverse_std(v, eps);
  }
  Doubles sums, dots;
  Tensor by_input, by_weight, by_bias;
  visit(dtype, [&]<class T>() {
    if (train || output_mask[1] || output_mask[2]) {
      gradient_sums(s, data<T>(dy), data<T>(x), means, &sums, &dots);
    }
    if (!output_mask[0]) return;
    Doubles a = values(args.weight, s.channels, 1), b(a.size()), c(a.size());
    const double n = static_cast<double>(s.count());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] *= invstds[i];
      if (!train) continue;
      b[i] = -a[i] * dots[i] * invstds[i] * invstds[i] / n;
      c[i] = -a[i] * sums[i] / n;
    }
    const Tensor dx = sy::empty(
        input.sizes(), TensorOptions(dtype).device(input.device()), format);
    T* const to = static_cast<T*>(dx.raw_data());
    if (train) {
      gradient(s, data<T>(dy), data<T>(x), a, b, c, means, to);
    } else {
      transform(s, data<T>(dy), a, b, to);
    }
    by_input = with_dtype(dx, input.dtype(), format);
  });
  if (output_mask[1]) {
    for (size_t i = 0; i < dots.size(); ++i) dots[i] *= invstds[i];
    by_weight = stored(dots, parameters);
  }
  if (output_mask[2]) by_bias = stored(sums, parameters);
  return {by_input, by_weight, by_bias};
}

std::tuple<Tensor, Tensor> batch_norm_update_stats(
    const Tensor& input, const MaybeTensor& running_mean,
    const MaybeTensor& running_var, double momentum) {
  const BatchNormArgs args{input,
                           Tensor(),
                           Tensor(),
                           tensor_of(running_mean),
                           tensor_of(running_var),
                           true};
  const ScalarType dtype = check_batch_norm("batch_norm_update_stats", args);
  const Shape s = shape_of(input);
  const Tensor x = dense(input, format_of(input), work_dtype(input.dtype()));
  Statistics found =
      batch_statistics(x, s, args.running_mean, args.running_var, momentum);
  for (double& v : found.squares) v /= static_cast<double>(s.count());
  return {stored(found.means, dtype), stored(found.squares, dtype)};
}

}  // namespace sy::cpu
