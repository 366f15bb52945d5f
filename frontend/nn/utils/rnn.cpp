#include "frontend/nn/utils/rnn.h"

#include <utility>

#include "aten/ops/factory.h"
#include "aten/ops/recurrent.h"
#include "aten/ops/stacking.h"
#include "aten/tensor_new.h"

namespace sy::nn::utils::rnn {

namespace {

Tensor moved(const Tensor& indices, Device device) {
  return indices.defined() ? indices.to(device, indices.scalar_type())
                           : Tensor();
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  Tensor inverse = sy::empty(permutation.sizes(), permutation.options());
  return inverse.scatter_(
      0, permutation, sy::arange(permutation.numel(), permutation.options()));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes,
                               Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(std::move(unsorted_indices)) {
  SY_CHECK(batch_sizes_.defined() && batch_sizes_.device().is_cpu() &&
               batch_sizes_.scalar_type() == kLong && batch_sizes_.dim() == 1 &&
               batch_sizes_.numel() > 0,
           Value,
           "[PackedSequence] batch_sizes: expected an int64 vector on the CPU "
           "with one element for each step, got {}",
           describe(batch_sizes_));
  if (!unsorted_indices_.defined()) {
    unsorted_indices_ = invert_permutation(sorted_indices_);
  }
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const Device device = data.device();
  return PackedSequence(std::move(data), batch_sizes_,
                        moved(sorted_indices_, device),
                        moved(unsorted_indices_, device));
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Tensor& t) {
    return t.defined() ? t.pin_memory() : Tensor();
  };
  return PackedSequence(data_.pin_memory(), batch_sizes_,
                        pinned(sorted_indices_), pinned(unsorted_indices_));
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                    bool batch_first, bool enforce_sorted) {
  lengths = lengths.to(kLong);
  Tensor sorted_indices;
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) =
        lengths.sort(/*dim=*/-1, /*descending=*/true);
    sorted_indices = moved(sorted_indices, input.device());
    input = input.index_select(batch_first ? 0 : 1, sorted_indices);
  }
  auto [data, batch_sizes] =
      sy::_pack_padded_sequence(input, lengths, batch_first);
  return PackedSequence(std::move(data), std::move(batch_sizes),
                        std::move(sorted_indices));
}

std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first, double padding_value,
    std::optional<int64_t> total_length) {
  const int64_t longest = sequence.batch_sizes().size(0);
  SY_CHECK(total_length.value_or(longest) >= longest, Value,
           "[pad_packed_sequence] total_length: expected at least the length "
           "of the longest sequence, {}, got {}",
           longest, *total_length);
  auto [padded, lengths] = sy::_pad_packed_sequence(
      sequence.data(), sequence.batch_sizes(), batch_first, padding_value,
      total_length.value_or(longest));
  const Tensor& order = sequence.unsorted_indices();
  if (!order.defined()) return {padded, lengths};
  return {padded.index_select(batch_first ? 0 : 1, order),
          lengths.index_select(0, order.cpu())};
}

Tensor pad_sequence(TensorList sequences, bool batch_first,
                    double padding_value, std::string_view padding_side) {
  return sy::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  const Tensor padded = sy::pad_sequence(sequences);
  std::vector<int64_t> lengths;
  for (const Tensor& t : sequences) lengths.push_back(t.size(0));
  return pack_padded_sequence(padded, sy::tensor(lengths),
                              /*batch_first=*/false, enforce_sorted);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences,
                                   const Tensor& lengths, bool batch_first) {
  const std::vector<Tensor> sequences =
      padded_sequences.unbind(batch_first ? 0 : 1);
  const Tensor host = lengths.cpu().to(kLong).contiguous();
  SY_CHECK(host.dim() == 1 && host.numel() == std::ssize(sequences), Value,
           "[unpad_sequence] lengths: expected one for each of {} sequences, "
           "got {}",
           sequences.size(), describe(lengths));
  const auto* const numbers = host.const_data_ptr<int64_t>();
  std::vector<Tensor> all;
  for (size_t i = 0; i < sequences.size(); ++i) {
    all.push_back(sequences[i].narrow(0, 0, numbers[i]));
  }
  return all;
}

std::vector<Tensor> unpack_sequence(const PackedSequence& sequence) {
  const auto [padded, lengths] =
      pad_packed_sequence(sequence, /*batch_first=*/true);
  return unpad_sequence(padded, lengths, /*batch_first=*/true);
}

}  // namespace sy::nn::utils::rnn
