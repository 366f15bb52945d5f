#include <sy/library.h>
#include <sy/sy.h>

// A library whose code graphs hold: of a node, of a hook, of packed tensors
// and of a checkpoint.

namespace {

using namespace sy::autograd;  // NOLINT
using sy::Tensor;

struct Cube : Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * x * x * 3};
  }
};

Tensor apply(const Tensor& x) { return Cube::apply(x); }

Tensor hooked(const Tensor& x) {
  Tensor y = x * 2;
  y.register_hook([](const Tensor& grad) { return grad * 10; });
  return y;
}

Tensor packed(const Tensor& x) {
  const SavedTensorHooks hooks(
      [](const Tensor& t) -> std::any { return t; },
      [](const std::any& v) { return std::any_cast<const Tensor&>(v); });
  return x.exp();
}

Tensor again(const Tensor& x) {
  return checkpoint(
      [](const std::vector<Tensor>& in) { return in[0].exp().exp(); }, {x});
}

}  // namespace

SY_LIBRARY(cube, m) {
  m.def("apply(Tensor x) -> Tensor", SY_FN(apply));
  m.def("hooked(Tensor x) -> Tensor", SY_FN(hooked));
  m.def("packed(Tensor x) -> Tensor", SY_FN(packed));
  m.def("again(Tensor x) -> Tensor", SY_FN(again));
}
