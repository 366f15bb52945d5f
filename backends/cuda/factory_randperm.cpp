#include <optional>
#include <utility>

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/random.h"
#include "c10/device/philox.h"

namespace sy::cuda {

// Each place from the last on is exchanged with one up to it: n steps in this
// order, which the host does.
Tensor& randperm_generator_out(int64_t n, std::optional<Generator> generator,
                               Tensor& out) {
  SY_CHECK(n >= 0, Value, "[randperm] n: expected at least 0, got {}", n);
  SY_CHECK(out.scalar_type() != kBool, Type,
           "[randperm] dtype: expected a dtype of numbers, got bool");
  const Bounds b = bounds_of(out.scalar_type());
  SY_CHECK(n == 0 || n - 1 <= b.high, Value,
           "[randperm] n: expected at most {} for {}, got {}", b.high,
           out.scalar_type(), n);
  const GeneratorImpl::Range range =
      reserve_words("randperm", generator, out.device(), 2 * n);
  if (out.dim() != 1 || out.numel() != n) resize_output("randperm", out, n);
  if (n == 0) return out;
  const Tensor order(make_tensor(n, kLong, Device(kCPU)));
  auto* const at = static_cast<int64_t*>(order.raw_data());
  for (int64_t i = 0; i < n; ++i) at[i] = i;
  PhiloxBlock block = {};
  for (int64_t i = n - 1; i > 0; --i) {
    const auto word = static_cast<size_t>(i % 2 * 2);
    if (word != 0 || i == n - 1) {
      block =
          philox_block(range.seed, range.offset + static_cast<uint64_t>(i / 2));
    }
    const uint64_t bits = uint64_t{block[word + 1]} << 32 | block[word];
    const auto other = static_cast<int64_t>(
        static_cast<unsigned __int128>(bits) * static_cast<uint64_t>(i + 1) >>
        64);
    std::swap(at[i], at[other]);
  }
  copy_tensor(out, order);
  return out;
}

}  // namespace sy::cuda
