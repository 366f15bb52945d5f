#pragma once

#include <memory>
#include <string>
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

}  // namespace sy::nn::utils
