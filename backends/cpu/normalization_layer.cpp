#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "aten/engine/view.h"
#include "backends/cpu/kernel/norm_kernel.h"
#include "backends/cpu/normalization_kernels_gen.h"
#include "backends/cpu/support/converted.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;
// Parts whose gradients of weight and bias are summed apart: as many on any
// number of threads.
constexpr int64_t kParts = 32;

struct Rows {
  int64_t count, length;

  Rows(const Tensor& input, IntArrayRef shape) : length(1) {
    for (const int64_t s : shape) length *= s;
    count = 1;
    for (size_t d = 0; d < input.sizes().size() - shape.size(); ++d) {
      count *= input.sizes()[d];
    }
  }
  int64_t grain() const {
    return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length));
  }
};

// A vector as long as a row, as T; nullptr if it is not given.
template <class T>
class Parameter {
 public:
  explicit Parameter(const std::optional<Tensor>& t) {
    if (!t || !t->defined()) return;
    held_ = contiguous_cpu(*t, std::is_same_v<T, double> ? kDouble : kFloat);
    data_ = static_cast<const T*>(held_.raw_data());
  }
  const T* data() const { return data_; }

 private:
  Tensor held_;
  const T* data_ = nullptr;
};

// One number for each row, to be read or written as T.
template <class T>
Tensor statistics(const Tensor& out) {
  const ScalarType t = std::is_same_v<T, double> ? kDouble : kFloat;
  if (out.is_contiguous() && out.dtype() == t) return out;
  return Tensor(make_tensor(out.sizes(), t, Device(kCPU)));
}

// y = (x - mean) * rstd * weight + bias by rows; mean 0 if `centered` is false.
template <class T>
void normalize(const Rows& rows, bool centered, const Tensor& input,
               const std::optional<Tensor>& weight,
               const std::optional<Tensor>& bias, double eps, const Tensor& out,
               const Tensor* mean_out, const Tensor& rstd_out) {
  const NormKernel<T>& k = norm_kernel<T>();
  const Tensor x_held = contiguous_cpu(input), y_held = contiguous_target(out);
  const ConvertedSource<T> x(x_held);
  const ConvertedTarget<T> y(y_held);
  const Parameter<T> w(weight), b(bias);
  const Tensor rstd_held = statistics<T>(rstd_out);
  const Tensor mean_held =
      mean_out != nullptr ? statistics<T>(*mean_out) : Tensor();
  T* const rstds = static_cast<T*>(rstd_held.raw_data());
  T* const means =
      mean_out != nullptr ? static_cast<T*>(mean_held.raw_data()) : nullptr;
  const int64_t n = rows.length;
  parallel_for(0, rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
    ScratchVector<T> room(x.converts() ? static_cast<size_t>(n) : 0);
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x.read(i * n, n, room.data());
      const double count = static_cast<double>(n);
      const T mean =
          !centered || n == 0 ? 0 : static_cast<T>(k.sum(from, n) / count);
      const double variance = k.squares(from, mean, n) / count;
      const T rstd = static_cast<T>(1 / std::sqrt(variance + eps));
      k.apply(y.begin(i * n, room.data()), from, mean, rstd, w.data(), b.data(),
              n);
      y.end(i * n, n, room.data());
      if (means != nullptr) means[i] = mean;
      rstds[i] = rstd;
    }
  });
  store_target(out, y_held);
  store_target(rstd_out, rstd_held);
  if (mean_out != nullptr) store_target(*mean_out, mean_held);
}

template <class T>
const T* optional_data(const Tensor& t) {
  return t.defined() ? static_cast<const T*>(t.raw_data()) : nullptr;
}
Tensor converted(const std::optional<Tensor>& t, ScalarType dtype) {
  return t && t->defined() ? contiguous_cpu(*t, dtype) : Tensor();
}

struct Gradients {
  Tensor input, weight, bias;
};

