#include "backends/cuda/engine/pointwise_call.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/device/pointwise_params.cuh"
#include "backends/cuda/engine/argument.h"
#include "backends/cuda/engine/interpret.h"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/pointwise_kernels.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/launch.h"

namespace sy::cuda {

using print::IndexClass;
using print::PointwiseKernel;

namespace {

constexpr int kMost = PointwiseCall::kMaxOperands;
constexpr int64_t kMost32 = (int64_t{1} << 31) - 1;

// The PointwiseParams of a call: where operands lie is added in between.
class PointwiseArgument : public Argument {
 public:
  PointwiseArgument(const PointwiseCall& call, int64_t n) : call_(call) {
    add(LaunchHead{});
    add(static_cast<long long>(n));
    add_data(call.data, call.operands());
  }
  void start(const Function& f, const LaunchShape& shape) {
    Number numbers[PointwiseCall::kMaxNumbers];
    const int n = call_.program->n_uniforms + std::popcount(call_.immediate);
    for (int i = 0; i < n; ++i) numbers[i] = number_of(call_.numbers[i]);
    add_numbers(numbers, static_cast<size_t>(n));
    launch(call_.device, f, shape, data(), size(), call_.tensors,
           static_cast<size_t>(call_.operands()));
  }

 private:
  const PointwiseCall& call_;
};

// Blocks of the most threads, or smaller ones where these would be too few to
// keep all multiprocessors busy.
LaunchShape blocks_of(int device, int64_t n, int64_t each) {
  const int64_t enough = int64_t{8} * limits(device).multiprocessors;
  unsigned threads = kPointwiseThreads;
  while (threads > 64 && n < enough * threads * each) threads /= 2;
  return shape_for(n, threads, static_cast<unsigned>(each));
}

PointwiseKernel kernel_of(const PointwiseCall& call, IndexClass index) {
  PointwiseKernel k;
  k.program = call.program;
  k.type = call.type;
  k.index = index;
  k.immediate = call.immediate;
  k.dtypes = call.dtypes;
  return k;
}

SY_NOINLINE void interpret_linear(PointwiseCall& call, int64_t n,
                                  uint64_t single) {
  int64_t stride[kMost];
  const int64_t* strides[kMost];
  for (int k = 0; k < call.operands(); ++k) {
    stride[k] = (single >> k & 1) != 0
                    ? 0
                    : static_cast<int64_t>(element_size(call.dtypes[k]));
    strides[k] = &stride[k];
  }
  interpret(call, {n, 1, &n, strides});
}

// ---- strided operands

// The places of the elements, in the order of the call's operands: a piece of
// the walk with at most kWideDims dims.
struct Places {
  int64_t n = 1;
  int dims = 0;
  int64_t sizes[kWideDims];
  int64_t strides[kMost][kWideDims];
};

bool is_linear(const PointwiseCall& call, const Places& s, uint64_t* single) {
  if (s.dims > 1) return false;
  *single = 0;
  for (int k = 0; k < call.operands(); ++k) {
    if ((call.immediate >> k & 1) != 0 || s.n == 1) continue;
    if (s.strides[k][0] == 0 && k < call.program->n_inputs) {
      *single |= uint64_t{1} << k;
    } else if (s.strides[k][0] !=
               static_cast<int64_t>(element_size(call.dtypes[k]))) {
      return false;
    }
  }
  return true;
}

// Inputs that are contiguous along dim 1 where the results are along dim 0; 0
// if squares do not pay.
uint64_t transposed_inputs(const PointwiseCall& call, const Places& s) {
  if (s.dims < 2 || s.dims > kSquareDims || s.sizes[0] < kSquare / 2 ||
      s.sizes[1] < kSquare / 2) {
    return 0;
  }
  uint64_t bits = 0;
  for (int k = 0; k < call.operands(); ++k) {
    if ((call.immediate >> k & 1) != 0) continue;
    const auto item = static_cast<int64_t>(element_size(call.dtypes[k]));
    if (k >= call.program->n_inputs) {
      if (s.strides[k][0] != item) return 0;
    } else if (s.strides[k][1] == item && s.strides[k][0] > item) {
      bits |= uint64_t{1} << k;
    }
  }
  return std::popcount(bits) <= print::kMaxTransposed ? bits : 0;
}

// The outcome of a kind of kernel: it is none for these operands, it is not
// compiled yet, or it was started.
enum class Outcome : uint8_t { kOther, kPending, kStarted };

Outcome run_squares(PointwiseCall& call, const Places& s) {
  const uint64_t transposed = transposed_inputs(call, s);
  if (transposed == 0) return Outcome::kOther;
  int64_t counts[kSquareDims];
  int64_t blocks = 1;
  for (int d = 0; d < kSquareDims; ++d) {
    counts[d] = d >= s.dims ? 1
                : d < 2     ? (s.sizes[d] + kSquare - 1) / kSquare
                            : s.sizes[d];
    if (__builtin_mul_overflow(blocks, counts[d], &blocks) ||
        blocks > kMost32) {
      return Outcome::kOther;
    }
  }
  PointwiseKernel k = kernel_of(call, IndexClass::kTransposed);
  k.transposed = transposed;
  const PointwiseEntry& entry = pointwise_entry(k, call.device, call.name);
  const Function* const f = entry.function();
  if (f == nullptr) return Outcome::kPending;
  Squares<kMost> squares;
  squares.columns = s.sizes[0];
  squares.rows = s.sizes[1];
  for (int d = 0; d < kSquareDims; ++d) {
    squares.divisors[d] = make_divisor(static_cast<uint32_t>(counts[d]));
    for (int o = 0; o < call.operands(); ++o) {
      squares.strides[o][d] = d < s.dims ? s.strides[o][d] : 0;
    }
  }
  PointwiseArgument a(call, s.n);
  a.add_places(squares, call.operands());
  a.start(*f, {{static_cast<unsigned>(blocks)}, {kSquare, kSquareRows}});
  return Outcome::kStarted;
}

// Whether dim 0 can be cut into packs of `width` elements: `single` gets the
// inputs that are the same along it.
bool is_packed(const PointwiseCall& call, const Places& s, int64_t width,
               uint64_t single) {
  if (width == 1 || s.sizes[0] % width != 0) return false;
  for (int k = 0; k < call.operands(); ++k) {
    if (((call.immediate | single) >> k & 1) != 0) continue;
    const auto bytes =
        static_cast<uint64_t>(width) * element_size(call.dtypes[k]);
    uint64_t all = reinterpret_cast<uint64_t>(call.data[k]);
    for (int d = 1; d < s.dims; ++d) {
      all |= static_cast<uint64_t>(s.strides[k][d]);
    }
    if (all % std::min<uint64_t>(bytes, 16) != 0) return false;
  }
  return true;
}

// Operands that lie along dim 0 as packs need them. False if one does not.
bool may_pack(const PointwiseCall& call, const Places& s, uint64_t* single) {
  *single = 0;
  for (int k = 0; k < call.operands(); ++k) {
    if ((call.immediate >> k & 1) != 0) continue;
    if (s.strides[k][0] == 0 && k < call.program->n_inputs) {
      *single |= uint64_t{1} << k;
    } else if (s.strides[k][0] !=
               static_cast<int64_t>(element_size(call.dtypes[k]))) {
      return false;
    }
  }
  return true;
}

// Steps along dim 0 are of `width` elements.
template <int kRank>
Strides<kRank, kMost> strides_of(const PointwiseCall& call, const Places& s,
                                 int64_t width) {
  Strides<kRank, kMost> out;
  for (int d = 0; d < kRank; ++d) {
    const int64_t step = d == 0 ? width : 1;
    const int64_t size = d < s.dims ? s.sizes[d] : 1;
    out.divisors[d] = make_divisor(static_cast<uint32_t>(size / step));
    for (int o = 0; o < call.operands(); ++o) {
      out.strides[o][d] = d < s.dims ? s.strides[o][d] * step : 0;
    }
  }
  return out;
}

void add_strides(const PointwiseCall& call, const Places& s, int rank,
                 int64_t width, Argument* a) {
  const int n = call.operands();
  switch (rank) {
    case 1: return a->add_places(strides_of<1>(call, s, width), n);
    case 2: return a->add_places(strides_of<2>(call, s, width), n);
    case 3: return a->add_places(strides_of<3>(call, s, width), n);
    default: return a->add_places(strides_of<5>(call, s, width), n);
  }
}

Outcome run_few_dims(PointwiseCall& call, const Places& s) {
  if (s.dims > 5 || s.n > kMost32) return Outcome::kOther;
  PointwiseKernel k = kernel_of(call, IndexClass::kStrided);
  k.rank = static_cast<uint8_t>(s.dims <= 3 ? std::max(s.dims, 1) : 5);
  if (may_pack(call, s, &k.single)) {
    k.packs = true;
    const PointwiseEntry* const known = find_pointwise_entry(k, call.device);
    const int width =
        known != nullptr ? known->tile().width : print::tile_of(k).width;
    k.packs = is_packed(call, s, width, k.single);
  }
  if (!k.packs) k.single = 0;
  const PointwiseEntry& entry = pointwise_entry(k, call.device, call.name);
  const Function* const f = entry.function();
  if (f == nullptr) return Outcome::kPending;
  const int64_t width = k.packs ? entry.tile().width : 1;
  const int64_t places = s.n / width;
  PointwiseArgument a(call, places);
  add_strides(call, s, k.rank, width, &a);
  a.start(*f, blocks_of(call.device, places, entry.tile().unroll));
  return Outcome::kStarted;
}

Outcome run_wide(PointwiseCall& call, const Places& s) {
  const PointwiseEntry& entry = pointwise_entry(
      kernel_of(call, IndexClass::kWide), call.device, call.name);
  const Function* const f = entry.function();
  if (f == nullptr) return Outcome::kPending;
  WideStrides<kMost> wide;
  wide.dims = s.dims;
  for (int d = 0; d < s.dims; ++d) {
    wide.sizes[d] = s.sizes[d];
    for (int o = 0; o < call.operands(); ++o) {
      wide.strides[o][d] = s.strides[o][d];
    }
  }
  PointwiseArgument a(call, s.n);
  a.add_places(wide, call.operands());
  a.start(*f, shape_for(s.n, kPointwiseThreads, 4, int64_t{1} << 20));
  return Outcome::kStarted;
}

void run_piece(PointwiseCall& call, const Places& s) {
  uint64_t single;
  if (is_linear(call, s, &single)) return run_linear(call, s.n, single);
  Outcome outcome = run_squares(call, s);
  if (outcome == Outcome::kOther) outcome = run_few_dims(call, s);
  if (outcome == Outcome::kOther) outcome = run_wide(call, s);
  if (outcome == Outcome::kStarted) return;
  const int64_t* strides[kMost];
  for (int k = 0; k < call.operands(); ++k) strides[k] = s.strides[k];
  interpret(call, {s.n, s.dims, s.sizes, strides});
}

// How many elements come before the first at which all operands that are not
// `fixed` are aligned for packs of `width`: 0 for most calls; -1 if there is
// none.
int head_of(const PointwiseCall& call, uint64_t fixed, int width) {
  uint64_t all = 0;
  for (int i = 0; i < call.operands(); ++i) {
    if ((fixed >> i & 1) == 0) all |= reinterpret_cast<uint64_t>(call.data[i]);
  }
  if (SY_LIKELY(all % 16 == 0)) return 0;
  for (int head = 0; head < width; ++head) {
    bool aligned = true;
    for (int i = 0; i < call.operands() && aligned; ++i) {
      if ((fixed >> i & 1) != 0) continue;
      const uint64_t item = element_size(call.dtypes[i]);
      const uint64_t unit = std::min<uint64_t>(item * width, 16);
      const auto at = reinterpret_cast<uint64_t>(call.data[i]);
      aligned = (at + head * item) % unit == 0;
    }
    if (aligned) return head;
  }
  return -1;
}

}  // namespace

const PointwiseEntry* find_linear(const PointwiseCall& call,
                                  uint64_t single) noexcept {
  PointwiseKernel k = kernel_of(call, IndexClass::kLinear);
  k.single = single;
  return find_pointwise_entry(k, call.device);
}

void run_linear(const PointwiseEntry& kernel, PointwiseCall& call, int64_t n,
                uint64_t single) {
  const Function* const f = kernel.function();
  if (SY_UNLIKELY(f == nullptr)) return interpret_linear(call, n, single);
  const int width = kernel.tile().width, each = kernel.tile().each();
  LaunchShape shape = blocks_of(call.device, n, each);
  const int head = head_of(call, call.immediate | single, width);
  const int64_t tile = int64_t{each} * shape.block.x;
  // A block more takes the head; the others begin where packs do.
  const int64_t before = head > 0 ? tile - head : 0;
  const bool vectors = head >= 0 && head + tile <= n;
  PointwiseArgument a(call, n);
  a.add(vectors ? Runs{1, static_cast<int>(before)} : Runs());
  if (vectors && before != 0) {
    shape.grid.x = static_cast<unsigned>((n + before + tile - 1) / tile);
  }
  a.start(*f, shape);
}

void run_linear(PointwiseCall& call, int64_t n, uint64_t single) {
  PointwiseKernel k = kernel_of(call, IndexClass::kLinear);
  k.single = single;
  run_linear(pointwise_entry(k, call.device, call.name), call, n, single);
}

void run_strided(PointwiseCall& call, const Walker& walk) {
  if (walk.numel() == 0) return;
  const int inputs = call.program->n_inputs, results = call.program->n_results;
  const auto operand = [&](int k) {  // of the walk
    return k < inputs ? results + k : k - inputs;
  };
  Places s;
  s.dims = std::min(walk.ndim(), kWideDims);
  for (int d = 0; d < s.dims; ++d) {
    s.sizes[d] = walk.size(d);
    s.n *= s.sizes[d];
    for (int k = 0; k < inputs + results; ++k) {
      s.strides[k][d] = walk.stride(operand(k), d);
    }
  }
  // More dims than a kernel takes: a piece for each place in those.
  const int64_t pieces = walk.numel() / s.n;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    for (int k = 0; k < inputs + results; ++k) {
      call.data[k] = walk.data(operand(k));
    }
    int64_t rest = piece;
    for (int d = s.dims; d < walk.ndim(); ++d) {
      const int64_t at = rest % walk.size(d);
      rest /= walk.size(d);
      for (int k = 0; k < inputs + results; ++k) {
        call.data[k] += at * walk.stride(operand(k), d);
      }
    }
    run_piece(call, s);
  }
}

}  // namespace sy::cuda
