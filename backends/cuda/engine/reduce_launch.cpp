#include "backends/cuda/engine/reduce_launch.h"

#include <algorithm>

#include "aten/engine/copy.h"
#include "backends/cuda/runtime/launch.h"
#include "c10/tensor/tensor_impl.h"

namespace sy::cuda {

namespace {

using print::ReduceShell;

// Enough blocks for any device.
constexpr int64_t kManyBlocks = 1024;
// Elements of a result for each thread, from which on a second pass pays.
constexpr int64_t kMuchWork = 32;
constexpr int kWarp = 32;

int power_of_two(int64_t at_least, int most) {
  int n = 1;
  while (n < at_least && n < most) n *= 2;
  return n;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool is_aligned(const Walk<1>& w, int from) {
  bool aligned = true;
  for (int d = from; d < w.dims; ++d) aligned &= w.strides[0][d] % 16 == 0;
  return aligned;
}

}  // namespace

ReduceCut::ReduceCut(bool inner, int64_t kept, int64_t reduced)
    : shell(inner ? ReduceShell::kRows : ReduceShell::kColumns),
      lanes(inner ? power_of_two(reduced, reduced > kReduceThreads * 4
                                              ? kReduceThreads
                                              : kWarp)
                  : power_of_two(kept, kWarp)) {
  split(kept, reduced, 1);
}

ReduceCut::ReduceCut(const ReduceLayout& layout, const void* data,
                     int64_t itemsize, int64_t kept, int64_t reduced)
    : ReduceCut(layout.inner(), kept, reduced) {
  const Walk<1>&keep = layout.keep, &reduce = layout.reduce;
  if (shell == ReduceShell::kRows) {
    wide = reduce.dims == 1 && reduce.strides[0][0] == itemsize;
    return;
  }
  const int64_t each = 16 / itemsize;
  wide = keep.strides[0][0] == itemsize && keep.sizes[0] % each == 0 &&
         kept >= lanes * each && is_aligned(keep, 1) && is_aligned(reduce, 0) &&
         reinterpret_cast<uintptr_t>(data) % 16 == 0;
  if (wide) split(kept, reduced, each);
}

void ReduceCut::split(int64_t kept, int64_t reduced, int64_t each) {
  const bool rows = shell == ReduceShell::kRows;
  const int64_t groups = rows ? ceil_div(kept, kReduceThreads / lanes)
                              : ceil_div(kept, lanes * each);
  // Pieces begin at whole vectors of all threads.
  const int64_t unit = (rows ? lanes : kReduceThreads / lanes) * kMuchWork;
  const bool splits = !rows || lanes == kReduceThreads;
  const int64_t most = splits ? reduced / (unit * 2) : 1;
  const int64_t wanted = std::min(ceil_div(kManyBlocks, groups), most);
  piece = reduced;
  pieces = 1;
  if (wanted > 1) {
    piece = ceil_div(ceil_div(reduced, wanted), unit) * unit;
    pieces = ceil_div(reduced, piece);
  }
  blocks = groups * pieces;
  piece_lanes = power_of_two(kept, kWarp);
}

ReduceLayout layout_of(Tensor* self, uint64_t reduced, bool keepdim) {
  ReduceLayout layout(*self, reduced, keepdim);
  if (layout.fits && is_element_aligned(*self)) return layout;
  const Tensor dense(make_tensor(self->sizes(), self->dtype(), self->device()));
  copy_tensor(dense, *self);
  *self = dense;
  const ReduceLayout again(*self, reduced, keepdim);
  SY_CHECK(again.fits, Value,
           "[cuda] self: expected at most {} groups of dims, got sizes {}",
           kWalkDims, self->sizes());
  return again;
}

OrderedResults::OrderedResults(const ReduceLayout& layout, Tensor* const* outs,
                               int n)
    : outs_(outs), n_(n) {
  for (int i = 0; i < n; ++i) {
    const Tensor& out = *outs[i];
    bool in_order = true;
    for (int d = 0; d < layout.result_strides.size(); ++d) {
      const auto at = static_cast<size_t>(d);
      in_order &=
          out.sizes()[at] == 1 || out.strides()[at] == layout.result_strides[d];
    }
    to_[i] = outs[i];
    if (in_order) continue;
    room_[i] = Tensor(make_tensor_strided(out.sizes(), layout.result_strides,
                                          out.dtype(), out.device()));
    to_[i] = &room_[i];
  }
}

void OrderedResults::store() const {
  for (int i = 0; i < n_; ++i) {
    if (room_[i].defined()) copy_tensor(*outs_[i], room_[i]);
  }
}

void launch_reduce(const ReduceRun& run, ReduceKernels& kernels, void* params,
                   size_t params_bytes) {
  const ReduceCut& cut = *run.cut;
  const int64_t kept = run.kept;
  auto& p = *static_cast<ReduceHead*>(params);
  p.kept = kept;
  p.reduced = run.reduced;
  p.piece = cut.piece;
  p.pieces = cut.pieces;
  p.lanes = cut.lanes;
  p.wide = cut.wide;
  p.finish = cut.pieces == 1;
  const TensorBase* used[26];
  size_t n = 0;
  if (run.layout != nullptr) {
    p.data = static_cast<const char*>(run.self->raw_data());
    p.keep = run.layout->keep;
    p.reduce = run.layout->reduce;
    used[n++] = run.self;
  }
  for (int i = 0; i < run.n_outs; ++i) used[n++] = run.outs[i];
  Tensor workspace;
  if (cut.pieces > 1) {
    int64_t bytes = 0;
    for (const int64_t size : run.accumulator_sizes) {
      bytes += ceil_div(size * kept * cut.pieces, 16) * 16;
    }
    workspace = Tensor(make_tensor(
        {bytes}, kByte, Device(kCUDA, static_cast<int8_t>(run.device))));
    auto* at = static_cast<char*>(workspace.raw_data());
    for (size_t i = 0; i < run.accumulator_sizes.size(); ++i) {
      p.planes[i] = at;
      at += ceil_div(run.accumulator_sizes[i] * kept * cut.pieces, 16) * 16;
    }
    used[n++] = &workspace;
  }
  constexpr int64_t kMostBlocks = int64_t{1} << 30;
  const auto start = [&](print::ReduceShell shell, int64_t blocks) {
    const LaunchShape shape = {
        {static_cast<unsigned>(std::min(blocks, kMostBlocks))},
        {kReduceThreads}};
    launch(run.device, kernels.of(shell), shape, params, params_bytes, used, n);
  };
  start(cut.shell, cut.blocks);
  if (cut.pieces == 1) return;
  p.finish = 1;
  p.lanes = cut.piece_lanes;
  start(print::ReduceShell::kPieces, cut.piece_blocks(kept));
}

}  // namespace sy::cuda
