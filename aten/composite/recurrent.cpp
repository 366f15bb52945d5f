#include "aten/ops/recurrent.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "aten/composite/recurrent_layer.h"
#include "aten/composite/recurrent_packed_sequence.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/dropout.h"
#include "aten/ops/recurrent_kernels.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

using OptionalTensor = std::optional<Tensor>;

struct Network {
  const char* op;
  RecurrentCell cell;
  int64_t layers;
  bool bidirectional, has_biases, train;
  double dropout;
  bool projects = false;

  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t states() const { return layers * directions(); }

  std::vector<RecurrentWeights> weights(TensorList params) const {
    SY_CHECK(layers > 0, Value,
             "[{}] num_layers: expected a positive number, got {}", op, layers);
    SY_CHECK(dropout >= 0 && dropout <= 1, Value,
             "[{}] dropout: expected a probability, got {}", op, dropout);
    const int64_t each = (has_biases ? 4 : 2) + (projects ? 1 : 0);
    SY_CHECK(params.size() % static_cast<size_t>(each) == 0 &&
                 static_cast<int64_t>(params.size()) / each / directions() ==
                     layers &&
                 static_cast<int64_t>(params.size()) / each % directions() == 0,
             Value,
             "[{}] params: expected {} tensors for each of {} layers and {} "
             "directions, got {}",
             op, each, layers, directions(), params.size());
    std::vector<RecurrentWeights> list;
    for (size_t i = 0; i < params.size(); i += static_cast<size_t>(each)) {
      RecurrentWeights w;
      w.input = params[i];
      w.state = params[i + 1];
      if (has_biases) {
        w.input_bias = params[i + 2];
        w.state_bias = params[i + 3];
      }
      if (projects) w.projection = params[i + static_cast<size_t>(each) - 1];
      list.push_back(std::move(w));
    }
    return list;
  }
};

void check_size(const char* op, const char* name, const Tensor& t,
                IntArrayRef sizes) {
  SY_CHECK(t.sizes() == sizes, Value, "[{}] {}: expected sizes {}, got {}", op,
           name, sizes, describe(t));
}

// Checks one layer: `width` is that of its input, `hidden` that of its cells.
void check_weights(const char* op, RecurrentCell cell,
                   const RecurrentWeights& w, int64_t width, int64_t hidden,
                   int64_t state, const Tensor& like) {
  const int64_t rows = gates_of(cell) * hidden;
  check_size(op, "w_ih", w.input, {rows, width});
  check_size(op, "w_hh", w.state, {rows, state});
  if (w.input_bias.defined()) check_size(op, "b_ih", w.input_bias, {rows});
  if (w.state_bias.defined()) check_size(op, "b_hh", w.state_bias, {rows});
  if (w.projection.defined()) {
    check_size(op, "w_hr", w.projection, {state, hidden});
  }
  const auto check_type = [&](const char* name, const Tensor& t) {
    if (!t.defined()) return;
    SY_CHECK(t.dtype() == like.dtype(), Type,
             "[{}] {}: expected the dtype of input, {}, got {}", op, name,
             like.dtype(), describe(t));
  };
  check_type("w_ih", w.input);
  check_type("w_hh", w.state);
  check_type("b_ih", w.input_bias);
  check_type("b_hh", w.state_bias);
  check_type("w_hr", w.projection);
}

// Whether gradients have to be made of operators that record.
bool recorded(const Tensor& x, const RecurrentState& s,
              const RecurrentWeights& w) {
  if (!GradMode::is_enabled()) return false;
  const Tensor* const all[] = {&x,       &s.h,          &s.c,         &w.input,
                               &w.state, &w.input_bias, &w.state_bias};
  return std::any_of(std::begin(all), std::end(all), [](const Tensor* t) {
    return t->defined() && t->requires_grad();
  });
}

