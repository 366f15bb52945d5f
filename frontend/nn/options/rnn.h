#pragma once

#include <cstdint>

#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"

// Options of the recurrent networks. Names and defaults are libtorch's.

namespace sy::nn {

namespace detail {

using RNNNonlinearity = enumtype::OneOf<enumtype::kTanh, enumtype::kReLU>;

// The options that all of the networks have in common.
struct RNNOptionsBase {
  using rnn_options_base_mode_t =
      enumtype::OneOf<enumtype::kRNN_TANH, enumtype::kRNN_RELU, enumtype::kLSTM,
                      enumtype::kGRU>;

  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size,
                 int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}

  SY_ARG(rnn_options_base_mode_t, mode);
  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  SY_ARG(int64_t, num_layers) = 1;
  SY_ARG(bool, bias) = true;
  SY_ARG(bool, batch_first) = false;
  SY_ARG(double, dropout) = 0.0;
  SY_ARG(bool, bidirectional) = false;
  SY_ARG(int64_t, proj_size) = 0;
};

// The same for cells. `num_chunks` is the number of gates.
struct RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias,
                     int64_t num_chunks)
      : input_size_(input_size),
        hidden_size_(hidden_size),
        bias_(bias),
        num_chunks_(num_chunks) {}

  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  SY_ARG(bool, bias);
  SY_ARG(int64_t, num_chunks);
};

}  // namespace detail

struct GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  // How many networks run one after the other, each on the states of the one
  // before.
  SY_ARG(int64_t, num_layers) = 1;
  SY_ARG(bool, bias) = true;
  // (batch, steps, features) instead of (steps, batch, features).
  SY_ARG(bool, batch_first) = false;
  // The probability with which states are dropped between layers.
  SY_ARG(double, dropout) = 0.0;
  // A second network runs from the last step to the first.
  SY_ARG(bool, bidirectional) = false;
};

struct RNNOptions {
  using nonlinearity_t = detail::RNNNonlinearity;

  RNNOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  SY_ARG(int64_t, num_layers) = 1;
  SY_ARG(nonlinearity_t, nonlinearity) = kTanh;
  SY_ARG(bool, bias) = true;
  SY_ARG(bool, batch_first) = false;
  SY_ARG(double, dropout) = 0.0;
  SY_ARG(bool, bidirectional) = false;
};

struct LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  SY_ARG(int64_t, num_layers) = 1;
  SY_ARG(bool, bias) = true;
  SY_ARG(bool, batch_first) = false;
  SY_ARG(double, dropout) = 0.0;
  SY_ARG(bool, bidirectional) = false;
  // If above 0, states have this size: hidden_size numbers times a matrix.
  SY_ARG(int64_t, proj_size) = 0;
};

struct LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  SY_ARG(bool, bias) = true;
};
using GRUCellOptions = LSTMCellOptions;

struct RNNCellOptions {
  using nonlinearity_t = detail::RNNNonlinearity;

  RNNCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  SY_ARG(int64_t, input_size);
  SY_ARG(int64_t, hidden_size);
  SY_ARG(bool, bias) = true;
  SY_ARG(nonlinearity_t, nonlinearity) = kTanh;
};

}  // namespace sy::nn
