#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "aten/tensor.h"

// Sequences of different lengths in one tensor: padded, (steps, batch, ...),
// with values beyond the ends, or packed, step by step, without.

namespace sy::nn::utils::rnn {

// q with q[p[i]] = i for all i; undefined for an undefined p.
SY_API Tensor invert_permutation(const Tensor& permutation);

// Packed sequences: rows of the first step, then of the second, and so on, and
// how many rows each step has. These counts are int64 and on the CPU: else
// ValueError. The sequences stand in order of falling lengths; sorted_indices
// says where each was before, unsorted_indices is its inverse, and both are
// undefined if nothing moved. A value type.
class SY_API PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes,
                          Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  // batch_sizes stay where they are, and indices keep their dtype.
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const { return to(kCUDA); }
  PackedSequence cpu() const { return to(kCPU); }
  PackedSequence pin_memory() const;
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

// Packs (steps, batch, ...), or (batch, steps, ...) if batch_first. Throws
// ValueError for lengths that are not in [1, steps], that are not one for each
// sequence, and, if enforce_sorted, that rise.
SY_API PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                           bool batch_first = false,
                                           bool enforce_sorted = true);
// The padded sequences in the order before packing, and their lengths. There
// are as many steps as the longest has, or total_length, which may not be less:
// else ValueError.
SY_API std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first = false,
    double padding_value = 0.0,
    std::optional<int64_t> total_length = std::nullopt);
// Pads tensors of sizes (length, ...) on the "right" or the "left".
SY_API Tensor pad_sequence(TensorList sequences, bool batch_first = false,
                           double padding_value = 0,
                           std::string_view padding_side = "right");
// Packs tensors of sizes (length, ...).
SY_API PackedSequence pack_sequence(TensorList sequences,
                                    bool enforce_sorted = true);
// The inverses. Only Python has these two.
SY_API std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences,
                                          const Tensor& lengths,
                                          bool batch_first = false);
SY_API std::vector<Tensor> unpack_sequence(const PackedSequence& sequence);

}  // namespace sy::nn::utils::rnn