std::optional<Tensor> optional(const Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

RecurrentResult run_direction(RecurrentCell cell, const Tensor& x,
                              const RecurrentSteps& steps,
                              const RecurrentState& start,
                              const RecurrentWeights& w, bool backwards) {
  if (cell != RecurrentCell::lstm || steps.packed() || w.projection.defined()) {
    return run_steps(cell, x, steps, start, w, backwards);
  }
  if (recorded(x, start, w)) {
    auto [output, h, c, gates, cells] = sy::_lstm_steps(
        gates_from_input(cell, x, w), start.h, start.c, w.state, backwards);
    return {output, {h, c}};
  }
  auto [output, h, c] = sy::_lstm_layer(x, start.h, start.c, w.input, w.state,
                                        optional(w.input_bias),
                                        optional(w.state_bias), backwards);
  return {output, {h, c}};
}

struct Result {
  Tensor output, h, c;
};

Result run(const Network& net, const Tensor& input, const RecurrentSteps& steps,
           const Tensor& h, const Tensor& c, TensorList params) {
  const char* const op = net.op;
  const std::vector<RecurrentWeights> weights = net.weights(params);
  const auto check_state = [&](const char* name, const Tensor& t) {
    SY_CHECK(t.dim() == 3 && t.size(0) == net.states() &&
                 t.size(1) == steps.first_rows(),
             Value, "[{}] {}: expected {} x {} x features, got {}", op, name,
             net.states(), steps.first_rows(), describe(t));
    SY_CHECK(t.dtype() == input.dtype(), Type,
             "[{}] {}: expected the dtype of input, {}, got {}", op, name,
             input.dtype(), describe(t));
  };
  SY_CHECK(input.is_floating_point(), Type,
           "[{}] input: expected a floating dtype, got {}", op,
           describe(input));
  check_state("hx", h);
  if (c.defined()) check_state("hx", c);
  const int64_t state = h.size(2), hidden = c.defined() ? c.size(2) : state;
  const std::vector<Tensor> starts_h = h.unbind(0);
  const std::vector<Tensor> starts_c =
      c.defined() ? c.unbind(0) : std::vector<Tensor>(starts_h.size());

  Tensor x = input;
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    if (layer > 0 && net.train && net.dropout > 0) {
      x = sy::dropout(x, net.dropout, true);
    }
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < net.directions(); ++d) {
      const auto i = static_cast<size_t>(layer * net.directions() + d);
      check_weights(op, net.cell, weights[i], x.size(-1), hidden, state, input);
      RecurrentResult r = run_direction(
          net.cell, x, steps, {starts_h[i], starts_c[i]}, weights[i], d == 1);
      outputs.push_back(std::move(r.output));
      last_h.push_back(std::move(r.last.h));
      last_c.push_back(std::move(r.last.c));
    }
    x = outputs.size() == 1 ? outputs[0] : sy::cat(outputs, -1);
  }
  return {x, sy::stack(last_h, 0),
          c.defined() ? sy::stack(last_c, 0) : Tensor()};
}

Result run_padded(const Network& net, const Tensor& input, const Tensor& h,
                  const Tensor& c, TensorList params, bool batch_first) {
  SY_CHECK(input.dim() == 3, Value,
           "[{}] input: expected 3 dims, steps, batch and features, got {}",
           net.op, describe(input));
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  SY_CHECK(x.size(0) > 0, Value,
           "[{}] input: expected at least one step, got {}", net.op,
           describe(input));
  Result r = run(net, x, RecurrentSteps(x.size(0), x.size(1)), h, c, params);
  if (batch_first) r.output = r.output.transpose(0, 1);
  return r;
}

Result run_packed(const Network& net, const Tensor& data,
                  const Tensor& batch_sizes, const Tensor& h, const Tensor& c,
                  TensorList params) {
  SY_CHECK(data.dim() == 2, Value,
           "[{}] data: expected 2 dims, packed rows and features, got {}",
           net.op, describe(data));
  return run(net, data,
             RecurrentSteps(batch_sizes_of(net.op, batch_sizes, data.size(0))),
             h, c, params);
}

// The hx of an lstm holds states and cells.
void check_pair(const char* op, TensorList hx) {
  SY_CHECK(hx.size() == 2, Value,
           "[{}] hx: expected 2 tensors, states and cells, got {}", op,
           hx.size());
}

bool projects(const char* op, TensorList hx) {
  check_pair(op, hx);
  return hx[0].dim() == 3 && hx[1].dim() == 3 && hx[0].size(2) != hx[1].size(2);
}

