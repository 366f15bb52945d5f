#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/nn/module.h"

// Parameters that are computed from others: weights of norm 1, symmetric ones,
// low-rank ones. The module's member holds the computed tensor, gradients go to
// the originals. It is computed anew where the module is called as module(x),
// before forward; refresh() does so at other times.
//
//   struct Symmetric : sy::nn::utils::parametrize::Parametrization {
//     sy::Tensor compute(sy::TensorList x) override {
//       return x[0].triu() + x[0].triu(1).transpose(0, 1);
//     }
//   };
//   Linear layer(3, 3);
//   parametrize::register_parametrization(*layer, "weight",
//                                         std::make_shared<Symmetric>());
//
// In state dicts the originals are "parametrizations.weight.original", or
// original0, original1, … if there are several, as in PyTorch.

namespace sy::nn::utils::parametrize {

class SY_API Parametrization : public Module {
 public:
  // The tensor from its originals: one, unless right_inverse() gives more.
  virtual Tensor compute(TensorList originals) = 0;
  // Originals from which compute() makes the tensor, or one near it.
  virtual std::vector<Tensor> right_inverse(const Tensor& value) {
    return {value};
  }
};

namespace detail {
SY_API void add_parametrization(
    Module& module, const std::string& name,
    std::shared_ptr<Parametrization> parametrization);
// Whether the own buffer of a module is the value of a computed parameter,
// which may share the memory of its original.
SY_API bool holds_computed_value(const Module& module);
}  // namespace detail

// Computes the parameter `name` of the module from now on. One that is computed
// already is computed from the result. Throws ValueError if there is no such
// parameter, if the result has other sizes or another dtype, or if the
// parametrization wants several originals and is not the first. Nothing is
// changed then.
template <class M>
void register_parametrization(Module& module, const std::string& name,
                              std::shared_ptr<M> parametrization) {
  if (parametrization != nullptr) {
    parametrization->set_type(nn::detail::module_type<M>());
  }
  detail::add_parametrization(module, name, std::move(parametrization));
}

// Whether the parameter, or any with name "", is computed.
SY_API bool is_parametrized(const Module& module, const std::string& name = "");

// Makes it a plain parameter again: of the value that was computed, or else of
// the original. Throws ValueError if it is not computed, or if it has several
// originals and the value shall not stay.
SY_API void remove_parametrizations(Module& module, const std::string& name,
                                    bool leave_parametrized = true);

// Computes all of the module's parameters that are computed.
SY_API void refresh(const Module& module);

}  // namespace sy::nn::utils::parametrize

namespace sy::nn::utils {

// Length and direction apart: weight = g v / |v|, where lengths are of the
// slices along `dim`, or of all for -1 (Salimans and Kingma, 2016). The
// originals are g and v.
SY_API void weight_norm(Module& module, const std::string& name = "weight",
                        int64_t dim = 0);

// The weight divided by its largest singular value, of the matrix whose rows
// are slices along `dim`. It is estimated by power iterations, some for each
// call in training mode, from vectors that are buffers (Miyato et al., 2018).
SY_API void spectral_norm(Module& module, const std::string& name = "weight",
                          int64_t n_power_iterations = 1, double eps = 1e-12,
                          int64_t dim = 0);

// A matrix, or a batch of matrices, with orthonormal columns, or rows if it has
// fewer of them. `orthogonal_map` says what the original X becomes: with A, the
// skew-symmetric matrix of X's lower triangle, "matrix_exp" gives exp(A) and
// "cayley" (I - A/2)^-1 (I + A/2), of which the first columns count;
// "householder" gives the product of the reflections whose vectors stand below
// X's diagonal, times the signs of that diagonal, which is not trained. "" is
// matrix_exp for square matrices, householder for others.
//
// With use_trivialization the result is multiplied by the buffer `base`, an
// orthogonal matrix. Then, and with "householder", the first value is the
// weight if it is orthogonal, and else the Q of its QR decomposition, where R
// has a diagonal that is not negative. The two other maps have the weight as
// their original otherwise (Lezcano-Casado, 2019).
//
// Throws ValueError for another map and for a tensor of less than 2 dims,
// TypeError for dtypes other than float32 and float64.
SY_API void orthogonal(Module& module, const std::string& name = "weight",
                       std::string_view orthogonal_map = "",
                       bool use_trivialization = true);

}  // namespace sy::nn::utils
