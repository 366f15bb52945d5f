#include "aten/composite/recurrent_packed_sequence.h"

#include <algorithm>
#include <vector>

#include "aten/engine/geometry.h"
#include "aten/engine/guard.h"
#include "aten/ops/factory.h"
#include "aten/ops/recurrent_kernels.h"
#include "aten/tensor_new.h"

namespace sy::composite {

std::vector<int64_t> host_numbers(const char* op, const char* argument,
                                  const Tensor& t) {
  SY_CHECK(t.dim() == 1 && t.dtype() == kLong && t.numel() > 0, Value,
           "[{}] {}: expected int64 numbers in a vector, got {}", op, argument,
           describe(t));
  SY_CHECK(!t.is_meta(), NotImplemented,
           "[{}] {}: expected numbers, got a tensor without data", op,
           argument);
  const Tensor held = t.to(kCPU).contiguous();
  const auto* data = held.const_data_ptr<int64_t>();
  return {data, data + held.numel()};
}

std::vector<int64_t> batch_sizes_of(const char* op, const Tensor& batch_sizes,
                                    int64_t total) {
  std::vector<int64_t> sizes = host_numbers(op, "batch_sizes", batch_sizes);
  int64_t sum = 0, before = total;
  for (const int64_t n : sizes) {
    SY_CHECK(n > 0 && n <= before && n <= total - sum, Value,
             "[{}] batch_sizes: expected positive numbers that do not rise and "
             "add up to {}, got {}",
             op, total, n);
    before = n;
    sum += n;
  }
  SY_CHECK(sum == total, Value,
           "[{}] batch_sizes: expected numbers that add up to {}, got {}", op,
           total, sum);
  return sizes;
}

namespace {

// A run of steps with the same number of sequences.
struct Run {
  int64_t first, steps, rows;  // first: row in packed data
};

std::vector<Run> runs_of(const std::vector<int64_t>& batch_sizes) {
  std::vector<Run> runs;
  int64_t sum = 0;
  for (const int64_t n : batch_sizes) {
    if (runs.empty() || runs.back().rows != n) runs.push_back({sum, 0, n});
    ++runs.back().steps;
    sum += n;
  }
  return runs;
}

// Steps x rows of each run in `padded` (steps first) and in `data`.
Tensor run_in_padded(const Tensor& padded, int64_t step, const Run& r) {
  return padded.narrow(0, step, r.steps).narrow(1, 0, r.rows);
}
Tensor run_in_packed(const Tensor& data, const Run& r) {
  Dims sizes(IntArrayRef({r.steps, r.rows}));
  for (int64_t d = 1; d < data.dim(); ++d) sizes.push_back(data.size(d));
  return data.narrow(0, r.first, r.steps * r.rows).view(sizes);
}

}  // namespace

std::tuple<Tensor, Tensor> pack_padded_sequence(const Tensor& input,
                                                const Tensor& lengths,
                                                bool batch_first) {
  constexpr const char* kOp = "_pack_padded_sequence";
  const Tensor padded = batch_first ? input.transpose(0, 1) : input;
  const std::vector<int64_t> list = host_numbers(kOp, "lengths", lengths);
  for (size_t i = 0; i < list.size(); ++i) {
    SY_CHECK(list[i] > 0 && list[i] <= padded.size(0) &&
                 (i == 0 || list[i] <= list[i - 1]),
             Value,
             "[{}] lengths: expected numbers from {} down to 1 that do not "
             "rise, got {}",
             kOp, padded.size(0), list[i]);
  }
  // Sequence i takes part in steps below its length.
  std::vector<int64_t> batch_sizes;
  int64_t total = 0;
  for (auto n = static_cast<int64_t>(list.size()); n > 0; --n) {
    const auto steps = static_cast<size_t>(list[static_cast<size_t>(n) - 1]);
    total += static_cast<int64_t>(steps - batch_sizes.size()) * n;
    batch_sizes.resize(steps, n);
  }
  const Tensor sizes = sy::tensor(batch_sizes);
  Dims shape;
  shape.push_back(total);
  for (int64_t d = 2; d < padded.dim(); ++d) shape.push_back(padded.size(d));
  const Tensor data = sy::empty(shape, input.options());
  int64_t step = 0;
  for (const Run& r : runs_of(batch_sizes)) {
    run_in_packed(data, r).copy_(run_in_padded(padded, step, r));
    step += r.steps;
  }
  return {data, sizes};
}

Tensor pack_padded_sequence_backward(const Tensor& grad, IntArrayRef input_size,
                                     const Tensor& batch_sizes,
                                     bool batch_first) {
  constexpr const char* kOp = "_pack_padded_sequence_backward";
  SY_CHECK(grad.dim() >= 1 &&
               input_size.size() == static_cast<size_t>(grad.dim()) + 1,
           Value,
           "[{}] input_size: expected one dim more than grad has, got {}", kOp,
           input_size);
  const Tensor full = sy::zeros(input_size, grad.options());
  const Tensor padded = batch_first ? full.transpose(0, 1) : full;
  const std::vector<Run> runs =
      runs_of(batch_sizes_of(kOp, batch_sizes, grad.size(0)));
  int64_t step = 0;
  for (const Run& r : runs) step += r.steps;
  SY_CHECK(
      step <= padded.size(0) && runs[0].rows <= padded.size(1) &&
          IntArrayRef(geometry::slice(padded.sizes(), 2, INT64_MAX)) ==
              IntArrayRef(geometry::slice(grad.sizes(), 1, INT64_MAX)),
      Value,
      "[{}] input_size: expected room for {} steps of {} rows of grad, got {}",
      kOp, step, runs[0].rows, input_size);
  step = 0;
  for (const Run& r : runs) {
    run_in_padded(padded, step, r).copy_(run_in_packed(grad.contiguous(), r));
    step += r.steps;
  }
  return full;
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const Tensor& data,
                                               const Tensor& batch_sizes,
                                               bool batch_first,
                                               const Scalar& padding_value,
                                               int64_t total_length) {
  constexpr const char* kOp = "_pad_packed_sequence";
  SY_CHECK(data.dim() >= 1, Value,
           "[{}] data: expected at least one dim, got {}", kOp, describe(data));
  const std::vector<Run> runs =
      runs_of(batch_sizes_of(kOp, batch_sizes, data.size(0)));
  int64_t steps = 0;
  for (const Run& r : runs) steps += r.steps;
  const int64_t length = total_length > 0 ? total_length : steps;
  SY_CHECK(length >= steps, Value,
           "[{}] total_length: expected at least {}, got {}", kOp, steps,
           total_length);
  const int64_t rows = runs[0].rows;
  Dims shape(IntArrayRef({length, rows}));
  for (int64_t d = 1; d < data.dim(); ++d) shape.push_back(data.size(d));
  Tensor padded = sy::full(shape, padding_value, data.options());
  std::vector<int64_t> lengths(static_cast<size_t>(rows));
  int64_t step = 0;
  for (const Run& r : runs) {
    run_in_padded(padded, step, r).copy_(run_in_packed(data.contiguous(), r));
    step += r.steps;
    std::fill_n(lengths.begin(), r.rows, step);
  }
  if (batch_first) padded = padded.transpose(0, 1);
  return {padded, sy::tensor(lengths)};
}

}  // namespace sy::composite