// The gradients; those of the root-mean-square form if mean is 0 (an undefined
// tensor).
template <class T>
Gradients backward(const Rows& rows, const Tensor& grad_out,
                   const std::optional<Tensor>& grad_mean,
                   const std::optional<Tensor>& grad_rstd, const Tensor& input,
                   const Tensor& mean, const Tensor& rstd,
                   const std::optional<Tensor>& weight, IntArrayRef shape,
                   const bool* mask, bool has_bias) {
  const ScalarType t = std::is_same_v<T, double> ? kDouble : kFloat;
  const NormKernel<T>& k = norm_kernel<T>();
  const Tensor dy_held = contiguous_cpu(grad_out);
  const Tensor x_held = contiguous_cpu(input);
  const ConvertedSource<T> dy_source(dy_held), x_source(x_held);
  const Tensor mean_held = mean.defined() ? contiguous_cpu(mean, t) : Tensor();
  const Tensor rstd_held = contiguous_cpu(rstd, t);
  const Tensor gm_held = converted(grad_mean, t);
  const Tensor gr_held = converted(grad_rstd, t);
  const T* const means = optional_data<T>(mean_held);
  const T* const rstds = static_cast<const T*>(rstd_held.raw_data());
  const T* const gm = optional_data<T>(gm_held);
  const T* const gr = optional_data<T>(gr_held);
  const Parameter<T> w(weight);
  const int64_t n = rows.length;

  Gradients g;
  const Device cpu(kCPU);
  if (mask[0]) g.input = Tensor(make_tensor(input.sizes(), input.dtype(), cpu));
  const ScalarType parameter_dtype =
      weight && weight->defined() ? weight->dtype() : input.dtype();
  if (mask[1]) g.weight = Tensor(make_tensor(shape, parameter_dtype, cpu));
  if (has_bias && mask[2]) {
    g.bias = Tensor(make_tensor(shape, parameter_dtype, cpu));
  }
  const int64_t parts =
      std::clamp<int64_t>(rows.count / rows.grain(), 1, kParts);
  const int64_t per_part = (rows.count + parts - 1) / parts;
  const auto sums_for = [&](const Tensor& of) {
    if (!of.defined()) return Tensor();
    const Tensor sums(make_tensor({parts, n}, t, cpu));
    std::fill_n(static_cast<T*>(sums.raw_data()), parts * n, T{0});
    return sums;
  };
  const Tensor dw = sums_for(g.weight), db = sums_for(g.bias);
  std::optional<ConvertedTarget<T>> dx;
  if (g.input.defined()) dx.emplace(g.input);

  parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    const bool converts = dy_source.converts() || (dx && dx->converts());
    ScratchVector<T> room(converts ? static_cast<size_t>(3 * n) : 0);
    T* const dy_room = room.data();
    T* const x_room = converts ? dy_room + n : nullptr;
    T* const dx_room = converts ? dy_room + 2 * n : nullptr;
    for (int64_t part = begin; part < end; ++part) {
      T* const part_dw =
          dw.defined() ? static_cast<T*>(dw.raw_data()) + part * n : nullptr;
      T* const part_db =
          db.defined() ? static_cast<T*>(db.raw_data()) + part * n : nullptr;
      const int64_t last = std::min(rows.count, (part + 1) * per_part);
      for (int64_t i = part * per_part; i < last; ++i) {
        const T* const dy = dy_source.read(i * n, n, dy_room);
        const T* const x = x_source.read(i * n, n, x_room);
        const T mean_i = means != nullptr ? means[i] : T{0};
        const double r = static_cast<double>(rstds[i]);
        if (dx) {
          double s[2];
          k.sums(dy, x, mean_i, w.data(), n, s);
          const double count = static_cast<double>(n);
          double b = -s[1] * r * r * r / count;
          double c = means != nullptr ? -s[0] * r / count : 0;
          if (gm != nullptr) c += static_cast<double>(gm[i]) / count;
          if (gr != nullptr) {
            b -= static_cast<double>(gr[i]) * r * r * r / count;
          }
          k.grad(dx->begin(i * n, dx_room), dy, x, w.data(), mean_i,
                 static_cast<T>(r), static_cast<T>(b), static_cast<T>(c), n);
          dx->end(i * n, n, dx_room);
        }
        if (part_dw != nullptr || part_db != nullptr) {
          k.params(part_dw, part_db, dy, x, mean_i, rstds[i], n);
        }
      }
    }
  });
  const auto add_parts = [&](const Tensor& sums, const Tensor& to) {
    if (!to.defined()) return;
    T* const all = static_cast<T*>(sums.raw_data());
    for (int64_t p = 1; p < parts; ++p) {
      for (int64_t j = 0; j < n; ++j) all[j] += all[p * n + j];
    }
    ConvertedTarget<T>(to).end(0, n, all);
    if (to.dtype() == t) std::copy_n(all, n, static_cast<T*>(to.raw_data()));
  };
  add_parts(dw, g.weight);
  add_parts(db, g.bias);
  return g;
}

}  // namespace

void native_layer_norm_out(const Tensor& input, IntArrayRef normalized_shape,
                           const std::optional<Tensor>& weight,
                           const std::optional<Tensor>& bias, double eps,
                           const Tensor& out, const Tensor& mean,
                           const Tensor& rstd) {
  const Rows rows(input, normalized_shape);
  visit_compute_type(input.dtype(), [&]<class T>() {
    normalize<T>(rows, true, input, weight, bias, eps, out, &mean, rstd);
  });
}

void fused_rms_norm_out(const Tensor& input, IntArrayRef normalized_shape,
                        const std::optional<Tensor>& weight,
                        std::optional<double> eps, const Tensor& out,
                        const Tensor& rstd) {
  const Rows rows(input, normalized_shape);
  visit_compute_type(input.dtype(), [&]<class T>() {
    const double least =
        eps.value_or(static_cast<double>(std::numeric_limits<T>::epsilon()));
    normalize<T>(rows, false, input, weight, std::nullopt, least, out, nullptr,
                 rstd);
  });
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(
    const Tensor& grad_out, const std::optional<Tensor>& grad_mean,
    const std::optional<Tensor>& grad_rstd, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const std::optional<Tensor>& weight, ArrayRef<bool> output_mask) {
  const Rows rows(input, normalized_shape);
  Gradients g;
  visit_compute_type(input.dtype(), [&]<class T>() {
    g = backward<T>(rows, grad_out, grad_mean, grad_rstd, input, mean, rstd,
                    weight, normalized_shape, output_mask.data(), true);
  });
  return {g.input, g.weight, g.bias};
}

std::tuple<Tensor, Tensor> rms_norm_backward(
    const Tensor& grad_out, const std::optional<Tensor>& grad_rstd,
    const Tensor& input, IntArrayRef normalized_shape, const Tensor& rstd,
    const std::optional<Tensor>& weight, ArrayRef<bool> output_mask) {
  const Rows rows(input, normalized_shape);
  Gradients g;
  visit_compute_type(input.dtype(), [&]<class T>() {
    g = backward<T>(rows, grad_out, std::nullopt, grad_rstd, input, Tensor(),
                    rstd, weight, normalized_shape, output_mask.data(), false);
  });
  return {g.input, g.weight};
}

}  // namespace sy::cpu
