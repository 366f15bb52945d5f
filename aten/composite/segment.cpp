// Reductions over runs of elements, made of searchsorted and scatter_reduce:
// for backends that have no kernels of their own for them.

#include <limits>
#include <string_view>
#include <vector>

#include "aten/engine/view.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/scan.h"
#include "aten/ops/segment_kernels.h"
#include "aten/ops/shape.h"

namespace sy::composite {

namespace {

using Optional = std::optional<Tensor>;
using OptionalScalar = std::optional<Scalar>;

// The segments of a dim. Elements in none are in one more, the last.
struct Segments {
  int64_t dim, count;
  Tensor lengths;  // of each segment, to go with results
  Tensor of_each;  // the segment of each element of data

  Segments(const char* op, const Tensor& data, const Optional& given_lengths,
           const Optional& offsets, int64_t axis, bool whole)
      : dim(wrap_dim(op, axis, data.dim())) {
    const bool by_length = given_lengths && given_lengths->defined();
    const int64_t size = data.size(dim);
    Tensor begins, ends;
    if (by_length) {
      const Tensor n = given_lengths->to(kLong);
      check(op, "lengths: expected numbers from 0 up to ", size,
            sy::logical_or(n<0, n> size));
      ends = sy::cumsum(n, -1);
      begins = ends - n;
    } else {
      const Tensor at = offsets->to(kLong);
      begins = at.narrow(-1, 0, at.size(-1) - 1);
      ends = at.narrow(-1, 1, at.size(-1) - 1);
      check(op, "offsets: expected numbers that do not fall, up to ", size,
            sy::logical_or(at<0, at> size));
      check(op, "offsets: expected numbers that do not fall, up to ", size,
            ends < begins);
    }
    count = ends.size(-1);
    Tensor first = sy::zeros({1}, ends.options());
    Tensor total = first;
    if (count > 0) {
      first = begins.narrow(-1, 0, 1);
      total = ends.narrow(-1, count - 1, 1);
    }
    if (by_length) {
      check(op, "lengths: expected numbers that add up to ", size,
            whole ? total.ne(size) : total > size);
    }
    place(data, first, ends.contiguous());
    std::vector<int64_t> sizes = ends.sizes().vec();
    sizes.resize(static_cast<size_t>(data.dim()), 1);
    lengths = (ends - begins).reshape(sizes);
  }

  // One value for each segment, and for what is in none.
  Tensor filled(const Tensor& data, double value) const {
    Dims sizes(data.sizes());
    sizes[static_cast<int>(dim)] = count + 1;
    return sy::full(IntArrayRef(sizes), value, data.options());
  }
  Tensor results(const Tensor& t) const { return t.narrow(dim, 0, count); }
  // The value of each element's segment; 0 for elements in none.
  Tensor spread(const Tensor& t) const {
    Dims sizes(t.sizes());
    sizes[static_cast<int>(dim)] = 1;
    const Tensor none = sy::zeros(IntArrayRef(sizes), t.options());
    return sy::cat({results(t), none}, dim).gather(dim, of_each);
  }

 private:
  static void check(const char* op, const char* expected, int64_t size,
                    const Tensor& wrong) {
    SY_CHECK(!wrong.any().item<bool>(), Value, "[{}] {}{}", op, expected, size);
  }

  void place(const Tensor& data, const Tensor& first, const Tensor& ends) {
    std::vector<int64_t> sizes = ends.sizes().vec();
    sizes.back() = data.size(dim);
    const Tensor i =
        sy::arange(sizes.back(), ends.options()).expand(sizes).contiguous();
    const Tensor found = sy::searchsorted(ends, i, false, true);
    sizes.resize(static_cast<size_t>(data.dim()), 1);
    of_each = sy::where(i < first, Scalar(count), found)
                  .reshape(sizes)
                  .expand(data.sizes());
  }
};

std::string_view reduction_name(std::string_view reduce) {
  if (reduce == "max") return "amax";
  if (reduce == "min") return "amin";
  return reduce == "mean" ? "sum" : reduce;
}

double start_of(std::string_view name, const OptionalScalar& initial) {
  if (initial) return initial->to_double();
  const double most = std::numeric_limits<double>::infinity();
  if (name == "prod") return 1;
  return name == "amax" ? -most : name == "amin" ? most : 0;
}

// The gradient of a product is the product of the others.
Tensor product_of_others(const Segments& s, const Tensor& x, double start) {
  const Tensor zero = x.eq(0);
  const Tensor product = s.filled(x, start).scatter_reduce(
      s.dim, s.of_each, sy::where(zero, Scalar(1), x), "prod", true);
  const Tensor zeros =
      s.filled(x, 0).scatter_add(s.dim, s.of_each, zero.to(x.scalar_type()));
  const Tensor p = s.spread(product), z = s.spread(zeros);
  return sy::where(zero, sy::where(z.eq(1), p, Scalar(0)),
                   sy::where(z.eq(0), p / x, Scalar(0)));
}

}  // namespace

Tensor segment_reduce_by_scatter(const Tensor& data, std::string_view reduce,
                                 const Optional& lengths, const Optional&,
                                 const Optional& offsets, int64_t axis,
                                 bool unsafe, const OptionalScalar& initial) {
  const Segments s("segment_reduce", data, lengths, offsets, axis, !unsafe);
  const std::string_view name = reduction_name(reduce);
  const Tensor x = widened(data);
  Tensor out = s.results(s.filled(x, start_of(name, initial))
                             .scatter_reduce(s.dim, s.of_each, x, name, true));
  if (reduce == "mean") {
    // The mean of nothing is initial, and NaN without it.
    const Tensor mean = out / s.lengths;
    out = initial ? sy::where(s.lengths > 0, mean, out) : mean;
  }
  return out.to(data.scalar_type()).contiguous();
}

// Elements equal to a maximum or minimum share its gradient.
Tensor segment_reduce_backward_by_scatter(
    const Tensor& grad, const Tensor& output, const Tensor& data,
    std::string_view reduce, const Optional& lengths, const Optional& offsets,
    int64_t axis, const OptionalScalar& initial) {
  const Segments s("_segment_reduce_backward", data, lengths, offsets, axis,
                   false);
  const std::string_view name = reduction_name(reduce);
  const Tensor x = widened(data);
  Tensor g = widened(grad);
  if (reduce == "mean") g = g / s.lengths;
  Tensor out = s.spread(g);
  if (name == "prod") {
    out = out * product_of_others(s, x, start_of(name, initial));
  } else if (name != "sum") {
    const Tensor chosen =
        sy::logical_or(x.ne(x), x.eq(s.spread(widened(output))));
    const Tensor counts = s.filled(x, 0).scatter_add(
        s.dim, s.of_each, chosen.to(x.scalar_type()));
    out = sy::where(chosen, out / s.spread(counts), Scalar(0));
  }
  return sy::where(s.of_each.eq(s.count), Scalar(0), out)
      .to(data.scalar_type());
}

}  // namespace sy::composite
