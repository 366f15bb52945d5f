#include "backends/cuda/engine/scan_launch.h"

#include <algorithm>

#include "aten/engine/iter.h"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/runtime/launch.h"

namespace sy::cuda {

namespace {

using print::ScanShell;

// Rows up to this length take a warp, not a block.
constexpr int64_t kShort = 1024;
// Blocks of rows and threads of columns that any device has enough of, and more
// blocks than any has at once.
constexpr int64_t kManyBlocks = 512, kManyColumns = int64_t{1} << 16;
constexpr int64_t kMostTakers = 4096;
constexpr int64_t kMostColumnPieces = 256;
constexpr int64_t kShortPiece = 64;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

ScanLayout::ScanLayout(const TensorBase& self, const TensorBase& values,
                       const TensorBase& places, int64_t dim) {
  const TensorBase* const tensors[] = {&self, &values, &places};
  const int n = static_cast<int>(self.dim());
  const auto bytes = [&](int k, int d) -> int64_t {
    const TensorBase& t = *tensors[k];
    if (!t.defined()) return 0;
    return t.strides()[static_cast<size_t>(d)] *
           static_cast<int64_t>(t.itemsize());
  };
  const int64_t* const order_by[] = {self.strides().data()};
  uint8_t order[TensorImpl::kMaxDims];
  sort_dims(order_by, 1, self.sizes().data(), n, order);
  for (int i = 0; i < n; ++i) {
    const int d = order[i];
    const int64_t size = self.sizes()[static_cast<size_t>(d)];
    if (d == dim) {
      length = size;
      for (int k = 0; k < 3; ++k) step[k] = bytes(k, d);
      continue;
    }
    fits &= push_dim(&rows, size, {bytes(0, d), bytes(1, d), bytes(2, d)});
  }
  close_walk(&rows);
}

ScanCut::ScanCut(const ScanLayout& layout, int64_t itemsize)
    : shell(ScanShell::kColumns), piece(layout.length) {
  const int64_t rows = layout.rows.numel, length = layout.length;
  const bool along = rows == 1 || layout.step[0] == itemsize ||
                     layout.step[0] <= layout.rows.strides[0][0];
  if (along && length <= kShort) {
    shell = ScanShell::kShortRows;
    while (lanes < length && lanes < 32) lanes *= 2;
    return;
  }
  if (along) {
    shell = ScanShell::kRows;
    if (rows >= kManyBlocks || length <= kScanTile) return;
    piece = kScanTile;
  } else {
    const int64_t wanted =
        std::min(ceil_div(kManyColumns, rows), kMostColumnPieces);
    if (wanted == 1 || length < 2 * kShortPiece) return;
    piece = ceil_div(ceil_div(length, wanted), kShortPiece) * kShortPiece;
  }
  pieces = ceil_div(length, piece);
}

int64_t ScanCut::blocks(int64_t rows, int pass) const {
  switch (shell) {
    case ScanShell::kShortRows: return ceil_div(rows, kScanThreads / lanes);
    case ScanShell::kRows:
      return pieces == 1 ? rows : std::min(rows * pieces, kMostTakers);
    case ScanShell::kColumns:
      return ceil_div(rows, kScanThreads) * (pass == 2 ? 1 : pieces);
  }
  return 0;
}

int64_t ScanCut::room_bytes(int64_t rows, int64_t state) const {
  if (pieces == 1) return 0;
  if (shell == ScanShell::kColumns) return rows * pieces * state;
  const int64_t slots = pieces + 2 * ceil_div(pieces, kScanGroup);
  return kScanCounterBytes + rows * slots * ceil_div(state, 4) * 8;
}

void launch_scan(int device, const Function& f, const ScanCut& cut,
                 const ScanLayout& layout, int64_t state, void* params,
                 size_t params_bytes, const TensorBase* const* used, size_t n) {
  auto& p = *static_cast<ScanHead*>(params);
  p.rows = layout.rows.numel;
  p.length = layout.length;
  p.piece = cut.piece;
  p.pieces = cut.pieces;
  for (int k = 0; k < 3; ++k) p.step[k] = layout.step[k];
  p.lanes = cut.lanes;
  p.walk = layout.rows;
  Tensor room;
  const TensorBase* all[4] = {};
  std::copy(used, used + n, all);
  const bool tiles = cut.shell == ScanShell::kRows;
  if (const int64_t bytes = cut.room_bytes(p.rows, state); bytes > 0) {
    room = Tensor(make_tensor({bytes}, kByte, used[0]->device()));
    p.room = room.raw_data();
    all[n++] = &room;
    if (tiles) fill_bytes(room, p.room, 0, static_cast<size_t>(bytes));
  }
  constexpr int64_t kMostBlocks = int64_t{1} << 30;
  const bool once = tiles || cut.pieces == 1;
  const int first = once ? 0 : 1, last = once ? 0 : 3;
  for (int pass = first; pass <= last; ++pass) {
    p.pass = pass;
    const LaunchShape shape = {{static_cast<unsigned>(std::min(
                                   cut.blocks(p.rows, pass), kMostBlocks))},
                               {kScanThreads}};
    launch(device, f, shape, params, params_bytes, all, n);
  }
}

}  // namespace sy::cuda
