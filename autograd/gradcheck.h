#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"

namespace sy::autograd {

struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
  // Also checks the gradient of the gradient.
  bool second_order = false;
  // Compares one random direction per result and input, with two calls of f and
  // one backward, instead of every pair of elements. Every run takes the same
  // directions. After a mismatch the elements are compared one by one.
  bool fast = false;
};

struct GradcheckResult {
  std::string problem;  // empty if all is well
  bool ok() const { return problem.empty(); }
  explicit operator bool() const { return ok(); }
};

// Borrows a callable that maps tensors to a Tensor, a std::vector<Tensor> or a
// std::tuple of Tensors.
class GradcheckFunction {
 public:
  // NOLINTBEGIN(bugprone-forwarding-reference-overload): it hides none.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, GradcheckFunction>)
      GradcheckFunction(F&& f)
      : object_(&f), call_([](const void* o, TensorList inputs) {
          auto& f =
              *static_cast<std::remove_reference_t<F>*>(const_cast<void*>(o));
          return to_list(f(inputs));
        }) {}
  // NOLINTEND(bugprone-forwarding-reference-overload)
  std::vector<Tensor> operator()(TensorList inputs) const {
    return call_(object_, inputs);
  }

 private:
  static std::vector<Tensor> to_list(Tensor t) { return {std::move(t)}; }
  static std::vector<Tensor> to_list(std::vector<Tensor> l) { return l; }
  template <class... T>
  static std::vector<Tensor> to_list(std::tuple<T...> t) {
    return std::apply(
        [](auto&&... e) { return std::vector<Tensor>{Tensor(e)...}; }, t);
  }

  const void* object_;
  std::vector<Tensor> (*call_)(const void*, TensorList);
};

// Compares the gradients of f with central differences, for every pair of an
// element of a result and an element of an input. It checks the inputs that
// require a gradient; they must be float64, on CPU, with each element in its
// own memory. It reports the first mismatch, with its place. It also reports
// gradients of wrong sizes or dtype, gradients that are wrong only for a
// cotangent of stride 0, and an f or a backward that writes to an input or a
// cotangent. Throws what f throws, and ValueError for inputs that are not as
// above.
SY_API GradcheckResult gradcheck(GradcheckFunction f,
                                 const std::vector<Tensor>& inputs,
                                 const GradcheckOptions& options = {});

// Checks the gradient of the gradient: gradcheck of grad(f(inputs), inputs, v)
// as a function of the inputs and of v. A gradient that depends on one of them
// and records no gradient itself is a mismatch.
SY_API GradcheckResult gradgradcheck(GradcheckFunction f,
                                     const std::vector<Tensor>& inputs,
                                     const GradcheckOptions& options = {});

// The same for an operator with boxed arguments (all of the schema's, in
// order). It checks all tensors that require a gradient, in lists too. Written
// arguments are cloned before each call.
SY_API GradcheckResult gradcheck_op(OperatorHandle op, const Value* args,
                                    size_t num_args,
                                    const GradcheckOptions& options = {});

}  // namespace sy::autograd
