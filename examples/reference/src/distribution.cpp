#include <cmath>

#include "aten/contract/random_draws.h"
#include "aten/engine/view.h"
#include "random.h"
#include "reference_kernels.h"

// Draws that reject candidates: each element has blocks of its own, which the
// third word of the counter counts, and takes as many as it needs.

namespace reference {
namespace {

class Evens {
 public:
  Evens(const Stream& stream, int64_t element)
      : seed_(stream.range().seed),
        at_(stream.range().offset + static_cast<uint64_t>(element)) {}

  double next() {
    const sy::PhiloxBlock b = sy::philox4x32(
        {static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ >> 32),
         taken_ / 2, 0},
        static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32));
    const size_t half = taken_++ % 2 * 2;
    return sy::uniform_double(b[half], b[half + 1]);
  }

 private:
  uint64_t seed_, at_;
  uint32_t taken_ = 0;
};

template <class Check, class F>
Tensor drawn(IntArrayRef sizes, const Tensor& like,
             const std::optional<sy::Generator>& generator, const Check& check,
             const F& f) {
  const Tensor out = empty(sizes, like.scalar_type(), like.device());
  for_each_place(sizes, check);
  const Stream stream(generator, like.device(), 4 * out.numel());
  int64_t i = 0;
  for_each_place(sizes, [&](const Index& at) {
    Evens evens(stream, i++);
    write<double>(out, at, f(at, evens));
  });
  return out;
}

}  // namespace

Tensor poisson(const Tensor& self, std::optional<sy::Generator> generator) {
  return drawn(
      self.sizes(), self, generator,
      [&](const Index& at) {
        const auto mean = read<double>(self, at);
        SY_CHECK(mean >= 0 && std::isfinite(mean), Value,
                 "[poisson] self: expected finite means that are not negative, "
                 "got {}",
                 mean);
      },
      [&](const Index& at, Evens& evens) {
        return sy::draw_poisson(read<double>(self, at), evens);
      });
}

Tensor binomial(const Tensor& count, const Tensor& prob,
                std::optional<sy::Generator> generator) {
  const sy::Dims sizes =
      sy::broadcast_sizes("binomial", count.sizes(), prob.sizes());
  return drawn(
      sizes, count, generator,
      [&](const Index& at) {
        const auto n = read<double>(count, at), p = read<double>(prob, at);
        SY_CHECK(n >= 0 && std::isfinite(n), Value,
                 "[binomial] count: expected finite numbers that are not "
                 "negative, got {}",
                 n);
        SY_CHECK(p >= 0 && p <= 1, Value,
                 "[binomial] prob: expected probabilities in [0, 1], got {}",
                 p);
      },
      [&](const Index& at, Evens& evens) {
        return sy::draw_binomial(std::floor(read<double>(count, at)),
                                 read<double>(prob, at), evens);
      });
}

}  // namespace reference
