#include "backends/cuda/cub/counts.h"

#include <limits>

#include "backends/cuda/copy.h"
#include "backends/cuda/cub/library.h"

namespace sy::cuda::cub {

namespace {

// nullptr if there are too few elements, or no functions.
const SwitchyardCub* functions_for(const Tensor& t, int64_t n, int64_t least) {
  return n < least ? nullptr : functions(t.device().index());
}

}  // namespace

bool select_places(const Tensor& flags, const Tensor& places) {
  const int64_t n = flags.numel();
  const SwitchyardCub* const f = functions_for(flags, n, least().select);
  if (f == nullptr) return false;
  const Tensor count = empty_on(flags.device(), 1, kLong);
  return run(flags.device().index(), "CUB's selection",
             [&](void* room, size_t* bytes, void* stream) {
               return f->select_places(
                   room, bytes, static_cast<const uint8_t*>(flags.raw_data()),
                   static_cast<int64_t*>(places.raw_data()),
                   static_cast<int64_t*>(count.raw_data()), n, stream);
             },
             {&flags, &places, &count});
}

bool sum_before(const Tensor& counts, int64_t n) {
  const SwitchyardCub* const f = functions_for(counts, n, least().sum);
  if (f == nullptr) return false;
  return run(counts.device().index(), "CUB's scan",
             [&](void* room, size_t* bytes, void* stream) {
               return f->sum_before(room, bytes,
                                    static_cast<uint64_t*>(counts.raw_data()),
                                    n + 1, stream);
             },
             {&counts});
}

bool count_numbers(const Tensor& numbers, const Tensor& counts) {
  const int64_t n = numbers.numel(), bins = counts.numel();
  const SwitchyardCub* const f = functions_for(numbers, n, least().count);
  if (f == nullptr || bins >= std::numeric_limits<int32_t>::max()) return false;
  return run(numbers.device().index(), "CUB's histogram",
             [&](void* room, size_t* bytes, void* stream) {
               return f->count_numbers(
                   room, bytes, static_cast<int>(8 * numbers.itemsize()),
                   numbers.raw_data(), n,
                   static_cast<uint64_t*>(counts.raw_data()), bins, stream);
             },
             {&numbers, &counts});
}

}  // namespace sy::cuda::cub
