#include <limits>
#include <optional>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/lu.h"
#include "aten/ops/matrix_functions.h"
#include "aten/ops/number.h"
#include "aten/ops/padding.h"
#include "aten/ops/qr.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/utils/parametrize.h"

namespace sy::nn::utils {

namespace {

using parametrize::Parametrization;

enum class Map : uint8_t { kMatrixExp, kCayley, kHouseholder };

Tensor diagonal_of(const Tensor& matrix) {
  return matrix.diagonal(/*offset=*/0, -2, -1);
}

// The sign of each number, 1 or -1, and 1 for 0, so that a matrix of less than
// full rank has orthonormal columns too.
Tensor signs(const Tensor& t) { return t.ge(0).to(t.scalar_type()) * 2 - 1; }

Tensor identity_like(const Tensor& matrix) {
  return eye(matrix.size(-1), matrix.options());
}

bool is_orthogonal(const Tensor& q) {
  const double eps = q.scalar_type() == kDouble
                         ? std::numeric_limits<double>::epsilon()
                         : std::numeric_limits<float>::epsilon();
  const Tensor products = matmul(q.mT(), q);
  return allclose(products, identity_like(products).expand_as(products), 1e-5,
                  10 * static_cast<double>(q.size(-2)) * eps);
}

// The Q of a tall matrix.
Tensor orthonormal(const Tensor& matrix) {
  const auto [a, tau] = geqrf(matrix);
  return linalg_householder_product(a, tau) *
         signs(diagonal_of(a)).unsqueeze(-2);
}

class Orthogonal : public Parametrization {
 public:
  Orthogonal(const Tensor& weight, Map map, bool use_trivialization)
      : sizes_(weight.sizes().vec()),
        map_(map),
        has_base_(use_trivialization) {}

  Tensor compute(TensorList originals) override {
    Tensor x = originals[0];
    const bool wide = is_wide(x);
    if (wide) x = x.mT();
    Tensor q = map_ == Map::kHouseholder ? reflected(x) : rotated(x);
    if (base_.defined()) q = matmul(base_, q);
    return wide ? q.mT() : q;
  }

  std::vector<Tensor> right_inverse(const Tensor& value) override {
    SY_CHECK(value.sizes() == IntArrayRef(sizes_), Value,
             "[orthogonal] expected a value of sizes {}, got {}",
             IntArrayRef(sizes_), value.sizes());
    const NoGradGuard no_grad;
    const bool wide = is_wide(value);
    const Tensor tall = wide ? value.mT() : value;
    if (!has_base_) {
      if (map_ != Map::kHouseholder) return {value};
      const Tensor x = reflections_of(tall);
      return {wide ? x.mT() : x};
    }
    set_base(tall);
    // Every map gives the identity for this original.
    const Tensor original = zeros_like(value);
    diagonal_of(original).fill_(-1);
    return {original};
  }

 private:
  static bool is_wide(const Tensor& t) { return t.size(-2) < t.size(-1); }

  Tensor rotated(const Tensor& tall) const {
    const int64_t n = tall.size(-2), k = tall.size(-1);
    Tensor lower = tall.tril();
    if (n != k) lower = constant_pad_nd(lower, {0, n - k});
    const Tensor a = lower - lower.mT();
    Tensor q;
    if (map_ == Map::kMatrixExp) {
      q = linalg_matrix_exp(a);
    } else {
      const Tensor one = identity_like(a);
      q = linalg_solve(one.sub(a, 0.5), one.add(a, 0.5));
    }
    return n == k ? q : q.narrow(-1, 0, k);
  }

  // PyTorch multiplies by the diagonal cut to integers. The result is the same
  // if these are 1 or -1. The signs still give an orthogonal matrix if weight
  // decay has moved the diagonal.
  static Tensor reflected(const Tensor& tall) {
    const Tensor vectors = tall.tril(-1);
    const Tensor tau = 2 / (vectors.mul(vectors).sum(-2) + 1);
    return linalg_householder_product(vectors, tau) *
           signs(diagonal_of(tall.detach())).unsqueeze(-2);
  }
  // A tau of 0 stands for no reflection, but reflected() makes one of a vector
  // of zeros, which turns a sign.
  static Tensor reflections_of(const Tensor& tall) {
    const auto [a, tau] = geqrf(tall);
    const Tensor diagonal = diagonal_of(a);
    const Tensor turned = tau.eq(0).to(a.scalar_type()) * -2 + 1;
    diagonal.copy_(signs(diagonal) * turned);
    return a;
  }

  void set_base(const Tensor& tall) {
    const int64_t n = tall.size(-2), k = tall.size(-1);
    Tensor base;
    if (n == k) {
      base = is_orthogonal(tall) ? tall.clone() : orthonormal(tall);
    } else {
      std::vector<int64_t> rest = tall.sizes().vec();
      rest.back() = n - k;
      base =
          orthonormal(cat({tall, empty(rest, tall.options()).normal_()}, -1));
    }
    if (base_.defined()) {
      base_.copy_(base);
    } else {
      base_ = register_buffer("base", base.contiguous());
    }
  }

  std::vector<int64_t> sizes_;
  Map map_;
  bool has_base_;
  Parameter base_;
};

std::optional<Map> map_of(std::string_view name, const Tensor& weight) {
  if (name == "matrix_exp") return Map::kMatrixExp;
  if (name == "cayley") return Map::kCayley;
  if (name == "householder") return Map::kHouseholder;
  if (!name.empty()) return std::nullopt;
  return weight.size(-2) == weight.size(-1) ? Map::kMatrixExp
                                            : Map::kHouseholder;
}

}  // namespace

void orthogonal(Module& module, const std::string& name,
                std::string_view orthogonal_map, bool use_trivialization) {
  const Tensor weight =
      parametrize::is_parametrized(module, name) && !name.empty()
          ? module.get_buffer("parametrizations." + name + ".value")
          : module.get_parameter(name);
  SY_CHECK(
      weight.defined() && weight.dim() >= 2, Value,
      "[orthogonal] '{}': expected a matrix or a batch of matrices, got {}",
      name, weight.defined() ? str("sizes {}", weight.sizes()) : "none");
  SY_CHECK(weight.scalar_type() == kFloat || weight.scalar_type() == kDouble,
           Type, "[orthogonal] '{}': expected float32 or float64, got {}", name,
           weight.scalar_type());
  const std::optional<Map> map = map_of(orthogonal_map, weight);
  SY_CHECK(map.has_value(), Value,
           "[orthogonal] orthogonal_map: expected matrix_exp, cayley or "
           "householder, got '{}'",
           orthogonal_map);
  parametrize::register_parametrization(
      module, name,
      std::make_shared<Orthogonal>(weight, *map, use_trivialization));
}

}  // namespace sy::nn::utils
