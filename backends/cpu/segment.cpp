#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/geometry.h"
#include "aten/engine/structured.h"
#include "backends/cpu/segment_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

enum class Kind { kSum, kMean, kMax, kMin, kProd };

Kind kind_of(std::string_view name) {
  if (name == "sum") return Kind::kSum;
  if (name == "mean") return Kind::kMean;
  if (name == "prod") return Kind::kProd;
  return name == "max" || name == "amax" ? Kind::kMax : Kind::kMin;
}

// The segments of a dim: data as (outer, length, inner).
struct Segments {
  int64_t outer, length, inner;
  int64_t count;                  // of each outer index
  ScratchVector<int64_t> bounds;  // count + 1 for each

  // Throws unless the segments lie within the dim and, with `whole`, lengths
  // add up to it.
  Segments(const char* op, const Tensor& data,
           const std::optional<Tensor>& lengths,
           const std::optional<Tensor>& offsets, int64_t axis, bool whole) {
    const IntArrayRef sizes = data.sizes();
    const auto dim = static_cast<size_t>(axis < 0 ? axis + data.dim() : axis);
    outer = geometry::prod(sizes.slice(0, dim));
    length = sizes[dim];
    inner = geometry::prod(sizes.slice(dim + 1, sizes.size() - dim - 1));
    const bool by_length = lengths && lengths->defined();
    const Tensor given = contiguous_cpu(by_length ? *lengths : *offsets, kLong);
    const auto* at = static_cast<const int64_t*>(given.raw_data());
    count = given.sizes().back() - !by_length;
    for (int64_t o = 0; o < outer; ++o) {
      int64_t end = by_length ? 0 : at[0];
      check_end(op, by_length, end, 0, end);
      bounds.push_back(end);
      for (int64_t s = 0; s < count; ++s) {
        const int64_t begin = end;
        const int64_t n = by_length ? at[s] : at[s + 1];
        // Within the dim: sums of checked lengths do not overflow.
        SY_CHECK(!by_length || (n >= 0 && n <= length), Value,
                 "[{}] lengths: expected numbers in [0, {}], got {}", op,
                 length, n);
        end = by_length ? begin + n : n;
        check_end(op, by_length, end, begin, n);
        bounds.push_back(end);
      }
      SY_CHECK(
          !by_length || !whole || end == length, Value,
          "[{}] lengths: expected numbers that add up to {}, got a sum of {}",
          op, length, end);
      at += count + !by_length;
    }
  }

  void check_end(const char* op, bool by_length, int64_t end, int64_t begin,
                 int64_t got) const {
    SY_CHECK(end >= begin && end <= length, Value, "[{}] {}{}, got {}", op,
             by_length ? "lengths: expected numbers that add up to at most "
                       : "offsets: expected numbers that do not fall, up to ",
             length, got);
  }

  // f(segment, of its elements (begin, end) in units of inner) for all.
  template <class F>
  void visit(const F& f) const {
    const int64_t grain = std::max<int64_t>(
        1, 16384 * count / std::max<int64_t>(1, length * inner));
    parallel_for(0, outer * count, grain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t o = i / count;
        const int64_t* b = bounds.data() + i + o;
        f(i, o * length + b[0], o * length + b[1]);
      }
    });
  }
};

template <class A>
A start_of(Kind kind, const std::optional<Scalar>& initial) {
  if (initial) return static_cast<A>(initial->to_double());
  constexpr A kMost = std::numeric_limits<A>::infinity();
  if (kind == Kind::kMax) return -kMost;
  if (kind == Kind::kMin) return kMost;
  return kind == Kind::kProd ? A{1} : A{0};
}

template <class A>
A joined(Kind kind, A acc, A x) {
  switch (kind) {
    case Kind::kMax: return x != x || x > acc ? x : acc;
    case Kind::kMin: return x != x || x < acc ? x : acc;
    case Kind::kProd: return acc * x;
    default: return acc + x;
  }
}

template <class T>
void reduce(const Segments& segments, Kind kind, const Tensor& data,
            const std::optional<Scalar>& initial, T* to) {
  using A = typename Accumulate<T>::type;
  const Tensor dense = contiguous_cpu(data);
  const auto* from = static_cast<const T*>(dense.raw_data());
  const int64_t inner = segments.inner;
  segments.visit([&](int64_t segment, int64_t begin, int64_t end) {
    ScratchVector<A> acc(static_cast<size_t>(inner),
                         start_of<A>(kind, initial));
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t k = 0; k < inner; ++k) {
        A& a = acc[static_cast<size_t>(k)];
        a = joined(kind, a, static_cast<A>(from[i * inner + k]));
      }
    }
    // The mean of nothing is initial, and NaN without it.
    const auto n = static_cast<A>(end - begin);
    const bool divided = kind == Kind::kMean && (end > begin || !initial);
    for (int64_t k = 0; k < inner; ++k) {
      const A a = acc[static_cast<size_t>(k)];
      to[segment * inner + k] = static_cast<T>(divided ? a / n : a);
    }
  });
}

