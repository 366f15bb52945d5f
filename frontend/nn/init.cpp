#include "frontend/nn/init.h"

#include <cmath>
#include <string>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/qr.h"
#include "c10/dispatch/thread_state.h"

namespace sy::nn::init {

namespace {

void check_dims(const char* op, const Tensor& tensor, int64_t least) {
  SY_CHECK(tensor.dim() >= least, Value,
           "[{}] tensor: expected at least {} dims, got sizes {}", op, least,
           tensor.sizes());
}

double fan_of(const Tensor& tensor, FanModeType mode) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return static_cast<double>(mode == kFanIn ? in : out);
}

double kaiming_std(const Tensor& tensor, double a, FanModeType mode,
                   NonlinearityType nonlinearity) {
  return calculate_gain(nonlinearity, a) / std::sqrt(fan_of(tensor, mode));
}

double xavier_std(const char* op, const Tensor& tensor, double gain) {
  check_dims(op, tensor, 2);
  if (tensor.numel() == 0) return 0;
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2 / static_cast<double>(in + out));
}

// The share of a normal distribution below x.
double normal_cdf(double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; }

}  // namespace

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (nonlinearity == kTanh) return 5.0 / 3;
  if (nonlinearity == kReLU) return std::sqrt(2.0);
  if (nonlinearity == kLeakyReLU) return std::sqrt(2 / (1 + param * param));
  if (nonlinearity == kSELU) return 0.75;
  return 1;
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(
    const Tensor& tensor) {
  check_dims("calculate_fan_in_and_fan_out", tensor, 2);
  int64_t field = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) field *= tensor.size(d);
  return {tensor.size(1) * field, tensor.size(0) * field};
}

Tensor constant_(Tensor tensor, const Scalar& value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor matrix) {
  SY_CHECK(matrix.dim() == 2, Value,
           "[eye_] matrix: expected 2 dims, got sizes {}", matrix.sizes());
  const NoGradGuard no_grad;
  matrix.zero_().diagonal().fill_(1);
  return matrix;
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  const int64_t dims = tensor.dim();
  SY_CHECK(dims >= 3 && dims <= 5, Value,
           "[dirac_] tensor: expected 3, 4 or 5 dims, got sizes {}",
           tensor.sizes());
  SY_CHECK(groups > 0 && tensor.size(0) % groups == 0, Value,
           "[dirac_] groups: expected a divisor of size {}, got {}",
           tensor.size(0), groups);
  const NoGradGuard no_grad;
  tensor.zero_();
  const int64_t out = tensor.size(0) / groups;
  for (int64_t g = 0; g < groups; ++g) {
    Tensor part = tensor.slice(0, g * out, (g + 1) * out);
    for (int64_t d = dims - 1; d >= 2; --d) {
      part = part.select(d, part.size(d) / 2);
    }
    part.diagonal().fill_(1);
  }
  return tensor;
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a,
                     double b) {
  SY_CHECK(std > 0 && a < b, Value,
           "[trunc_normal_] expected std > 0 and a < b, got std = {}, a = {}, "
           "b = {}",
           std, a, b);
  const NoGradGuard no_grad;
  const double low = normal_cdf((a - mean) / std);
  const double high = normal_cdf((b - mean) / std);
  tensor.uniform_(2 * low - 1, 2 * high - 1);
  tensor.erfinv_().mul_(std * std::sqrt(2.0)).add_(mean);
  return tensor.clamp_(a, b);
}

Tensor orthogonal_(Tensor tensor, double gain) {
  check_dims("orthogonal_", tensor, 2);
  const NoGradGuard no_grad;
  if (tensor.numel() == 0) return tensor;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor random = tensor.new_empty({rows, columns}).normal_(0, 1);
  if (rows < columns) random.t_();
  auto [q, r] = linalg_qr(random);
  // The signs make the distribution uniform over all orthogonal matrices.
  q.mul_(r.diagonal().sign());
  if (rows < columns) q.t_();
  tensor.copy_(q.reshape(tensor.sizes())).mul_(gain);
  return tensor;
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  SY_CHECK(tensor.dim() == 2, Value,
           "[sparse_] tensor: expected 2 dims, got sizes {}", tensor.sizes());
  SY_CHECK(sparsity >= 0 && sparsity <= 1, Value,
           "[sparse_] sparsity: expected from 0 to 1, got {}", sparsity);
  const NoGradGuard no_grad;
  const int64_t rows = tensor.size(0);
  const auto zeros =
      static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t c = 0; c < tensor.size(1); ++c) {
    const Tensor order =
        randperm(rows, TensorOptions(kLong).device(tensor.device()));
    tensor.select(1, c).index_fill_(0, order.slice(0, 0, zeros), 0);
  }
  return tensor;
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode,
                       NonlinearityType nonlinearity) {
  check_dims("kaiming_normal_", tensor, 2);
  if (tensor.numel() == 0) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode,
                        NonlinearityType nonlinearity) {
  check_dims("kaiming_uniform_", tensor, 2);
  if (tensor.numel() == 0) return tensor;
  const double bound =
      std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  const double std = xavier_std("xavier_normal_", tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double bound =
      std::sqrt(3.0) * xavier_std("xavier_uniform_", tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor by_name(std::string_view name, Tensor tensor) {
  struct Named {
    std::string_view name;
    Tensor (*fill)(Tensor);
  };
  static constexpr Named all[] = {
      {"dirac", [](Tensor t) { return dirac_(std::move(t)); }},
      {"eye", [](Tensor t) { return eye_(std::move(t)); }},
      {"kaiming_normal",
       [](Tensor t) { return kaiming_normal_(std::move(t)); }},
      {"kaiming_uniform",
       [](Tensor t) { return kaiming_uniform_(std::move(t)); }},
      {"normal", [](Tensor t) { return normal_(std::move(t)); }},
      {"ones", [](Tensor t) { return ones_(std::move(t)); }},
      {"orthogonal", [](Tensor t) { return orthogonal_(std::move(t)); }},
      {"trunc_normal", [](Tensor t) { return trunc_normal_(std::move(t)); }},
      {"uniform", [](Tensor t) { return uniform_(std::move(t)); }},
      {"xavier_normal", [](Tensor t) { return xavier_normal_(std::move(t)); }},
      {"xavier_uniform",
       [](Tensor t) { return xavier_uniform_(std::move(t)); }},
      {"zeros", [](Tensor t) { return zeros_(std::move(t)); }},
  };
  std::string_view plain = name;
  if (plain.ends_with('_')) plain.remove_suffix(1);
  std::string names;
  for (const Named& n : all) {
    if (n.name == plain) return n.fill(std::move(tensor));
    names += (names.empty() ? "" : ", ") + std::string(n.name) + "_";
  }
  fail(ErrorKind::Value, "[init] name: expected one of {}, got '{}'", names,
       name);
}

}  // namespace sy::nn::init
