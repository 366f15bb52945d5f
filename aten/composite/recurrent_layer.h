#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "aten/tensor.h"

// One direction of one layer of a recurrent network, made of other operators.

namespace sy::composite {

enum class RecurrentCell : uint8_t { tanh, relu, lstm, gru };

// How many rows of a weight a feature of the state has.
int64_t gates_of(RecurrentCell cell);
struct RecurrentWeights {
  Tensor input, state, input_bias, state_bias, projection;
};
struct RecurrentState {
  Tensor h, c;  // c for lstm
};

// The rows of each step: all of them alike, or of a packed sequence.
class RecurrentSteps {
 public:
  RecurrentSteps(int64_t count, int64_t rows) : count_(count), rows_(rows) {}
  explicit RecurrentSteps(std::vector<int64_t> batch_sizes)
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

// What x, of one step or of all, adds to the gates. The bias of the state is
// part of it but for gru, which scales what comes from the state.
Tensor gates_from_input(RecurrentCell cell, const Tensor& x,
                        const RecurrentWeights& w);
// A weight for products from the left with `rows` in each of `steps`. Where it
// lies by columns each product would turn it, but one row by columns is fast.
Tensor turned(const Tensor& weight, int64_t steps, int64_t rows);
// The state after a step of x (rows x features).
RecurrentState step_once(RecurrentCell cell, const Tensor& x,
                         const RecurrentState& s, const RecurrentWeights& w);

struct RecurrentResult {
  Tensor output;
  RecurrentState last;
};

// Over x: steps x rows x width, or packed rows; `backwards` from the last on.
RecurrentResult run_steps(RecurrentCell cell, const Tensor& x,
                          const RecurrentSteps& steps,
                          const RecurrentState& start,
                          const RecurrentWeights& w, bool backwards);

}  // namespace sy::composite
