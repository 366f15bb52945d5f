#include "aten/ops/recurrent.h"

#include <algorithm>

#include "aten/guard.h"
#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/random.h"
#include "aten/ops/recurrent_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/packed_sequence.h"

namespace sy::native {

namespace {

using OptionalTensor = std::optional<Tensor>;

enum class Cell : uint8_t { tanh, relu, lstm, gru };

int64_t gates_of(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

struct Weights {
  Tensor input, state, input_bias, state_bias, projection;
};
struct State {
  Tensor h, c;  // c for lstm
};

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return sy::linear(x, weight,
                    bias.defined() ? OptionalTensor(bias) : std::nullopt);
}

// What the input adds to the gates: of all steps at once. The bias of the
// state is part of it but for gru, which scales what comes from the state.
Tensor gates_from_input(Cell cell, const Tensor& x, const Weights& w) {
  Tensor bias = w.input_bias;
  if (cell != Cell::gru && bias.defined() && w.state_bias.defined()) {
    bias = bias + w.state_bias;
  } else if (cell != Cell::gru && w.state_bias.defined()) {
    bias = w.state_bias;
  }
  return linear(x, w.input, bias);
}

// The state after a step of rows x features.
State step(Cell cell, const Tensor& gates, const State& s, const Weights& w) {
  if (cell == Cell::gru) {
    const std::vector<Tensor> i = gates.chunk(3, 1);
    const std::vector<Tensor> h =
        linear(s.h, w.state, w.state_bias).chunk(3, 1);
    return {sy::_gru_cell_state(i[0], i[1], i[2], h[0], h[1], h[2], s.h),
            Tensor()};
  }
  const Tensor sum = sy::addmm(gates, s.h, w.state.t());
  if (cell == Cell::tanh) return {sy::tanh(sum), Tensor()};
  if (cell == Cell::relu) return {sy::relu(sum), Tensor()};
  const std::vector<Tensor> g = sum.chunk(4, 1);
  State next;
  next.c = sy::_lstm_cell_memory(g[0], g[1], g[2], s.c);
  next.h = sy::_lstm_cell_state(g[3], next.c);
  if (w.projection.defined()) next.h = sy::mm(next.h, w.projection.t());
  return next;
}

struct Network {
  const char* op;
  Cell cell;
  int64_t layers;
  bool bidirectional, has_biases, train;
  double dropout;
  bool projects = false;

  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t states() const { return layers * directions(); }

  std::vector<Weights> weights(TensorList params) const {
    SY_CHECK(layers > 0, Value, "[", op,
             "] num_layers: expected a positive number, got ", layers);
    SY_CHECK(dropout >= 0 && dropout <= 1, Value, "[", op,
             "] dropout: expected a probability, got ", dropout);
    const int64_t each = (has_biases ? 4 : 2) + (projects ? 1 : 0);
    SY_CHECK(params.size() % static_cast<size_t>(each) == 0 &&
                 static_cast<int64_t>(params.size()) / each / directions() ==
                     layers &&
                 static_cast<int64_t>(params.size()) / each % directions() == 0,
             Value, "[", op, "] params: expected ", each,
             " tensors for each of ", layers, " layers and ", directions(),
             " directions, got ", params.size());
    std::vector<Weights> list;
    for (size_t i = 0; i < params.size(); i += static_cast<size_t>(each)) {
      Weights w;
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
  SY_CHECK(t.sizes() == sizes, Value, "[", op, "] ", name, ": expected sizes ",
           sizes, ", got ", describe(t));
}

// Of one layer: `width` is that of its input, `hidden` that of its cells.
void check_weights(const char* op, Cell cell, const Weights& w, int64_t width,
                   int64_t hidden, int64_t state, const Tensor& like) {
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
    SY_CHECK(t.dtype() == like.dtype(), Type, "[", op, "] ", name,
             ": expected the dtype of input, ", like.dtype(), ", got ",
             describe(t));
  };
  check_type("w_ih", w.input);
  check_type("w_hh", w.state);
  check_type("b_ih", w.input_bias);
  check_type("b_hh", w.state_bias);
  check_type("w_hr", w.projection);
}

// The rows of each step: all of them alike, or of a packed sequence.
class Steps {
 public:
  Steps(int64_t count, int64_t rows) : count_(count), rows_(rows) {}
  explicit Steps(std::vector<int64_t> batch_sizes)
      : count_(static_cast<int64_t>(batch_sizes.size())),
        sizes_(std::move(batch_sizes)) {}

