#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "aten/engine/dims.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/engine/dense.h"
#include "backends/cuda/engine/rows.h"
#include "backends/cuda/print/body.h"

namespace sy::cuda {

namespace {

// Rows whose gradients of weight and bias one block sums: as many on every
// machine.
constexpr int64_t kSummedRows = 128, kMostPieces = 256;

struct Rows {
  int64_t count = 1, length = 1;

  Rows(const Tensor& input, IntArrayRef shape) {
    for (const int64_t s : shape) length *= s;
    for (size_t d = 0; d < input.sizes().size() - shape.size(); ++d) {
      count *= input.sizes()[d];
    }
  }
};

const Function& function(int device, ScalarType dtype, const char* name) {
  const Define defines[] = {
      {"SY_E", print::element_name(dtype)},
      {"SY_T", print::type_name(program::compute_type_of(dtype))}};
  return kernel(device, "normalization.cu", name, defines);
}

AnyFloats floats(const Tensor& t) {
  if (!t.defined()) return {nullptr, 0};
  switch (t.dtype()) {
    case kDouble: return {t.raw_data(), 1};
    case kHalf: return {t.raw_data(), 2};
    case kBFloat16: return {t.raw_data(), 3};
    default: return {t.raw_data(), 0};
  }
}

// Undefined if there is none.
Tensor dense_if(const std::optional<Tensor>& t) {
  return t && t->defined() ? dense(*t) : Tensor();
}

Dims statistics_sizes(const Tensor& input, IntArrayRef shape) {
  Dims sizes(input.sizes());
  for (size_t i = 0; i < shape.size(); ++i) {
    sizes[sizes.size() - 1 - static_cast<int64_t>(i)] = 1;
  }
  return sizes;
}

int64_t computed_size(ScalarType t) { return t == kDouble ? 8 : 4; }

// `mean` is undefined if nothing is centered.
void normalize(const Rows& rows, const Tensor& input,
               const std::optional<Tensor>& weight,
               const std::optional<Tensor>& bias, double eps, const Tensor& out,
               const Tensor& mean, const Tensor& rstd) {
  if (rows.count == 0) return;
  const Tensor x = dense(input), w = dense_if(weight), b = dense_if(bias);
  const RowPlan plan = plan_rows(
      rows.count, rows.length, 1, computed_size(x.dtype()),
      static_cast<int64_t>(x.itemsize()), is_aligned(x) && is_aligned(out));
  NormParams p = {};
  set_rows(&p, plan, rows.count, rows.length);
  p.x = x.raw_data();
  p.weight = floats(w);
  p.bias = floats(b);
  p.y = out.raw_data();
  p.mean = floats(mean);
  p.rstd = floats(rstd);
  p.eps = eps;
  const int device = x.device().index();
  const TensorBase* const used[] = {&x, &w, &b, &out, &mean, &rstd};
  launch(device, function(device, x.dtype(), "norm_rows"), plan.shape, &p,
         sizeof p, used, std::size(used));
}

struct Gradients {
  Tensor input, weight, bias;
};

void grad_of_input(const Rows& rows, const Tensor& dy, const Tensor& x,
                   const Tensor& w, const Tensor& mean, const Tensor& rstd,
                   const Tensor& grad_mean, const Tensor& grad_rstd,
                   const Tensor& out) {
  const RowPlan plan =
      plan_rows(rows.count, rows.length, 2, computed_size(x.dtype()),
                static_cast<int64_t>(x.itemsize()),
                is_aligned(x) && is_aligned(dy) && is_aligned(out));
  NormGradParams p = {};
  set_rows(&p, plan, rows.count, rows.length);
  p.dy = dy.raw_data();
  p.x = x.raw_data();
  p.weight = floats(w);
  p.mean = floats(mean);
  p.rstd = floats(rstd);
  p.grad_mean = floats(grad_mean);
  p.grad_rstd = floats(grad_rstd);
  p.dx = out.raw_data();
  const int device = x.device().index();
  const TensorBase* const used[] = {&dy,   &x,         &w,         &mean,
                                    &rstd, &grad_mean, &grad_rstd, &out};
  launch(device, function(device, x.dtype(), "norm_grad_rows"), plan.shape, &p,
         sizeof p, used, std::size(used));
}

// `weight` and `bias` are the gradients; undefined if they are not asked for.
void grads_of_parameters(const Rows& rows, const Tensor& dy, const Tensor& x,
                         const Tensor& mean, const Tensor& rstd,
                         const Tensor& weight, const Tensor& bias) {
  const int64_t per_piece =
      std::max(kSummedRows, (rows.count + kMostPieces - 1) / kMostPieces);
  const int64_t pieces =
      std::max<int64_t>(1, (rows.count + per_piece - 1) / per_piece);
  const auto sums_for = [&](const Tensor& of) {
    if (!of.defined()) return Tensor();
    const int64_t sizes[] = {pieces, rows.length};
    return Tensor(make_tensor(sizes, kDouble, x.device()));
  };
  const Tensor weight_sums = sums_for(weight), bias_sums = sums_for(bias);
  NormSumParams p = {};
  p.rows = rows.count;
  p.length = rows.length;
  p.piece = per_piece;
  p.pieces = pieces;
  p.dy = dy.raw_data();
  p.x = x.raw_data();
  p.mean = floats(mean);
  p.rstd = floats(rstd);
  if (weight.defined()) {
    p.weight_sums = static_cast<double*>(weight_sums.raw_data());
  }
  if (bias.defined()) p.bias_sums = static_cast<double*>(bias_sums.raw_data());
  p.weight = floats(weight);
  p.bias = floats(bias);
  const int device = x.device().index();
  const TensorBase* const used[] = {&dy,     &x,    &mean,        &rstd,
                                    &weight, &bias, &weight_sums, &bias_sums};
  const int64_t strips = (rows.length + 31) / 32;
  launch(device, function(device, x.dtype(), "norm_sums"),
         {{static_cast<unsigned>(std::min<int64_t>(strips * pieces, 1 << 30))},
          {256}},
         &p, sizeof p, used, std::size(used));
  launch(device, function(device, x.dtype(), "norm_sums_end"),
         shape_for(rows.length), &p, sizeof p, used, std::size(used));
}

// The gradients; those of the root-mean-square form if `mean` is undefined.
Gradients backward(const Tensor& grad_out,
                   const std::optional<Tensor>& grad_mean,
                   const std::optional<Tensor>& grad_rstd, const Tensor& input,
                   const Tensor& mean, const Tensor& rstd,
                   const std::optional<Tensor>& weight, IntArrayRef shape,
                   const bool* mask, bool has_bias) {
  const Rows rows(input, shape);
  Gradients g;
  const ScalarType parameter_dtype =
      weight && weight->defined() ? weight->dtype() : input.dtype();
  if (mask[0]) {
    g.input = Tensor(make_tensor(input.sizes(), input.dtype(), input.device()));
  }
  if (mask[1]) {
    g.weight = Tensor(make_tensor(shape, parameter_dtype, input.device()));
  }
  if (has_bias && mask[2]) {
    g.bias = Tensor(make_tensor(shape, parameter_dtype, input.device()));
  }
  if (rows.length == 0) return g;
  const Tensor dy = dense(grad_out), x = dense(input);
  const Tensor m = mean.defined() ? dense(mean) : Tensor(), r = dense(rstd);
  if (g.input.defined() && rows.count != 0) {
    grad_of_input(rows, dy, x, dense_if(weight), m, r, dense_if(grad_mean),
                  dense_if(grad_rstd), g.input);
  }
  if (g.weight.defined() || g.bias.defined()) {
    grads_of_parameters(rows, dy, x, m, r, g.weight, g.bias);
  }
  return g;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(
    const Tensor& input, IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    double eps) {
  const Rows rows(input, normalized_shape);
  const Dims sizes = statistics_sizes(input, normalized_shape);
  const ScalarType dtype =
      weight && weight->defined() ? weight->dtype() : input.dtype();
  const Tensor out(make_tensor(input.sizes(), input.dtype(), input.device()));
  const Tensor mean(make_tensor(sizes, dtype, input.device()));
  const Tensor rstd(make_tensor(sizes, dtype, input.device()));
  normalize(rows, input, weight, bias, eps, out, mean, rstd);
  return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> _layer_norm_backward(
    const Tensor& grad_out, const std::optional<Tensor>& grad_mean,
    const std::optional<Tensor>& grad_rstd, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const std::optional<Tensor>& weight, ArrayRef<bool> output_mask) {
  const Gradients g =
      backward(grad_out, grad_mean, grad_rstd, input, mean, rstd, weight,
               normalized_shape, output_mask.data(), true);
  return {g.input, g.weight, g.bias};
}

std::tuple<Tensor, Tensor> _fused_rms_norm(const Tensor& input,
                                           IntArrayRef normalized_shape,
                                           const std::optional<Tensor>& weight,
                                           std::optional<double> eps) {
  const Rows rows(input, normalized_shape);
  const Dims sizes = statistics_sizes(input, normalized_shape);
  const bool wide = input.dtype() == kDouble;
  const double least =
      eps.value_or(wide ? std::numeric_limits<double>::epsilon()
                        : double{std::numeric_limits<float>::epsilon()});
  const Tensor out(make_tensor(input.sizes(), input.dtype(), input.device()));
  const Tensor rstd(
      make_tensor(sizes, wide ? kDouble : kFloat, input.device()));
  normalize(rows, input, weight, std::nullopt, least, out, Tensor(), rstd);
  return {out, rstd};
}

std::tuple<Tensor, Tensor> _rms_norm_backward(
    const Tensor& grad_out, const std::optional<Tensor>& grad_rstd,
    const Tensor& input, IntArrayRef normalized_shape, const Tensor& rstd,
    const std::optional<Tensor>& weight, ArrayRef<bool> output_mask) {
  const Gradients g =
      backward(grad_out, std::nullopt, grad_rstd, input, Tensor(), rstd, weight,
               normalized_shape, output_mask.data(), false);
  return {g.input, g.weight};
}

}  // namespace sy::cuda
