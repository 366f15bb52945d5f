#include "backends/cuda/engine/pointwise_call.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cuda/device/walk.cuh"
#include "backends/cuda/engine/interpret.h"
#include "backends/cuda/engine/pointwise_kernels.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/launch.h"

namespace sy::cuda {

using print::IndexClass;
using print::kPointwiseThreads;
using print::PointwiseKernel;

namespace {

constexpr int kMost = PointwiseCall::kMaxOperands;
constexpr int kWideDims = 16;  // device/pointwise.cuh
constexpr int kSquare = 32, kSquareRows = 8, kSquareDims = 5;
constexpr int64_t kMost32 = (int64_t{1} << 31) - 1;

// The argument of a kernel, as print/pointwise.h describes it.
class Arguments {
 public:
  Arguments(const PointwiseCall& call, int64_t n, int vectors, int dims) {
    end_ = sizeof(LaunchHead);
    put(n);
    put(static_cast<int32_t>(vectors));
    put(static_cast<int32_t>(dims));
    for (int k = 0; k < call.operands(); ++k) put(call.data[k]);
    const int numbers =
        call.program->n_uniforms + std::popcount(call.immediate);
    for (int i = 0; i < numbers; ++i) put(call.numbers[i].bits[0]);
  }
  template <class T>
  void put(const T& value) {
    std::memcpy(bytes_ + end_, &value, sizeof value);
    end_ += sizeof value;
  }
  void align() { end_ = (end_ + 7) / 8 * 8; }

  void start(const PointwiseCall& call, const Function& f,
             const LaunchShape& shape) {
    launch(call.device, f, shape, bytes_, end_, call.tensors,
           static_cast<size_t>(call.operands()));
  }

 private:
  // The room of kWide, which takes the most.
  static constexpr size_t kRoom = sizeof(LaunchHead) + 16 + 8 * kMost +
                                  8 * PointwiseCall::kMaxNumbers +
                                  8 * kWideDims * (kMost + 1);
  static_assert(kRoom <= 4096);
  alignas(16) char bytes_[kRoom];
  size_t end_;
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
  Arguments a(call, s.n, 0, 0);
  for (int d = 0; d < kSquareDims; ++d) {
    a.put(make_divisor(static_cast<uint32_t>(counts[d])));
  }
  a.align();
  a.put(s.sizes[0]);
  a.put(s.sizes[1]);
  for (int o = 0; o < call.operands(); ++o) {
    for (int d = 0; d < kSquareDims; ++d) {
      a.put(d < s.dims ? s.strides[o][d] : int64_t{0});
    }
  }
  a.start(call, *f, {{static_cast<unsigned>(blocks)}, {kSquare, kSquareRows}});
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
  Arguments a(call, places, 0, 0);
  for (int d = 0; d < k.rank; ++d) {
    const int64_t size = d < s.dims ? s.sizes[d] : 1;
    a.put(make_divisor(static_cast<uint32_t>(d == 0 ? size / width : size)));
  }
  a.align();
  for (int o = 0; o < call.operands(); ++o) {
    for (int d = 0; d < k.rank; ++d) {
      const int64_t stride = d < s.dims ? s.strides[o][d] : 0;
      a.put(d == 0 ? stride * width : stride);
    }
  }
  a.start(call, *f, blocks_of(call.device, places, entry.tile().unroll));
  return Outcome::kStarted;
}

Outcome run_wide(PointwiseCall& call, const Places& s) {
  const PointwiseEntry& entry = pointwise_entry(
      kernel_of(call, IndexClass::kWide), call.device, call.name);
  const Function* const f = entry.function();
  if (f == nullptr) return Outcome::kPending;
  Arguments a(call, s.n, 0, s.dims);
  for (int d = 0; d < kWideDims; ++d) {
    a.put(d < s.dims ? s.sizes[d] : int64_t{1});
  }
  for (int o = 0; o < call.operands(); ++o) {
    for (int d = 0; d < kWideDims; ++d) {
      a.put(d < s.dims ? s.strides[o][d] : int64_t{0});
    }
  }
  a.start(call, *f, shape_for(s.n, kPointwiseThreads, 4, int64_t{1} << 20));
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
  Arguments a(call, n, vectors ? 1 : 0, vectors ? static_cast<int>(before) : 0);
  if (vectors && before != 0) {
    shape.grid.x = static_cast<unsigned>((n + before + tile - 1) / tile);
  }
  a.start(call, *f, shape);
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
