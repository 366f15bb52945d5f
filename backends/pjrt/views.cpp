#include "backends/pjrt/views.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

void check_dtype(const graph::Layout& of, const graph::Layout& part) {
  SY_CHECK(of.dtype == part.dtype, NotImplemented,
           "[pjrt] expected a view of the same dtype, got {} of {}", part.dtype,
           of.dtype);
}

// The part has the places start, start + step, ... along a dim of the value.
struct Range {
  int64_t start = 0, count = 1, step = 1;
  int dim = -1;  // of the part
};

// How a part is a slice of each dim of the value; nothing if it is none.
std::optional<std::vector<Range>> ranges_of(const graph::Layout& of,
                                            const graph::Layout& part) {
  std::vector<Range> ranges(of.sizes.size());
  int64_t rest = part.offset;
  for (const int64_t d : memory_order(of)) {
    const auto i = static_cast<size_t>(d);
    if (of.sizes[i] <= 1) continue;
    ranges[i].start = rest / of.strides[i];
    rest -= ranges[i].start * of.strides[i];
  }
  if (rest != 0) return std::nullopt;
  for (size_t p = 0; p < part.sizes.size(); ++p) {
    const int64_t n = part.sizes[p], stride = part.strides[p];
    if (n == 1 || stride == 0) continue;
    int found = -1;
    for (size_t d = 0; d < of.sizes.size(); ++d) {
      if (of.sizes[d] <= 1 || ranges[d].dim >= 0) continue;
      if (stride % of.strides[d] != 0) continue;
      const int64_t step = stride / of.strides[d];
      if (ranges[d].start + (n - 1) * step >= of.sizes[d]) continue;
      if (found < 0 || of.strides[d] > of.strides[size_t(found)]) {
        found = static_cast<int>(d);
      }
    }
    if (found < 0) return std::nullopt;
    Range& r = ranges[size_t(found)];
    r.count = n;
    r.step = stride / of.strides[size_t(found)];
    r.dim = static_cast<int>(p);
  }
  for (size_t d = 0; d < ranges.size(); ++d) {
    if (of.sizes[d] <= 1) ranges[d].count = of.sizes[d];
    if (ranges[d].start >= std::max<int64_t>(of.sizes[d], 1)) {
      return std::nullopt;
    }
  }
  return ranges;
}

Ssa sliced(Builder& b, const Ssa& value, const std::vector<Range>& ranges,
           const graph::Layout& part) {
  Sizes start, limit, step, kept;
  std::vector<int64_t> dims;
  for (const Range& r : ranges) {
    start.push_back(r.start);
    limit.push_back(r.count == 0 ? r.start
                                 : r.start + (r.count - 1) * r.step + 1);
    step.push_back(r.step);
    if (r.dim < 0) continue;
    kept.push_back(r.count);
    dims.push_back(r.dim);
  }
  const Ssa cut = b.reshape(b.slice(value, start, limit, step), kept);
  std::vector<int64_t> order(dims.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    return dims[size_t(x)] < dims[size_t(y)];
  });
  std::sort(dims.begin(), dims.end());
  return b.broadcast(b.transpose(cut, order), sizes_of(part), dims);
}

Ssa flat(Builder& b, const Ssa& value, const graph::Layout& of) {
  return b.reshape(to_memory(b, value, of), {numel_of(value.sizes)});
}

// The places of the part's elements in memory, a row of one number each.
Ssa places(Builder& b, const graph::Layout& part) {
  const Sizes sizes = sizes_of(part);
  Ssa sum = b.number(kLong, sizes, part.offset);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1 || part.strides[d] == 0) continue;
    const Ssa step = b.number(kLong, sizes, part.strides[d]);
    const Ssa along = b.iota(sizes, static_cast<int64_t>(d));
    sum = b.binary("stablehlo.add", sum,
                   b.binary("stablehlo.multiply", along, step));
  }
  return b.reshape(sum, {numel_of(sizes), 1});
}

Ssa gathered(Builder& b, const Ssa& value, const graph::Layout& of,
             const graph::Layout& part) {
  const Ssa from = flat(b, value, of), at = places(b, part);
  const int64_t n = at.sizes[0];
  const Ssa out{b.fresh(), value.dtype, {n}};
  b.line(str(
      "{} = \"stablehlo.gather\"({}, {}) {{dimension_numbers = "
      "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = "
      "[0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, "
      "indices_are_sorted = false}} : ({}, {}) -> {}",
      out.name, from.name, at.name, type_of(from), type_of(at), type_of(out)));
  return b.reshape(out, sizes_of(part));
}

Ssa updated(Builder& b, const Ssa& value, const Ssa& piece,
            const Sizes& start) {
  std::string names, types;
  for (const int64_t n : start) {
    const Ssa at = b.number(kLong, {}, n);
    names += ", " + at.name;
    types += ", " + type_of(at);
  }
  const Ssa out{b.fresh(), value.dtype, value.sizes};
  b.line(str("{} = stablehlo.dynamic_update_slice {}, {}{} : ({}, {}{}) -> {}",
             out.name, value.name, piece.name, names, type_of(value),
             type_of(piece), types, type_of(out)));
  return out;
}

