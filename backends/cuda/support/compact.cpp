#include "backends/cuda/support/compact.h"

#include <algorithm>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/cub/counts.h"
#include "backends/cuda/device/compact.cuh"
#include "backends/cuda/support/group.h"
#include "backends/cuda/support/walk.h"
#include "c10/device/backend.h"

namespace sy::cuda {

namespace {

// A tensor whose walk has few dims in row-major order: itself or a copy.
Tensor walkable(const Tensor& t) {
  Walker iter(t.sizes());
  iter.add(t);
  iter.finish(/*reorder=*/false);
  return iter.ndim() <= kWalkDims ? t : copy_of(t);
}

// The bits that tell a number from 0: not the sign of floats.
void true_bits(ScalarType dtype, unsigned long long* bits) {
  const size_t size = element_size(dtype);
  bits[0] = size >= 8 ? ~0ull : (1ull << (8 * size)) - 1;
  bits[1] = ~0ull;
  if (is_floating_type(dtype)) bits[0] &= ~(1ull << (8 * size - 1));
}

const unsigned long long* counts_of(const CountedMask& m) {
  return static_cast<const unsigned long long*>(m.before.raw_data());
}

LaunchShape shape_of(const CountedMask& m) {
  return {{static_cast<unsigned>(m.tiles)}, {kCompactThreads}};
}

void move_true(const char* kernel_name, const CountedMask& m,
               const Tensor& spread, const Tensor& row) {
  if (m.tiles == 0) return;
  const int device = spread.device().index();
  Walker iter(m.mask.sizes());
  iter.add(m.mask);
  iter.add(spread);
  iter.finish(/*reorder=*/false);
  CompactParams p{{},
                  only_walk<2>(iter),
                  static_cast<const char*>(m.mask.raw_data()),
                  static_cast<char*>(spread.raw_data()),
                  static_cast<char*>(row.raw_data()),
                  counts_of(m)};
  launch(device,
         item_kernel(device, "support/compact.cu", kernel_name,
                     static_cast<int64_t>(spread.itemsize())),
         shape_of(m), p, {&m.mask, &spread, &row, &m.before});
}

}  // namespace

CountedMask count_true(const Tensor& given) {
  CountedMask m;
  m.mask = walkable(given);
  const int64_t n = m.mask.numel();
  m.tiles = (n + kCompactTile - 1) / kCompactTile;
  m.before = empty_on(m.mask.device(), m.tiles + 1, kLong);
  const int device = m.mask.device().index();
  if (n > 0) {
    Walker iter(m.mask.sizes());
    iter.add(m.mask);
    iter.finish(/*reorder=*/false);
    CountTrueParams p{{},
                      only_walk<1>(iter),
                      static_cast<const char*>(m.mask.raw_data()),
                      {},
                      static_cast<unsigned long long*>(m.before.raw_data())};
    true_bits(m.mask.dtype(), p.bits);
    launch(device,
           item_kernel(device, "support/compact.cu", "count_true",
                       static_cast<int64_t>(m.mask.itemsize())),
           shape_of(m), p, {&m.mask, &m.before});
  }
  sum_before(m.before, m.tiles);
  return m;
}

int64_t number_true(const CountedMask& m) {
  int64_t n = 0;
  device_interface(kCUDA).copy_to_host(&n, counts_of(m) + m.tiles, sizeof(n),
                                       m.before.device().index());
  return n;
}

void write_places(const CountedMask& m, const Tensor& to, bool all) {
  if (to.numel() == 0 || m.tiles == 0) return;
  // CUB takes a contiguous vector of bools, whose places are numbers in a row,
  // if all of them are wanted.
  const bool is_row =
      m.mask.dim() == 1 && m.mask.is_contiguous() && m.mask.dtype() == kBool;
  if (is_row && all && cub::select_places(m.mask, to)) return;
  const int device = to.device().index();
  Walker iter(m.mask.sizes());
  iter.add(m.mask);
  iter.finish(/*reorder=*/false);
  WritePlacesParams p{};
  p.walk = only_walk<1>(iter);
  p.mask = static_cast<const char*>(m.mask.raw_data());
  true_bits(m.mask.dtype(), p.bits);
  p.before = counts_of(m);
  p.to = static_cast<long long*>(to.raw_data());
  p.limit = to.size(0);
  p.dims = static_cast<int>(m.mask.dim());
  std::copy(m.mask.sizes().begin(), m.mask.sizes().end(), p.sizes);
  launch(device,
         item_kernel(device, "support/compact.cu", "write_places",
                     static_cast<int64_t>(m.mask.itemsize())),
         shape_of(m), p, {&m.mask, &to, &m.before});
}

void select_true(const CountedMask& m, const Tensor& spread,
                 const Tensor& row) {
  move_true("select_true", m, walkable(spread), row);
}

void spread_true(const CountedMask& m, const Tensor& row,
                 const Tensor& spread) {
  const Tensor to = walkable(spread);
  move_true("spread_true", m, to, row);
  if (!to.is_same(spread)) copy_strided(spread, to);
}

}  // namespace sy::cuda