RecurrentState one_step(const char* op, RecurrentCell cell, const Tensor& input,
                        const Tensor& h, const Tensor& c, const Tensor& w_ih,
                        const Tensor& w_hh, const OptionalTensor& b_ih,
                        const OptionalTensor& b_hh) {
  const auto check_rows = [&](const char* name, const Tensor& t) {
    SY_CHECK(t.dim() == 2 && t.size(0) == input.size(0), Value,
             "[{}] {}: expected the batch of input and features, got {}", op,
             name, describe(t));
    SY_CHECK(t.dtype() == input.dtype(), Type,
             "[{}] {}: expected the dtype of input, {}, got {}", op, name,
             input.dtype(), describe(t));
  };
  SY_CHECK(input.dim() == 2 && input.is_floating_point(), Value,
           "[{}] input: expected a floating matrix, got {}", op,
           describe(input));
  check_rows("hx", h);
  if (c.defined()) {
    check_rows("hx", c);
    check_size(op, "hx", c, h.sizes());
  }
  const RecurrentWeights w{w_ih, w_hh, b_ih.value_or(Tensor()),
                           b_hh.value_or(Tensor()), Tensor()};
  check_weights(op, cell, w, input.size(1), h.size(1), h.size(1), input);
  return step_once(cell, input, {h, c}, w);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_input(
    const Tensor& input, TensorList hx, TensorList params, bool has_biases,
    int64_t num_layers, double dropout, bool train, bool bidirectional,
    bool batch_first) {
  const Network net{"lstm",        RecurrentCell::lstm, num_layers,
                    bidirectional, has_biases,          train,
                    dropout,       projects("lstm", hx)};
  Result r = run_padded(net, input, hx[0], hx[1], params, batch_first);
  return {r.output, r.h, r.c};
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data,
                                             const Tensor& batch_sizes,
                                             TensorList hx, TensorList params,
                                             bool has_biases,
                                             int64_t num_layers, double dropout,
                                             bool train, bool bidirectional) {
  const Network net{"lstm",        RecurrentCell::lstm, num_layers,
                    bidirectional, has_biases,          train,
                    dropout,       projects("lstm", hx)};
  Result r = run_packed(net, data, batch_sizes, hx[0], hx[1], params);
  return {r.output, r.h, r.c};
}

std::tuple<Tensor, Tensor> gru_input(const Tensor& input, const Tensor& hx,
                                     TensorList params, bool has_biases,
                                     int64_t num_layers, double dropout,
                                     bool train, bool bidirectional,
                                     bool batch_first) {
  const Network net{"gru",         RecurrentCell::gru, num_layers,
                    bidirectional, has_biases,         train,
                    dropout};
  Result r = run_padded(net, input, hx, Tensor(), params, batch_first);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> gru_data(const Tensor& data,
                                    const Tensor& batch_sizes, const Tensor& hx,
                                    TensorList params, bool has_biases,
                                    int64_t num_layers, double dropout,
                                    bool train, bool bidirectional) {
  const Network net{"gru",         RecurrentCell::gru, num_layers,
                    bidirectional, has_biases,         train,
                    dropout};
  Result r = run_packed(net, data, batch_sizes, hx, Tensor(), params);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_tanh_input(const Tensor& input, const Tensor& hx,
                                          TensorList params, bool has_biases,
                                          int64_t num_layers, double dropout,
                                          bool train, bool bidirectional,
                                          bool batch_first) {
  const Network net{"rnn_tanh",    RecurrentCell::tanh, num_layers,
                    bidirectional, has_biases,          train,
                    dropout};
  Result r = run_padded(net, input, hx, Tensor(), params, batch_first);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_tanh_data(const Tensor& data,
                                         const Tensor& batch_sizes,
                                         const Tensor& hx, TensorList params,
                                         bool has_biases, int64_t num_layers,
                                         double dropout, bool train,
                                         bool bidirectional) {
  const Network net{"rnn_tanh",    RecurrentCell::tanh, num_layers,
                    bidirectional, has_biases,          train,
                    dropout};
  Result r = run_packed(net, data, batch_sizes, hx, Tensor(), params);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_relu_input(const Tensor& input, const Tensor& hx,
                                          TensorList params, bool has_biases,
                                          int64_t num_layers, double dropout,
                                          bool train, bool bidirectional,
                                          bool batch_first) {
  const Network net{"rnn_relu",    RecurrentCell::relu, num_layers,
                    bidirectional, has_biases,          train,
                    dropout};
  Result r = run_padded(net, input, hx, Tensor(), params, batch_first);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_relu_data(const Tensor& data,
                                         const Tensor& batch_sizes,
                                         const Tensor& hx, TensorList params,
                                         bool has_biases, int64_t num_layers,
                                         double dropout, bool train,
                                         bool bidirectional) {
  const Network net{"rnn_relu",    RecurrentCell::relu, num_layers,
                    bidirectional, has_biases,          train,
                    dropout};
  Result r = run_packed(net, data, batch_sizes, hx, Tensor(), params);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx,
                                     const Tensor& w_ih, const Tensor& w_hh,
                                     const OptionalTensor& b_ih,
                                     const OptionalTensor& b_hh) {
  check_pair("lstm_cell", hx);
  RecurrentState s = one_step("lstm_cell", RecurrentCell::lstm, input, hx[0],
                              hx[1], w_ih, w_hh, b_ih, b_hh);
  return {s.h, s.c};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                const Tensor& w_hh, const OptionalTensor& b_ih,
                const OptionalTensor& b_hh) {
  return one_step("gru_cell", RecurrentCell::gru, input, hx, Tensor(), w_ih,
                  w_hh, b_ih, b_hh)
      .h;
}

Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                     const Tensor& w_hh, const OptionalTensor& b_ih,
                     const OptionalTensor& b_hh) {
  return one_step("rnn_tanh_cell", RecurrentCell::tanh, input, hx, Tensor(),
                  w_ih, w_hh, b_ih, b_hh)
      .h;
}

Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                     const Tensor& w_hh, const OptionalTensor& b_ih,
                     const OptionalTensor& b_hh) {
  return one_step("rnn_relu_cell", RecurrentCell::relu, input, hx, Tensor(),
                  w_ih, w_hh, b_ih, b_hh)
      .h;
}

// Layers of recurrent networks, for backends that have no kernels of their own
// for them.

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