// A slice without steps takes `source`, which has the part's sizes. Nothing if
// the part is none.
std::optional<Ssa> with_slice(Builder& b, const Ssa& value,
                              const graph::Layout& of,
                              const graph::Layout& part, const Ssa& source) {
  const auto ranges = ranges_of(of, part);
  if (!ranges) return std::nullopt;
  Sizes start, sizes;
  std::vector<int64_t> order, ones;
  for (const Range& r : *ranges) {
    if (r.step != 1) return std::nullopt;
    start.push_back(r.start);
    sizes.push_back(r.count);
    if (r.dim >= 0) order.push_back(r.dim);
  }
  for (size_t d = 0; d < part.sizes.size(); ++d) {
    if (part.sizes[d] == 1) ones.push_back(static_cast<int64_t>(d));
  }
  order.insert(order.end(), ones.begin(), ones.end());
  if (order.size() != part.sizes.size()) return std::nullopt;
  const Ssa piece = b.reshape(b.transpose(source, order), sizes);
  return updated(b, value, piece, start);
}

// Whether the elements lie in a row, in some order of the dims.
bool is_dense(const graph::Layout& l) {
  const std::vector<int64_t> order = memory_order(l);
  int64_t next = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    const auto i = static_cast<size_t>(*d);
    if (l.sizes[i] == 0) return true;
    if (l.sizes[i] == 1) continue;
    if (l.strides[i] != next) return false;
    next *= l.sizes[i];
  }
  return true;
}

// A part that is a piece of the memory in a row.
std::optional<Ssa> in_a_row(Builder& b, const Ssa& value,
                            const graph::Layout& of,
                            const graph::Layout& part) {
  if (!is_dense(part)) return std::nullopt;
  const Ssa row = flat(b, value, of);
  const int64_t n = numel_of(sizes_of(part));
  const Ssa piece = b.slice(row, {part.offset}, {part.offset + n}, Sizes{1});
  return from_memory(b, b.reshape(piece, memory_sizes(part)), part);
}

}  // namespace

std::vector<int64_t> memory_order(const graph::Layout& l) {
  std::vector<int64_t> order(l.sizes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const bool empty =
      std::find(l.sizes.begin(), l.sizes.end(), 0) != l.sizes.end();
  if (empty) return order;
  std::vector<int64_t> filled, ones;
  for (const int64_t d : order) {
    (l.sizes[size_t(d)] == 1 ? ones : filled).push_back(d);
  }
  const bool sorted =
      std::is_sorted(filled.begin(), filled.end(), [&](int64_t a, int64_t b) {
        return l.strides[size_t(a)] > l.strides[size_t(b)];
      });
  if (sorted) return order;
  std::stable_sort(filled.begin(), filled.end(), [&](int64_t a, int64_t b) {
    return l.strides[size_t(a)] > l.strides[size_t(b)];
  });
  ones.insert(ones.end(), filled.begin(), filled.end());
  return ones;
}

Sizes memory_sizes(const graph::Layout& l) {
  Sizes sizes;
  for (const int64_t d : memory_order(l)) {
    sizes.push_back(l.sizes[size_t(d)]);
  }
  return sizes;
}

Ssa from_memory(Builder& b, const Ssa& x, const graph::Layout& l) {
  const std::vector<int64_t> order = memory_order(l);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[size_t(order[i])] = static_cast<int64_t>(i);
  }
  return b.transpose(x, back);
}

Ssa to_memory(Builder& b, const Ssa& x, const graph::Layout& l) {
  return b.transpose(x, memory_order(l));
}

Ssa part_of(Builder& b, const Ssa& value, const graph::Layout& of,
            const graph::Layout& part) {
  check_dtype(of, part);
  if (numel_of(sizes_of(part)) == 0) {
    return b.number(part.dtype, sizes_of(part), int64_t{0});
  }
  if (const auto ranges = ranges_of(of, part)) {
    return sliced(b, value, *ranges, part);
  }
  if (const auto row = in_a_row(b, value, of, part)) return *row;
  return gathered(b, value, of, part);
}

Ssa with_part(Builder& b, const Ssa& value, const graph::Layout& of,
              const graph::Layout& part, const Ssa& source) {
  check_dtype(of, part);
  const Sizes sizes = sizes_of(part);
  const int64_t n = numel_of(sizes);
  if (n == 0) return value;
  // XLA for the CPU (PJRT 0.115) writes a part in place while it computes the
  // new elements, even if these are made of others that it writes too.
  const Ssa all = b.broadcast(b.barrier(b.convert(source, of.dtype)), sizes);
  if (const auto out = with_slice(b, value, of, part, all)) return *out;
  const Ssa row = flat(b, value, of);
  Ssa out;
  if (is_dense(part)) {
    out =
        updated(b, row, b.reshape(to_memory(b, all, part), {n}), {part.offset});
  } else {
    const Ssa at = places(b, part), elements = b.reshape(all, {n});
    const std::string one = type_name(value.dtype, {});
    out = {b.fresh(), value.dtype, row.sizes};
    b.line(
        str("{} = \"stablehlo.scatter\"({}, {}, {}) ({{ ^bb0(%a: {}, %b: {}): "
            "stablehlo.return %b : {} }}) {{scatter_dimension_numbers = "
            "#stablehlo.scatter<inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
            "indices_are_sorted = false, unique_indices = false}} : ({}, {}, "
            "{}) -> {}",
            out.name, row.name, at.name, elements.name, one, one, one,
            type_of(row), type_of(at), type_of(elements), type_of(out)));
  }
  return from_memory(b, b.reshape(out, memory_sizes(of)), of);
}

}  // namespace sy::pjrt
