// Layers of recurrent networks, for backends that have no kernels of their own
// for them.

#include "aten/composite/recurrent_layer.h"
#include "aten/ops/recurrent.h"
#include "aten/ops/recurrent_kernels.h"

namespace sy::composite {

std::tuple<Tensor, Tensor, Tensor> lstm_layer_by_steps(
    const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
    const Tensor& w_hh, const std::optional<Tensor>& b_ih,
    const std::optional<Tensor>& b_hh, bool reverse) {
  const Tensor gates = gates_from_input(
      RecurrentCell::lstm, input,
      {w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), Tensor()});
  auto [output, h, c, all_gates, cells] =
      sy::_lstm_steps(gates, hx, cx, w_hh, reverse);
  return {output, h, c};
}

}  // namespace sy::composite
