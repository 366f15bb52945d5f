#include "backends/cuda/random.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/engine/structured.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/device/random_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"
#include "c10/tensor/half.h"

// The numbers of the CPU for the same seed, bit for bit:
// backends/cpu/random.cpp says of which words an element is made. An element is
// counted in row-major order, so other layouts are filled by way of a
// contiguous tensor.

namespace sy::cuda {

namespace {

using OptionalGenerator = std::optional<Generator>;

constexpr int64_t kMostBlocks = 1 << 16;

std::string_view digits_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return "53";
    case kFloat: return "24";
    case kHalf: return "11";
    case kBFloat16: return "8";
    default: return "0";
  }
}

// Fills self by a kernel that takes `words` words for each element and `each`
// elements a thread. `p` holds the numbers of the distribution.
Tensor& fill(const char* op, const char* name, Tensor& self,
             const OptionalGenerator& generator, int words, DrawParams p,
             const Tensor& chances = {}) {
  assert_no_internal_overlap(op, "self", self);
  const GeneratorImpl::Range range =
      reserve_words(op, generator, self.device(), self.numel() * words);
  if (self.numel() == 0) return self;
  const Tensor to = self.is_contiguous()
                        ? self
                        : new_result(self, self.sizes(), self.scalar_type());
  const int device = self.device().index();
  const Define defines[] = {
      {"SY_ELEMENT", print::element_name(self.scalar_type())},
      {"SY_DIGITS", digits_of(self.scalar_type())}};
  p.seed = range.seed;
  p.offset = range.offset;
  p.n = to.numel();
  p.out = to.raw_data();
  launch(device, kernel(device, "random.cu", name, defines),
         shape_for(p.n, 256, static_cast<unsigned>(4 / words), kMostBlocks), p,
         {&to, &chances});
  if (!to.is_same(self)) copy_tensor(self, to);
  return self;
}

// No `to`: up to the largest value of the dtype.
Tensor& whole(Tensor& self, int64_t from, std::optional<int64_t> to,
              const OptionalGenerator& generator) {
  const char* const op = "random_";
  SY_CHECK(!to || from < *to, Value,
           "[{}] to: expected more than 'from', {}, got {}", op, from, *to);
  const Bounds b = bounds_of(self.scalar_type());
  const int64_t last = to ? *to - 1 : b.largest;
  const auto check = [&](const char* argument, int64_t v) {
    SY_CHECK(v >= b.low && v <= b.high, Value,
             "[{}] {}: expected a value in [{}, {}] for {}, got {}", op,
             argument, b.low, b.high, self.scalar_type(), v);
  };
  check("from", from);
  if (to) check("to - 1", last);
  SY_CHECK(from <= last, Value, "[{}] from: expected at most {} for {}, got {}",
           op, last, self.scalar_type(), from);
  DrawParams p = {};
  p.from = from;
  p.last = last;
  p.count = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  return fill(op, "draw_whole", self, generator, 2, p);
}

int words_of(const Tensor& t) { return t.scalar_type() == kDouble ? 2 : 1; }

// Rounds to the type in which the dtype is computed.
double rounded(const Tensor& t, double v) {
  return t.scalar_type() == kDouble ? v : static_cast<float>(v);
}

}  // namespace

Bounds bounds_of(ScalarType dtype) {
  constexpr auto kLeast = std::numeric_limits<int64_t>::min();
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  switch (dtype) {
    case kBool: return {0, 1, 1};
    case kByte: return {0, 255, 255};
    case kChar: return {-128, 127, 127};
    case kShort: return {-32768, 32767, 32767};
    case kInt: return {INT32_MIN, INT32_MAX, INT32_MAX};
    case kHalf: return {-65504, 65504, int64_t{1} << 11};
    case kBFloat16: return {kLeast, kMost, int64_t{1} << 8};
    case kFloat: return {kLeast, kMost, int64_t{1} << 24};
    case kDouble: return {kLeast, kMost, int64_t{1} << 53};
    default: return {kLeast, kMost, kMost};
  }
}

GeneratorImpl::Range reserve_words(const char* op,
                                   const OptionalGenerator& generator,
                                   Device device, int64_t words) {
  const Generator& g =
      generator && *generator ? *generator : default_generator(device);
  SY_CHECK(g->device().type() == device.type(), Value,
           "[{}] generator: expected one of {}, got one of {}", op, device,
           g->device());
  return g->reserve((static_cast<uint64_t>(words) + 3) / 4);
}

Tensor& uniform_(Tensor& self, double from, double to,
                 OptionalGenerator generator) {
  SY_CHECK(std::isfinite(rounded(self, from)) &&
               std::isfinite(rounded(self, to - from)),
           Value,
           "[uniform_] to: expected a finite distance from 'from', {}, got {}",
           from, to);
  DrawParams p = {};
  p.low = from;
  p.high = to;
  return fill("uniform_", "draw_uniform", self, generator, words_of(self), p);
}

Tensor& normal_(Tensor& self, double mean, double std,
                OptionalGenerator generator) {
  DrawParams p = {};
  p.low = mean;
  p.high = std;
  return fill("normal_", "draw_normal", self, generator, words_of(self), p);
}

Tensor& random_(Tensor& self, OptionalGenerator generator) {
  return whole(self, 0, std::nullopt, generator);
}
Tensor& random__from(Tensor& self, int64_t from, std::optional<int64_t> to,
                     OptionalGenerator generator) {
  return whole(self, from, to, generator);
}
Tensor& random__to(Tensor& self, int64_t to, OptionalGenerator generator) {
  return whole(self, 0, to, generator);
}

Tensor& bernoulli__float(Tensor& self, double p, OptionalGenerator generator) {
  DrawParams d = {};
  d.low = p;
  return fill("bernoulli_", "draw_bernoulli", self, generator, 2, d);
}

Tensor bernoulli(const Tensor& self, OptionalGenerator generator) {
  const Tensor chances = self.to(kDouble).contiguous();
  Tensor out = new_result(self, self.sizes(), self.scalar_type());
  DrawParams d = {};
  d.chances = static_cast<const double*>(chances.raw_data());
  return fill("bernoulli", "draw_bernoulli", out, generator, 2, d, chances);
}

}  // namespace sy::cuda
