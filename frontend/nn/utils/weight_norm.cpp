#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_products.h"
#include "aten/ops/normalization.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/utils/parametrize.h"

namespace sy::nn::utils {

namespace {

using parametrize::Parametrization;

struct WeightNorm : Parametrization {
  explicit WeightNorm(int64_t dim) : dim(dim) {}
  Tensor compute(TensorList originals) override {
    return _weight_norm(originals[1], originals[0], dim);
  }
  std::vector<Tensor> right_inverse(const Tensor& value) override {
    return {norm_except_dim(value, 2, dim), value};
  }
  int64_t dim;
};

// The vectors are buffers _u and _v, and 15 iterations come first, as in
// PyTorch.
class SpectralNorm : public Parametrization {
 public:
  SpectralNorm(const Tensor& weight, int64_t iterations, double eps,
               int64_t dim)
      : iterations_(iterations), eps_(eps), dim_(dim) {
    const NoGradGuard no_grad;
    const Tensor matrix = as_matrix(weight.detach());
    if (weight.dim() <= 1) return;
    u_ = register_buffer("_u", normal(matrix, matrix.size(0)));
    v_ = register_buffer("_v", normal(matrix, matrix.size(1)));
    iterate(matrix, kFirstIterations);
  }
  Tensor compute(TensorList originals) override {
    const Tensor& weight = originals[0];
    if (weight.dim() <= 1) {
      return weight / weight.norm().clamp_min(eps_);
    }
    const Tensor matrix = as_matrix(weight);
    if (is_training()) iterate(matrix.detach(), iterations_);
    // Copies: the buffers are written before backward reads them.
    const Tensor u = u_.clone(), v = v_.clone();
    return weight / dot(u, mv(matrix, v));
  }

 private:
  static constexpr int64_t kFirstIterations = 15;

  Tensor as_matrix(const Tensor& weight) const {
    if (weight.dim() <= 1) return weight;
    return weight.transpose(0, dim_).flatten(1);
  }
  Tensor unit(const Tensor& t) const { return t / t.norm().clamp_min(eps_); }
  Tensor normal(const Tensor& like, int64_t size) const {
    return unit(empty({size}, like.options()).normal_());
  }
  void iterate(const Tensor& matrix, int64_t times) {
    const NoGradGuard no_grad;
    for (int64_t i = 0; i < times; ++i) {
      u_.copy_(unit(mv(matrix, v_)));
      v_.copy_(unit(mv(matrix.t(), u_)));
    }
  }

  int64_t iterations_;
  double eps_;
  int64_t dim_;
  Parameter u_, v_;
};

}  // namespace

void weight_norm(Module& module, const std::string& name, int64_t dim) {
  parametrize::register_parametrization(module, name,
                                        std::make_shared<WeightNorm>(dim));
}

void spectral_norm(Module& module, const std::string& name,
                   int64_t n_power_iterations, double eps, int64_t dim) {
  SY_CHECK(n_power_iterations > 0, Value,
           "[spectral_norm] n_power_iterations: expected at least 1, got {}",
           n_power_iterations);
  const Tensor weight = module.get_parameter(name);
  SY_CHECK(weight.dim() <= 1 || (dim >= 0 && dim < weight.dim()), Value,
           "[spectral_norm] dim: expected from 0 to {}, got {}",
           weight.dim() - 1, dim);
  parametrize::register_parametrization(
      module, name,
      std::make_shared<SpectralNorm>(weight, n_power_iterations, eps, dim));
}

}  // namespace sy::nn::utils
