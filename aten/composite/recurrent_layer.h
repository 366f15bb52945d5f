#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "aten/tensor.h"

// One direction of one layer of a recurrent network, made of other operators.

namespace sy::composite {

enum class RecurrentCell : uint8_t { tanh, relu, lstm, gru };

// How many rows of a weight belong to one feature of the state.
int64_t gates_of(RecurrentCell cell);
struct RecurrentWeights {
  Tensor input, state, input_bias, state_bias, projection;
};
struct RecurrentState {
  Tensor h, c;  // c for lstm
};

// The number of rows of each step: the same for all, or those of a packed
// sequence.
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

// The part of the gates that comes from x, which is one step or all steps. It
// includes the bias of the state, except for gru, which scales the part from
// the state.
Tensor gates_from_input(RecurrentCell cell, const Tensor& x,
                        const RecurrentWeights& w);
// The transposed weight, for products with `rows` rows in each of `steps`
// steps. It is made contiguous if there are several steps and rows, since each
// product would copy it otherwise. A single row is fast without that.
Tensor turned(const Tensor& weight, int64_t steps, int64_t rows);
// The state after one step with the input x (rows x features).
RecurrentState step_once(RecurrentCell cell, const Tensor& x,
                         const RecurrentState& s, const RecurrentWeights& w);

struct RecurrentResult {
  Tensor output;
  RecurrentState last;
};

// Runs all steps over x (steps x rows x width, or packed rows), with
// `backwards` from the last step to the first.
RecurrentResult run_steps(RecurrentCell cell, const Tensor& x,
                          const RecurrentSteps& steps,
                          const RecurrentState& start,
                          const RecurrentWeights& w, bool backwards);

}  // namespace sy::composite
