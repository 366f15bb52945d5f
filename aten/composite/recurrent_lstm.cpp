// A layer of lstm as one node of the graph: its derivative keeps the gradients
// of all gates, so that those of the weights are one product each.

#include <utility>
#include <vector>

#include "aten/composite/recurrent_layer.h"
#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/recurrent.h"
#include "aten/ops/recurrent_kernels.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

using OptionalTensor = std::optional<Tensor>;

// `first` and then all but the last step of t, in the order of the steps.
Tensor before_each(const Tensor& first, const Tensor& t, bool reverse) {
  const Tensor start = first.unsqueeze(0);
  const int64_t rest = t.size(0) - 1;
  return reverse ? sy::cat({t.narrow(0, 1, rest), start}, 0)
                 : sy::cat({start, t.narrow(0, 0, rest)}, 0);
}

// The sum of those that are there; undefined for none.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}
Tensor step_of(const OptionalTensor& t, int64_t i) {
  return t && t->defined() ? t->select(0, i) : Tensor();
}

// The gradients of a step's gates (rows x 4 x hidden): `by` times that of the
// cell, or for the last of the state. They take by's place unless `records`.
Tensor gradients_of_gates(const Tensor& by, const Tensor& dc, const Tensor& dh,
                          bool records) {
  const Tensor by_cell = by.narrow(1, 0, 3), by_state = by.narrow(1, 3, 1);
  const Tensor c = dc.unsqueeze(1), h = dh.unsqueeze(1);
  if (records) return sy::cat({by_cell * c, by_state * h}, 1).flatten(1);
  by_cell.mul_(c);
  by_state.mul_(h);
  return by.flatten(1);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> lstm_steps(
    const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_hh,
    bool reverse) {
  const int64_t steps = input.size(0);
  const Tensor gates = sy::empty(input.sizes(), input.options());
  const Tensor output =
      sy::empty({steps, hx.size(0), hx.size(1)}, input.options());
  const Tensor cells = sy::empty(output.sizes(), input.options());
  const Tensor weight = turned(w_hh, steps, hx.size(0));
  Tensor h = hx, c = cx;
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t t = reverse ? steps - 1 - k : k;
    Tensor sum = gates.select(0, t);
    sy::addmm_out(sum, input.select(0, t), h, weight);
    const std::vector<Tensor> g = sum.chunk(4, 1);
    Tensor next_c = cells.select(0, t), next_h = output.select(0, t);
    sy::_lstm_cell_memory_out(next_c, g[0], g[1], g[2], c);
    sy::_lstm_cell_state_out(next_h, g[3], next_c);
    c = std::move(next_c);
    h = std::move(next_h);
  }
  return {output, h.clone(), c.clone(), gates, cells};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstm_steps_backward(
    const OptionalTensor& grad_output, const OptionalTensor& grad_hy,
    const OptionalTensor& grad_cy, const OptionalTensor& grad_gates,
    const OptionalTensor& grad_cells, const Tensor& hx, const Tensor& cx,
    const Tensor& w_hh, const Tensor& output, const Tensor& gates,
    const Tensor& cells, bool reverse) {
  const int64_t steps = gates.size(0), rows = hx.size(0), hidden = hx.size(1);
  // The factors that make a gate's gradient from that of the cell, or for the
  // last gate from that of the state; of all steps at once.
  const std::vector<Tensor> g = gates.chunk(4, 2);
  const Tensor in = sy::sigmoid(g[0]), forget = sy::sigmoid(g[1]);
  const Tensor cell = sy::tanh(g[2]), out = sy::sigmoid(g[3]);
  const Tensor memory = sy::tanh(cells);
  const Tensor by_gates = sy::stack(
      {sy::sigmoid_backward(cell, in),
       sy::sigmoid_backward(before_each(cx, cells, reverse), forget),
       sy::tanh_backward(in, cell), sy::sigmoid_backward(memory, out)},
      2);
  const Tensor by_cell = sy::tanh_backward(out, memory);

  const bool records = GradMode::is_enabled();
  std::vector<Tensor> steps_of_gates(static_cast<size_t>(records ? steps : 0));
  Tensor dh = grad_hy.value_or(Tensor()), dc = grad_cy.value_or(Tensor());
  for (int64_t k = steps; k-- > 0;) {
    const int64_t t = reverse ? steps - 1 - k : k;
    dh = sum_of(step_of(grad_output, t), dh);
    dc = sum_of(step_of(grad_cells, t), dc);
    if (!dh.defined()) dh = sy::zeros_like(hx);
    const Tensor of_state = by_cell.select(0, t);
    dc = dc.defined() ? sy::addcmul(dc, dh, of_state) : dh * of_state;
    Tensor d_gates = gradients_of_gates(by_gates.select(0, t), dc, dh, records);
    const Tensor more = step_of(grad_gates, t);
    if (more.defined()) d_gates = records ? d_gates + more : d_gates.add_(more);
    if (records) steps_of_gates[static_cast<size_t>(t)] = d_gates;
    dh = sy::mm(d_gates, w_hh);
    dc = dc * forget.select(0, t);
  }
  const Tensor d_input =
      records ? sy::stack(steps_of_gates, 0) : by_gates.flatten(2);
  const Tensor by_rows = d_input.view({steps * rows, 4 * hidden});
  const Tensor states =
      before_each(hx, output, reverse).view({steps * rows, hidden});
  return {d_input, dh, dc, sy::mm(by_rows.t(), states)};
}

}  // namespace sy::composite
