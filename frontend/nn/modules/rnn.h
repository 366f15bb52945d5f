#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "frontend/nn/module.h"
#include "frontend/nn/options/rnn.h"
#include "frontend/nn/utils/rnn.h"

// Recurrent networks, and one step of each. With input x and state h:
//   RNN   h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu
//   LSTM  i, f, o = sigmoid(...), g = tanh(...), each as above;
//         c' = f c + i g; h' = o tanh(c'), times W_hr if proj_size > 0
//   GRU   r, z = sigmoid(...); n = tanh(W_in x + b_in + r (W_hn h + b_hn));
//         h' = (1 - z) n + z h
// Weights and biases of the gates stand in one tensor, in this order (LSTM: i,
// f, g, o). All of them start uniform within 1 / sqrt(hidden_size).

namespace sy::nn {

namespace detail {

// Parameters in a list that follows its module when that is cloned.
class SY_API ParameterRefs : public std::vector<Tensor> {
 public:
  ParameterRefs() = default;
  ParameterRefs(const ParameterRefs& other);
  ParameterRefs(ParameterRefs&&) noexcept = default;
  ParameterRefs& operator=(const ParameterRefs&) = default;
  ParameterRefs& operator=(ParameterRefs&&) noexcept = default;
};

// The base of all of the networks: parameters weight_ih_l0, weight_hh_l0,
// bias_ih_l0, bias_hh_l0 and weight_hr_l0, of layers 1 and on with their
// number, of the direction from the last step with the ending _reverse. Throws
// ValueError, which names the option, for sizes below 1, for a dropout that is
// no probability, and for a proj_size that is not below hidden_size.
class SY_API RNNImplBase : public Module {
 public:
  // Makes new parameters by the options.
  void reset();
  void reset_parameters();
  // Takes those parameters that are registered now.
  void flatten_parameters();
  std::vector<Tensor> all_weights() const { return weights_; }
  std::string extra_repr() const override;

  RNNOptionsBase options_base;

 protected:
  struct Result {
    Tensor output, h, c;
  };

  explicit RNNImplBase(const RNNOptionsBase& options_base);

  // `c` is for LSTM; an undefined state is zero.
  Result run(const Tensor& input, Tensor h, Tensor c = {}) const;
  // The output has the data of a packed sequence like `input`.
  Result run_packed(const utils::rnn::PackedSequence& input, Tensor h,
                    Tensor c = {}) const;

 private:
  // Checks the input; makes states that are not given, checks those that are,
  // and adds a batch of 1 where the input has none.
  void prepare(const Tensor& input, std::optional<int64_t> batch, Tensor& h,
               Tensor& c) const;
  void prepare_state(const char* argument, Tensor& state,
                     std::optional<int64_t> batch, int64_t size,
                     const Tensor& input) const;

  std::vector<std::string> names_;
  ParameterRefs weights_;
};

}  // namespace detail

// Forward takes (steps, batch, input_size), or (batch, steps, input_size) if
// batch_first, or (steps, input_size); and states of sizes (num_layers *
// directions, batch, hidden_size), without batch where the input has none,
// which are zero by default. It gives the states of all steps of the last
// layer, with both directions side by side, and the last states of all layers.
// Packed sequences give packed ones; states have the order of the sequences
// before packing. Throws ValueError for other sizes.
class SY_API RNNImpl : public detail::RNNImplBase {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size)
      : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options);

  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;
};
SY_MODULE(RNN);

// States and cells go in and out as pairs. With proj_size > 0, states have that
// size in place of hidden_size.
class SY_API LSTMImpl : public detail::RNNImplBase {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options);

  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input,
      std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>>
  forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input,
      std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMOptions options;
};
SY_MODULE(LSTM);

class SY_API GRUImpl : public detail::RNNImplBase {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size)
      : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options);

  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;
};
SY_MODULE(GRU);

namespace detail {

class SY_API RNNCellImplBase : public Module {
 public:
  // Makes new parameters by the options.
  void reset();
  void reset_parameters();
  std::string extra_repr() const override;

  RNNCellOptionsBase options_base;
  Parameter weight_ih;
  Parameter weight_hh;
  Parameter bias_ih;
  Parameter bias_hh;

 protected:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_base);

  // Input and state with a batch; an undefined state is zero.
  Tensor batched_input(const Tensor& input) const;
  Tensor batched_state(const char* argument, const Tensor& state,
                       const Tensor& input) const;
};

}  // namespace detail

// One step: (batch, input_size) and (batch, hidden_size) to (batch,
// hidden_size), or all without batch. The state is zero by default. Throws
// ValueError for other sizes.
class SY_API RNNCellImpl : public detail::RNNCellImplBase {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options);

  Tensor forward(const Tensor& input, const Tensor& hx = {});
  std::string extra_repr() const override;

  RNNCellOptions options;
};
SY_MODULE(RNNCell);

class SY_API LSTMCellImpl : public detail::RNNCellImplBase {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options);

  std::tuple<Tensor, Tensor> forward(
      const Tensor& input,
      std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMCellOptions options;
};
SY_MODULE(LSTMCell);

class SY_API GRUCellImpl : public detail::RNNCellImplBase {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options);

  Tensor forward(const Tensor& input, const Tensor& hx = {});

  GRUCellOptions options;
};
SY_MODULE(GRUCell);

}  // namespace sy::nn
