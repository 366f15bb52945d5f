#include "aten/composite/recurrent_layer.h"

#include <algorithm>
#include <optional>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/recurrent.h"
#include "aten/ops/shape.h"

namespace sy::composite {

namespace {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return sy::linear(x, weight,
                    bias.defined() ? std::optional(bias) : std::nullopt);
}

// The state after a step of rows x features. `state_weight`: that of w with its
// dims swapped.
RecurrentState step(RecurrentCell cell, const Tensor& gates,
                    const RecurrentState& s, const Tensor& state_weight,
                    const RecurrentWeights& w) {
  if (cell == RecurrentCell::gru) {
    const std::vector<Tensor> i = gates.chunk(3, 1);
    const std::vector<Tensor> h =
        (w.state_bias.defined() ? sy::addmm(w.state_bias, s.h, state_weight)
                                : sy::mm(s.h, state_weight))
            .chunk(3, 1);
    return {sy::_gru_cell_state(i[0], i[1], i[2], h[0], h[1], h[2], s.h),
            Tensor()};
  }
  const Tensor sum = sy::addmm(gates, s.h, state_weight);
  if (cell == RecurrentCell::tanh) return {sy::tanh(sum), Tensor()};
  if (cell == RecurrentCell::relu) return {sy::relu(sum), Tensor()};
  const std::vector<Tensor> g = sum.chunk(4, 1);
  RecurrentState next;
  next.c = sy::_lstm_cell_memory(g[0], g[1], g[2], s.c);
  next.h = sy::_lstm_cell_state(g[3], next.c);
  if (w.projection.defined()) next.h = sy::mm(next.h, w.projection.t());
  return next;
}

Tensor first_rows(const Tensor& t, int64_t n) {
  return t.defined() && t.size(0) != n ? t.narrow(0, 0, n) : t;
}
// t with the rows of `more` behind its own up to n.
Tensor grown(const Tensor& t, const Tensor& more, int64_t n) {
  if (!t.defined() || t.size(0) == n) return t;
  return sy::cat({t, more.narrow(0, t.size(0), n - t.size(0))}, 0);
}

}  // namespace

int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}

Tensor gates_from_input(RecurrentCell cell, const Tensor& x,
                        const RecurrentWeights& w) {
  Tensor bias = w.input_bias;
  if (cell != RecurrentCell::gru && bias.defined() && w.state_bias.defined()) {
    bias = bias + w.state_bias;
  } else if (cell != RecurrentCell::gru && w.state_bias.defined()) {
    bias = w.state_bias;
  }
  return linear(x, w.input, bias);
}

Tensor turned(const Tensor& weight, int64_t steps, int64_t rows) {
  const Tensor t = weight.t();
  return steps > 1 && rows > 1 ? t.contiguous() : t;
}

RecurrentState step_once(RecurrentCell cell, const Tensor& x,
                         const RecurrentState& s, const RecurrentWeights& w) {
  return step(cell, gates_from_input(cell, x, w), s, w.state.t(), w);
}

RecurrentResult run_steps(RecurrentCell cell, const Tensor& x,
                          const RecurrentSteps& steps,
                          const RecurrentState& start,
                          const RecurrentWeights& w, bool backwards) {
  const Tensor gates = gates_from_input(cell, x, w);
  const std::vector<Tensor> parts =
      steps.packed() ? gates.split_with_sizes(steps.sizes(), 0)
                     : gates.unbind(0);
  const Tensor state_weight =
      turned(w.state, steps.count(), steps.first_rows());
  std::vector<Tensor> outputs(parts.size());
  RecurrentState s{
      first_rows(start.h, steps.rows(backwards ? steps.count() - 1 : 0)),
      first_rows(start.c, steps.rows(backwards ? steps.count() - 1 : 0))};
  // States of the sequences that have ended, the shortest first.
  std::vector<Tensor> ended_h, ended_c;
  const auto end_after = [&](int64_t n) {
    const int64_t rows = s.h.size(0);
    ended_h.push_back(s.h.narrow(0, n, rows - n));
    s.h = first_rows(s.h, n);
    if (!s.c.defined()) return;
    ended_c.push_back(s.c.narrow(0, n, rows - n));
    s.c = first_rows(s.c, n);
  };
  for (int64_t k = 0; k < steps.count(); ++k) {
    const int64_t t = backwards ? steps.count() - 1 - k : k;
    const int64_t n = steps.rows(t);
    if (n < s.h.size(0)) {
      end_after(n);
    } else {
      s.h = grown(s.h, start.h, n);
      s.c = grown(s.c, start.c, n);
    }
    s = step(cell, parts[static_cast<size_t>(t)], s, state_weight, w);
    outputs[static_cast<size_t>(t)] = s.h;
  }
  if (!ended_h.empty()) {
    const auto joined = [](const Tensor& rest, std::vector<Tensor>& ended) {
      ended.push_back(rest);
      std::reverse(ended.begin(), ended.end());
      return sy::cat(ended, 0);
    };
    s.h = joined(s.h, ended_h);
    if (s.c.defined()) s.c = joined(s.c, ended_c);
  }
  return {steps.packed() ? sy::cat(outputs, 0) : sy::stack(outputs, 0), s};
}

}  // namespace sy::composite
