#include <limits>
#include <string_view>

#include "elements.h"
#include "primitive.h"
#include "reference_kernels.h"

// Reductions over runs of elements along a dim: as long as lengths say, or from
// each of offsets to the next.

namespace reference {
namespace {

using OptionalTensor = std::optional<Tensor>;
using OptionalScalar = std::optional<sy::Scalar>;

struct Segments {
  const char* op;
  const Tensor& data;
  size_t dim;
  bool by_length;
  Tensor given;
  bool whole;  // lengths add up to the dim

  Segments(const char* name, const Tensor& x, const OptionalTensor& lengths,
           const OptionalTensor& offsets, int64_t axis, bool all)
      : op(name),
        data(x),
        dim(static_cast<size_t>(wrapped(axis, x.dim()))),
        by_length(lengths && lengths->defined()),
        given(by_length ? *lengths : *offsets),
        whole(all && by_length) {}

  int64_t count() const { return given.size(-1) - (by_length ? 0 : 1); }

  // f(segment, begin, end) for those at an index of the dims before.
  template <class F>
  void each(const Index& at, const F& f) const {
    Index from(at.begin(), at.begin() + static_cast<int64_t>(dim));
    from.push_back(0);
    const auto number = [&](int64_t i) {
      from.back() = i;
      return read<int64_t>(given, from);
    };
    const int64_t size = data.sizes()[dim];
    int64_t begin = by_length ? 0 : number(0);
    SY_CHECK(begin >= 0 && begin <= size, Value, "[", op,
             "] offsets: expected numbers up to ", size, ", got ", begin);
    for (int64_t s = 0; s < count(); ++s) {
      const int64_t n = number(by_length ? s : s + 1);
      SY_CHECK(!by_length || (n >= 0 && n <= size), Value, "[", op,
               "] lengths: expected numbers in [0, ", size, "], got ", n);
      const int64_t end = by_length ? begin + n : n;
      SY_CHECK(end >= begin && end <= size, Value, "[", op, "] ",
               by_length ? "lengths: expected numbers that add up to at most "
                         : "offsets: expected numbers that do not fall, up to ",
               size, ", got ", n);
      f(s, begin, end);
      begin = end;
    }
    SY_CHECK(!whole || begin == size, Value, "[", op,
             "] lengths: expected numbers that add up to ", size,
             ", got a sum of ", begin);
  }

  // f(place of the dims but `dim`) for all of them.
  template <class F>
  void columns(const F& f) const {
    Index sizes = data.sizes().vec();
    sizes[dim] = 1;
    for_each_place(sizes, f);
  }
};

double start_of(std::string_view reduce, const OptionalScalar& initial) {
  if (initial) return initial->to_double();
  if (reduce == "prod") return 1;
  const double most = std::numeric_limits<double>::infinity();
  if (reduce == "max" || reduce == "amax") return -most;
  return reduce == "min" || reduce == "amin" ? most : 0;
}

double joined(std::string_view reduce, double a, double x) {
  if (reduce == "prod") return a * x;
  if (reduce == "max" || reduce == "amax") return is_nan(x) || x > a ? x : a;
  if (reduce == "min" || reduce == "amin") return is_nan(x) || x < a ? x : a;
  return a + x;
}

Index with(Index at, size_t dim, int64_t i) {
  at[dim] = i;
  return at;
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                      const OptionalTensor& lengths, const OptionalTensor&,
                      const OptionalTensor& offsets, int64_t axis, bool unsafe,
                      const OptionalScalar& initial) {
  const Segments all("segment_reduce", data, lengths, offsets, axis, !unsafe);
  Index sizes = data.sizes().vec();
  sizes[all.dim] = all.count();
  const Tensor out = empty(sizes, data.scalar_type(), data.device());
  all.columns([&](const Index& at) {
    all.each(at, [&](int64_t s, int64_t begin, int64_t end) {
      double v = start_of(reduce, initial);
      for (int64_t i = begin; i < end; ++i) {
        v = joined(reduce, v, read<double>(data, with(at, all.dim, i)));
      }
      // The mean of nothing is initial, and NaN without it.
      if (reduce == "mean" && (end > begin || !initial)) {
        v /= static_cast<double>(end - begin);
      }
      write(out, with(at, all.dim, s), v);
    });
  });
  return out;
}

// Elements equal to a maximum or minimum share its gradient.
Tensor _segment_reduce_backward(const Tensor& grad, const Tensor& output,
                                const Tensor& data, std::string_view reduce,
                                const OptionalTensor& lengths,
                                const OptionalTensor& offsets, int64_t axis,
                                const OptionalScalar& initial) {
  const Segments all("_segment_reduce_backward", data, lengths, offsets, axis,
                     false);
  const Tensor out = empty(data.sizes(), data.scalar_type(), data.device());
  for_each_place(data.sizes(), [&](const Index& at) { write(out, at, 0.0); });
  all.columns([&](const Index& at) {
    const auto x = [&](int64_t i) {
      return read<double>(data, with(at, all.dim, i));
    };
    all.each(at, [&](int64_t s, int64_t begin, int64_t end) {
      const auto g = read<double>(grad, with(at, all.dim, s));
      const auto result = read<double>(output, with(at, all.dim, s));
      const auto chosen = [&](int64_t i) {
        return is_nan(x(i)) || x(i) == result;
      };
      int64_t equal = 0;
      for (int64_t i = begin; i < end; ++i) equal += chosen(i);
      for (int64_t i = begin; i < end; ++i) {
        double by = g;
        if (reduce == "mean") {
          by = g / static_cast<double>(end - begin);
        } else if (reduce == "prod") {
          double others = start_of(reduce, initial);
          for (int64_t j = begin; j < end; ++j) others *= j == i ? 1 : x(j);
          by = g * others;
        } else if (reduce != "sum") {
          by = chosen(i) ? g / static_cast<double>(equal) : 0;
        }
        write(out, with(at, all.dim, i), by);
      }
    });
  });
  return out;
}

}  // namespace reference