// One position of a segment: its elements lie `inner` apart.
template <class T>
struct Column {
  const T* from;
  T* to;
  int64_t begin, end, inner, k;

  using A = typename Accumulate<T>::type;
  A at(int64_t i) const { return static_cast<A>(from[i * inner + k]); }
  void set(int64_t i, A v) const { to[i * inner + k] = static_cast<T>(v); }

  void share(A grad, A result) const {
    const auto chosen = [&](A x) { return x != x || x == result; };
    int64_t n = 0;
    for (int64_t i = begin; i < end; ++i) n += chosen(at(i));
    for (int64_t i = begin; i < end; ++i) {
      set(i, chosen(at(i)) ? grad / static_cast<A>(n) : A{0});
    }
  }
  void product(A grad, A result, A start) const {
    for (int64_t i = begin; i < end; ++i) {
      const A x = at(i);
      A others = result / x;
      if (x == A{0} || x != x) {
        others = start;
        for (int64_t j = begin; j < end; ++j) others *= j == i ? A{1} : at(j);
      }
      set(i, grad * others);
    }
  }
};

template <class T>
void reduce_backward(const Segments& segments, Kind kind, const Tensor& grad,
                     const Tensor& output, const Tensor& data,
                     const std::optional<Scalar>& initial, T* to) {
  using A = typename Accumulate<T>::type;
  const Tensor dense = contiguous_cpu(data);
  const Tensor dense_grad = contiguous_cpu(grad);
  const Tensor dense_output = contiguous_cpu(output);
  const auto* grads = static_cast<const T*>(dense_grad.raw_data());
  const auto* results = static_cast<const T*>(dense_output.raw_data());
  const int64_t inner = segments.inner;
  std::fill_n(to, data.numel(), T(0.0f));
  segments.visit([&](int64_t segment, int64_t begin, int64_t end) {
    for (int64_t k = 0; k < inner; ++k) {
      const Column<T> column{
          static_cast<const T*>(dense.raw_data()), to, begin, end, inner, k};
      const A g = static_cast<A>(grads[segment * inner + k]);
      const A result = static_cast<A>(results[segment * inner + k]);
      if (kind == Kind::kMax || kind == Kind::kMin) {
        column.share(g, result);
      } else if (kind == Kind::kProd) {
        column.product(g, result, start_of<A>(kind, initial));
      } else {
        const A n = kind == Kind::kMean ? static_cast<A>(end - begin) : A{1};
        for (int64_t i = begin; i < end; ++i) column.set(i, g / n);
      }
    }
  });
}

// `out` itself if it is contiguous, or a tensor to be copied there.
Tensor room_for(const Tensor& out) {
  return out.is_contiguous() ? out
                             : new_result(out, out.sizes(), out.scalar_type());
}

}  // namespace

void segment_reduce_out(const Tensor& data, std::string_view reduce_name,
                        const std::optional<Tensor>& lengths,
                        const std::optional<Tensor>& /*indices*/,
                        const std::optional<Tensor>& offsets, int64_t axis,
                        bool unsafe, const std::optional<Scalar>& initial,
                        const Tensor& out) {
  const Segments segments("segment_reduce", data, lengths, offsets, axis,
                          !unsafe);
  const Tensor room = room_for(out);
  visit_floating_dtypes("segment_reduce", data.scalar_type(), [&]<class T>() {
    reduce(segments, kind_of(reduce_name), data, initial,
           static_cast<T*>(room.raw_data()));
  });
  if (!room.is_same(out)) copy_cpu(out, room);
}

void segment_reduce_backward_out(
    const Tensor& grad, const Tensor& output, const Tensor& data,
    std::string_view reduce_name, const std::optional<Tensor>& lengths,
    const std::optional<Tensor>& offsets, int64_t axis,
    const std::optional<Scalar>& initial, const Tensor& out) {
  const char* op = "_segment_reduce_backward";
  const Segments segments(op, data, lengths, offsets, axis, false);
  const Tensor room = room_for(out);
  visit_floating_dtypes(op, data.scalar_type(), [&]<class T>() {
    reduce_backward(segments, kind_of(reduce_name), grad, output, data, initial,
                    static_cast<T*>(room.raw_data()));
  });
  if (!room.is_same(out)) copy_cpu(out, room);
}

}  // namespace sy::cpu
