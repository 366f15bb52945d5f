#include "places.cuh"
#include "shape.cuh"

SY_KERNEL(triangle, TriangleParams, 256) {
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[2];
    places(p.walk, i, at);
    int64_t row, column;
    if (p.walk.wide != 0) {
      column = i % p.columns;
      row = i / p.columns % p.rows;
    } else {
      const auto n = static_cast<unsigned>(i);
      column = n % static_cast<unsigned>(p.columns);
      row =
          n / static_cast<unsigned>(p.columns) % static_cast<unsigned>(p.rows);
    }
    const bool keeps =
        p.upper != 0 ? column - row >= p.diagonal : column - row <= p.diagonal;
    Item v = {};
    if (keeps) v = *reinterpret_cast<const Item*>(p.from + at[1]);
    *reinterpret_cast<Item*>(p.to + at[0]) = v;
  }
}

// blockIdx.y is the tensor.
SY_KERNEL(cat_items, CatParams, 256) {
  const CatPart& part = p.parts[blockIdx.y];
  const auto* const from = reinterpret_cast<const Item*>(part.data);
  auto* const to = reinterpret_cast<Item*>(p.to);
  const int64_t n = p.rows * part.width;
  const bool narrow = n < (int64_t{1} << 31);
  for (int64_t i = first_index(); i < n; i += index_stride()) {
    const int64_t r =
        narrow ? static_cast<unsigned>(i) / static_cast<unsigned>(part.width)
               : i / part.width;
    to[r * p.row + part.first + (i - r * part.width)] = from[i];
  }
}
