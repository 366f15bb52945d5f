#include <algorithm>
#include <bit>
#include <vector>

#include "aten/engine/geometry.h"
#include "aten/engine/guard.h"
#include "aten/engine/view.h"
#include "aten/result_type.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/device/shape.cuh"
#include "backends/cuda/support/walk.h"

namespace sy::cuda {

namespace {

// Keeps what is on one side of a diagonal of each matrix, the rest is 0.
void triangle(const Tensor& to, const Tensor& from, int64_t diagonal,
              bool upper) {
  if (to.numel() == 0) return;
  Walker iter(to.sizes());
  iter.add(to);
  iter.add(from);
  iter.finish(/*reorder=*/false);
  if (iter.ndim() > kWalkDims) {
    const Tensor row = copy_of(from);
    triangle(row, row, diagonal, upper);
    return copy_strided(to, row);
  }
  const int64_t rows = to.size(-2), columns = to.size(-1);
  const int device = to.device().index();
  TriangleParams p{{},
                   only_walk<2>(iter),
                   static_cast<char*>(to.raw_data()),
                   static_cast<const char*>(from.raw_data()),
                   rows,
                   columns,
                   std::clamp(diagonal, -rows, columns),
                   upper ? 1 : 0};
  launch(device,
         item_kernel(device, "shape.cu", "triangle",
                     static_cast<int64_t>(to.itemsize())),
         shape_for_items(device, to.numel()), p, {&to, &from});
}

Tensor fresh_triangle(const Tensor& self, int64_t diagonal, bool upper) {
  const Tensor out = empty_on(self.device(), self.sizes(), self.dtype());
  triangle(out, self, diagonal, upper);
  return out;
}

// A tensor that is copied in one piece a row of the result.
struct Piece {
  const Tensor* tensor;
  int64_t first, width;  // in bytes of a row
};

// Copies up to kCatTensors pieces in one launch.
void copy_pieces(const Tensor& out, int64_t rows, int64_t row_bytes,
                 const Piece* pieces, size_t n) {
  uint64_t all = reinterpret_cast<uintptr_t>(out.raw_data()) |
                 static_cast<uint64_t>(row_bytes);
  int64_t widest = 0;
  for (size_t i = 0; i < n; ++i) {
    const Piece& piece = pieces[i];
    all |= reinterpret_cast<uintptr_t>(piece.tensor->raw_data()) |
           static_cast<uint64_t>(piece.first) |
           static_cast<uint64_t>(piece.width);
    widest = std::max(widest, piece.width);
  }
  const int64_t item = int64_t{1} << std::countr_zero(all | uint64_t{16});
  CatParams p{};
  p.to = static_cast<char*>(out.raw_data());
  p.rows = rows;
  p.row = row_bytes / item;
  std::vector<const TensorBase*> tensors = {&out};
  for (size_t i = 0; i < n; ++i) {
    p.parts[i] = {static_cast<const char*>(pieces[i].tensor->raw_data()),
                  pieces[i].first / item, pieces[i].width / item};
    tensors.push_back(pieces[i].tensor);
  }
  const int device = out.device().index();
  LaunchShape shape = shape_for(rows * (widest / item), 256, 4, 1 << 20);
  shape.grid.y = static_cast<unsigned>(n);
  launch(device, item_kernel(device, "shape.cu", "cat_items", item), shape, &p,
         sizeof(p), tensors.data(), tensors.size());
}

// `out` has the sizes, and no memory of the tensors.
void write_cat(TensorList tensors, size_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  int64_t rows = 1, inner = static_cast<int64_t>(out.itemsize());
  for (size_t d = 0; d < out.sizes().size(); ++d) {
    (d < dim ? rows : inner) *= d == dim ? 1 : out.sizes()[d];
  }
  std::vector<Piece> pieces;
  int64_t before = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const int64_t width = t.sizes()[dim];
    if (t.dtype() == out.dtype() && t.is_contiguous() && out.is_contiguous()) {
      pieces.push_back({&t, before * inner, width * inner});
    } else {
      Dims sizes(out.sizes());
      sizes[static_cast<int64_t>(dim)] = width;
      copy_strided(alias_without_view(
                       out, sizes, out.strides(),
                       out.storage_offset() + before * out.strides()[dim]),
                   t);
    }
    before += width;
  }
  for (size_t i = 0; i < pieces.size(); i += kCatTensors) {
    copy_pieces(out, rows, out.sizes()[dim] * inner, pieces.data() + i,
                std::min<size_t>(kCatTensors, pieces.size() - i));
  }
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  const Dims sizes = geometry::cat_sizes("cat", tensors, dim);
  std::vector<const TensorBase*> list;
  for (const Tensor& t : tensors) list.push_back(&t);
  const Device device = check_same_device("cat", list.data(), list.size());
  const Tensor out = empty_on(device, sizes, result_type(tensors));
  write_cat(tensors, static_cast<size_t>(wrap_dim("cat", dim, sizes.size())),
            out);
  return out;
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  const Tensor out = empty_on(self.device(), self.sizes(), self.dtype());
  if (self.numel() == 0) return out;
  Dims strides(self.strides());
  auto* from = static_cast<char*>(self.raw_data());
  for (const int64_t d : geometry::wrap_dims("flip", dims, self.dim())) {
    if (self.dim() == 0) break;
    from +=
        (self.size(d) - 1) * strides[d] * static_cast<int64_t>(self.itemsize());
    strides[d] = -strides[d];
  }
  copy_part(self.sizes(), {&out, out.raw_data(), out.strides()},
            {&self, from, strides});
  return out;
}

Tensor tril(const Tensor& self, int64_t diagonal) {
  return fresh_triangle(self, diagonal, false);
}

Tensor triu(const Tensor& self, int64_t diagonal) {
  return fresh_triangle(self, diagonal, true);
}

Tensor& tril_(Tensor& self, int64_t diagonal) {
  triangle(self, self, diagonal, false);
  return self;
}

Tensor& triu_(Tensor& self, int64_t diagonal) {
  triangle(self, self, diagonal, true);
  return self;
}

}  // namespace sy::cuda
