#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "aten/tensor.h"
#include "autograd/node.h"

extern "C" void* __dso_handle;  // one per shared object

namespace sy::autograd {

struct CheckpointOptions {
  // Random operators in f draw the same numbers in both runs. The second run
  // starts with the states that the default generators of the CPU and of the
  // inputs' devices had before the first. Afterwards these generators continue
  // where they were.
  bool preserve_rng_state = true;
};

namespace detail {

using CheckpointFunction =
    std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
SY_API std::vector<Tensor> checkpoint(CheckpointFunction f,
                                      std::vector<Tensor> inputs,
                                      const CheckpointOptions& options,
                                      const void* dso);

}  // namespace detail

// Runs f(inputs) and records it, but drops what its operators save. Backward
// runs f a second time when it first needs any of that. f gets the inputs as
// they are given and returns a Tensor or a std::vector<Tensor>. It must do the
// same both times, and may use tensors beside its inputs. Second derivatives
// work. Backward throws Error if an input was written meanwhile, or if the
// second run saves other tensors than the first.
template <class F>
auto checkpoint(F f, std::vector<Tensor> inputs,
                const CheckpointOptions& options = {}) {
  using R = std::invoke_result_t<F&, const std::vector<Tensor>&>;
  if constexpr (std::is_same_v<std::remove_cvref_t<R>, Tensor>) {
    return std::move(detail::checkpoint(
        [f = std::move(f)](const std::vector<Tensor>& x) mutable {
          return std::vector<Tensor>{f(x)};
        },
        std::move(inputs), options, &__dso_handle)[0]);
  } else {
    return detail::checkpoint(std::move(f), std::move(inputs), options,
                              &__dso_handle);
  }
}

}  // namespace sy::autograd