  bool packed() const { return !sizes_.empty(); }
  int64_t count() const { return count_; }
  int64_t first_rows() const { return packed() ? sizes_[0] : rows_; }
  int64_t rows(int64_t step) const {
    return packed() ? sizes_[static_cast<size_t>(step)] : rows_;
  }
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  int64_t count_, rows_ = 0;
  std::vector<int64_t> sizes_;
};

Tensor first_rows(const Tensor& t, int64_t n) {
  return t.defined() && t.size(0) != n ? t.narrow(0, 0, n) : t;
}
// t with the rows of `more` behind its own up to n.
Tensor grown(const Tensor& t, const Tensor& more, int64_t n) {
  if (!t.defined() || t.size(0) == n) return t;
  return sy::cat({t, more.narrow(0, t.size(0), n - t.size(0))}, 0);
}

struct LayerResult {
  Tensor output;
  State last;
};

// One direction of one layer over x: steps x rows x width, or packed rows.
LayerResult run_direction(const Network& net, const Tensor& x,
                          const Steps& steps, const State& start,
                          const Weights& w, bool backwards) {
  const Tensor gates = gates_from_input(net.cell, x, w);
  const std::vector<Tensor> parts =
      steps.packed() ? gates.split_with_sizes(steps.sizes(), 0)
                     : gates.unbind(0);
  std::vector<Tensor> outputs(parts.size());
  State s{first_rows(start.h, steps.rows(backwards ? steps.count() - 1 : 0)),
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
    s = step(net.cell, parts[static_cast<size_t>(t)], s, w);
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

struct Result {
  Tensor output, h, c;
};

Result run(const Network& net, const Tensor& input, const Steps& steps,
           const Tensor& h, const Tensor& c, TensorList params) {
  const char* const op = net.op;
  const std::vector<Weights> weights = net.weights(params);
  const auto check_state = [&](const char* name, const Tensor& t) {
    SY_CHECK(t.dim() == 3 && t.size(0) == net.states() &&
                 t.size(1) == steps.first_rows(),
             Value, "[", op, "] ", name, ": expected ", net.states(), " x ",
             steps.first_rows(), " x features, got ", describe(t));
    SY_CHECK(t.dtype() == input.dtype(), Type, "[", op, "] ", name,
             ": expected the dtype of input, ", input.dtype(), ", got ",
             describe(t));
  };
  SY_CHECK(input.is_floating_point(), Type, "[", op,
           "] input: expected a floating dtype, got ", describe(input));
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
      LayerResult r = run_direction(net, x, steps, {starts_h[i], starts_c[i]},
                                    weights[i], d == 1);
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
  SY_CHECK(input.dim() == 3, Value, "[", net.op,
           "] input: expected 3 dims, steps, batch and features, got ",
           describe(input));
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  SY_CHECK(x.size(0) > 0, Value, "[", net.op,
           "] input: expected at least one step, got ", describe(input));
  Result r = run(net, x, Steps(x.size(0), x.size(1)), h, c, params);
  if (batch_first) r.output = r.output.transpose(0, 1);
  return r;
}

Result run_packed(const Network& net, const Tensor& data,
                  const Tensor& batch_sizes, const Tensor& h, const Tensor& c,
                  TensorList params) {
  SY_CHECK(data.dim() == 2, Value, "[", net.op,
           "] data: expected 2 dims, packed rows and features, got ",
           describe(data));
  return run(net, data,
             Steps(batch_sizes_of(net.op, batch_sizes, data.size(0))), h, c,
             params);
}

// Of an lstm, hx holds states and cells.
void check_pair(const char* op, TensorList hx) {
  SY_CHECK(hx.size() == 2, Value, "[", op,
           "] hx: expected 2 tensors, states and cells, got ", hx.size());
}
bool projects(const char* op, TensorList hx) {
  check_pair(op, hx);
  return hx[0].dim() == 3 && hx[1].dim() == 3 && hx[0].size(2) != hx[1].size(2);
}

State one_step(const char* op, Cell cell, const Tensor& input, const Tensor& h,
               const Tensor& c, const Tensor& w_ih, const Tensor& w_hh,
               const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  const auto check_rows = [&](const char* name, const Tensor& t) {
    SY_CHECK(t.dim() == 2 && t.size(0) == input.size(0), Value, "[", op, "] ",
             name, ": expected the batch of input and features, got ",
             describe(t));
    SY_CHECK(t.dtype() == input.dtype(), Type, "[", op, "] ", name,
             ": expected the dtype of input, ", input.dtype(), ", got ",
             describe(t));
  };
  SY_CHECK(input.dim() == 2 && input.is_floating_point(), Value, "[", op,
           "] input: expected a floating matrix, got ", describe(input));
  check_rows("hx", h);
  if (c.defined()) {
    check_rows("hx", c);
    check_size(op, "hx", c, h.sizes());
  }
  const Weights w{w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()),
                  Tensor()};
  check_weights(op, cell, w, input.size(1), h.size(1), h.size(1), input);
  return step(cell, gates_from_input(cell, input, w), {h, c}, w);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_input(
    const Tensor& input, TensorList hx, TensorList params, bool has_biases,
    int64_t num_layers, double dropout, bool train, bool bidirectional,
    bool batch_first) {
  const Network net{"lstm",     Cell::lstm, num_layers, bidirectional,
                    has_biases, train,      dropout,    projects("lstm", hx)};
  Result r = run_padded(net, input, hx[0], hx[1], params, batch_first);
  return {r.output, r.h, r.c};
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data,
                                             const Tensor& batch_sizes,
                                             TensorList hx, TensorList params,
                                             bool has_biases,
                                             int64_t num_layers, double dropout,
                                             bool train, bool bidirectional) {
  const Network net{"lstm",     Cell::lstm, num_layers, bidirectional,
                    has_biases, train,      dropout,    projects("lstm", hx)};
  Result r = run_packed(net, data, batch_sizes, hx[0], hx[1], params);
  return {r.output, r.h, r.c};
}

std::tuple<Tensor, Tensor> gru_input(const Tensor& input, const Tensor& hx,
                                     TensorList params, bool has_biases,
                                     int64_t num_layers, double dropout,
                                     bool train, bool bidirectional,
                                     bool batch_first) {
  const Network net{"gru",      Cell::gru, num_layers, bidirectional,
                    has_biases, train,     dropout};
  Result r = run_padded(net, input, hx, Tensor(), params, batch_first);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> gru_data(const Tensor& data,
                                    const Tensor& batch_sizes, const Tensor& hx,
                                    TensorList params, bool has_biases,
                                    int64_t num_layers, double dropout,
                                    bool train, bool bidirectional) {
  const Network net{"gru",      Cell::gru, num_layers, bidirectional,
                    has_biases, train,     dropout};
  Result r = run_packed(net, data, batch_sizes, hx, Tensor(), params);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_tanh_input(const Tensor& input, const Tensor& hx,
                                          TensorList params, bool has_biases,
                                          int64_t num_layers, double dropout,
                                          bool train, bool bidirectional,
                                          bool batch_first) {
  const Network net{"rnn_tanh", Cell::tanh, num_layers, bidirectional,
                    has_biases, train,      dropout};
  Result r = run_padded(net, input, hx, Tensor(), params, batch_first);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_tanh_data(const Tensor& data,
                                         const Tensor& batch_sizes,
                                         const Tensor& hx, TensorList params,
                                         bool has_biases, int64_t num_layers,
                                         double dropout, bool train,
                                         bool bidirectional) {
  const Network net{"rnn_tanh", Cell::tanh, num_layers, bidirectional,
                    has_biases, train,      dropout};
  Result r = run_packed(net, data, batch_sizes, hx, Tensor(), params);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_relu_input(const Tensor& input, const Tensor& hx,
                                          TensorList params, bool has_biases,
                                          int64_t num_layers, double dropout,
                                          bool train, bool bidirectional,
                                          bool batch_first) {
  const Network net{"rnn_relu", Cell::relu, num_layers, bidirectional,
                    has_biases, train,      dropout};
  Result r = run_padded(net, input, hx, Tensor(), params, batch_first);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> rnn_relu_data(const Tensor& data,
                                         const Tensor& batch_sizes,
                                         const Tensor& hx, TensorList params,
                                         bool has_biases, int64_t num_layers,
                                         double dropout, bool train,
                                         bool bidirectional) {
  const Network net{"rnn_relu", Cell::relu, num_layers, bidirectional,
                    has_biases, train,      dropout};
  Result r = run_packed(net, data, batch_sizes, hx, Tensor(), params);
  return {r.output, r.h};
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx,
                                     const Tensor& w_ih, const Tensor& w_hh,
                                     const OptionalTensor& b_ih,
                                     const OptionalTensor& b_hh) {
  check_pair("lstm_cell", hx);
  State s = one_step("lstm_cell", Cell::lstm, input, hx[0], hx[1], w_ih, w_hh,
                     b_ih, b_hh);
  return {s.h, s.c};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                const Tensor& w_hh, const OptionalTensor& b_ih,
                const OptionalTensor& b_hh) {
  return one_step("gru_cell", Cell::gru, input, hx, Tensor(), w_ih, w_hh, b_ih,
                  b_hh)
      .h;
}

Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                     const Tensor& w_hh, const OptionalTensor& b_ih,
                     const OptionalTensor& b_hh) {
  return one_step("rnn_tanh_cell", Cell::tanh, input, hx, Tensor(), w_ih, w_hh,
                  b_ih, b_hh)
      .h;
}

Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                     const Tensor& w_hh, const OptionalTensor& b_ih,
                     const OptionalTensor& b_hh) {
  return one_step("rnn_relu_cell", Cell::relu, input, hx, Tensor(), w_ih, w_hh,
                  b_ih, b_hh)
      .h;
}

}  // namespace sy::native
