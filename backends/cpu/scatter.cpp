#include <algorithm>
#include <limits>

#include "aten/engine/copy.h"
#include "aten/engine/iter.h"
#include "aten/scalar_tensor.h"
#include "backends/cpu/indexing.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/scatter_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"

namespace sy::cpu {

namespace {

Dims zeros(int64_t n) {
  Dims d;
  for (int64_t i = 0; i < n; ++i) d.push_back(0);
  return d;
}

// The route of elements: the walk over the source, and the indices along its
// dim.
struct Route {
  const char* op;
  Dims sizes;
  int64_t dim;
  Indices at;

  // `from` has strides of 0 for one value that goes everywhere.
  void run(const Tensor& out, const void* from, const Dims& from_strides,
           Join join, const Scalar& alpha = true) const {
    Dims to = strides_of(out);
    const int64_t step = to[dim] * static_cast<int64_t>(out.itemsize());
    to[dim] = 0;
    scatter(op, out.dtype(),
            {sizes, dim, at.data(), at.strides, step, from, from_strides,
             out.raw_data(), to},
            join, alpha);
  }
  void run(const Tensor& out, const Tensor& source, Join join,
           const Scalar& alpha = true) const {
    run(out, source.raw_data(), strides_of(source), join, alpha);
  }
  void run(const Tensor& out, const Scalar& value, Join join) const {
    const Tensor v = scalar_to_tensor(value, out.dtype());
    run(out, v.raw_data(), zeros(sizes.size()), join);
  }
};

// The route for a vector of indices: the source has a slice for each.
Route slices(const char* op, const Tensor& self, int64_t dim,
             const Tensor& index, bool wrap = false) {
  dim = wrap_dim(op, dim, self.dim());
  Route r{op, sizes_of(self), dim, {}};
  const int64_t size = r.sizes[dim];
  r.sizes[dim] = index.numel();
  r.at = checked_vector(op, index, dim, size, r.sizes.size(), wrap);
  return r;
}

Route slices(const char* op, const Tensor& self, int64_t dim,
             const Tensor& index, const Tensor& source) {
  dim = wrap_dim(op, dim, self.dim());
  Dims wanted = sizes_of(self);
  wanted[dim] = index.numel();
  SY_CHECK(IntArrayRef(sizes_of(source)) == IntArrayRef(wanted), Value,
           "[{}] source: expected sizes {}, those of self with one slice for "
           "each index, got {}",
           op, IntArrayRef(wanted), source.sizes());
  return slices(op, self, dim, index);
}

// The route for an index for every element.
Route elements(const char* op, const Tensor& self, int64_t dim,
               const Tensor& index) {
  check_covers(op, "self", self, index, dim);
  return {op, sizes_of(index), dim,
          checked_indices(op, index, dim, sizes_of(self)[dim])};
}

Route elements(const char* op, const Tensor& self, int64_t dim,
               const Tensor& index, const Tensor& src) {
  check_covers(op, "src", src, index, -1);
  return elements(op, self, dim, index);
}

// run(out), or of a copy in float32 where sums are made of half precision.
template <class F>
void run_wide(const Tensor& out, Join how, const F& run) {
  if (how == Join::Assign || !is_reduced_floating_type(out.dtype())) {
    return run(out);
  }
  const Tensor sum(make_tensor(out.sizes(), kFloat, Device(kCPU)));
  copy_cpu(sum, out);
  run(sum);
  copy_cpu(out, sum);
}

Tensor like_wide(const Tensor& source, const Tensor& to, const Tensor& out) {
  return to.is_same(out) ? source : contiguous_cpu(source, kFloat);
}

void join(const Route& r, const Tensor& out, const Tensor& source, Join how) {
  run_wide(out, how, [&](const Tensor& to) {
    r.run(to, like_wide(source, to, out), how);
  });
}

// The number that leaves a value as it is if it is joined to it.
Scalar identity(ScalarType dtype, Join how) {
  if (how == Join::Add || how == Join::Multiply) {
    return Scalar(how == Join::Multiply ? 1 : 0);
  }
  const bool max = how == Join::Max;
  return visit_all_dtypes("scatter_reduce", dtype, [&]<class T>() -> Scalar {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return Scalar(max ? Limits::lowest() : Limits::max());
    } else {
      constexpr double kInf = std::numeric_limits<double>::infinity();
      return Scalar(max ? -kInf : kInf);
    }
  });
}

// out /= counts, those of 0 as 1, rounded down if it is integral.
void divide(const char* op, const Tensor& out, const Tensor& counts) {
  Iter it(out.sizes());
  it.add(out);
  it.add(counts);
  it.finish();
  visit_all_dtypes(op, out.dtype(), [&]<class T>() {
    const auto quotient = [](T v, int64_t n) {
      if constexpr (std::is_integral_v<T>) {
        const auto x = static_cast<int64_t>(v);
        return static_cast<T>(x / n - (x % n < 0 ? 1 : 0));
      } else {
        using A = typename Accumulate<T>::type;
        return static_cast<T>(static_cast<A>(v) / static_cast<A>(n));
      }
    };
    it.for_each(kIndexGrain, [&](const Iter::Block& b) {
      const bool several = it.ndim() > 1;
      for (int64_t r = 0; r < b.rows; ++r) {
        char* y = b.data[0] + (several ? r * it.stride(0, 1) : 0);
        const char* n = b.data[1] + (several ? r * it.stride(1, 1) : 0);
        for (int64_t c = 0; c < b.columns; ++c) {
          T* to = reinterpret_cast<T*>(y + c * it.stride(0, 0));
          const auto count =
              *reinterpret_cast<const int64_t*>(n + c * it.stride(1, 0));
          *to = quotient(*to, std::max<int64_t>(1, count));
        }
      }
    });
  });
}

struct Reduction {
  Join join;
  bool mean;
};

Reduction parse_reduction(const char* op, std::string_view name, bool sum) {
  if (name == "sum" && sum) return {Join::Add, false};
  if (name == "mean") return {Join::Add, true};
  if (name == "prod") return {Join::Multiply, false};
  if (name == "amax") return {Join::Max, false};
  SY_CHECK(name == "amin", Value,
           "[{}] reduce: expected {}prod, mean, amax or amin, got '{}'", op,
           sum ? "sum, " : "", name);
  return {Join::Min, false};
}

// `out`, a sum, divided by the number of its terms.
void take_means(const Route& r, bool include_self, const Tensor& out) {
  SY_CHECK(out.dtype() != kBool, Type,
           "[{}] self: expected numbers for a mean, got {}", r.op,
           describe(out));
  const Tensor counts(make_tensor(out.sizes(), kLong, Device(kCPU)));
  auto* const n = static_cast<int64_t*>(counts.raw_data());
  std::fill(n, n + counts.numel(), include_self ? 1 : 0);
  r.run(counts, Scalar(1), Join::Add);
  divide(r.op, out, counts);
}

void reduce(const Route& r, const Reduction& how, const Tensor& source,
            bool include_self, const Tensor& out) {
  if (!include_self) {
    r.run(out, identity(out.dtype(), how.join), Join::Assign);
  }
  run_wide(out, how.join, [&](const Tensor& to) {
    r.run(to, like_wide(source, to, out), how.join);
    if (how.mean) take_means(r, include_self, to);
  });
}

Join parse_join(const char* op, std::string_view name) {
  if (name == "add") return Join::Add;
  SY_CHECK(name == "multiply", Value,
           "[{}] reduce: expected add or multiply, got '{}'", op, name);
  return Join::Multiply;
}

}  // namespace

void join_slices(const char* op, const Tensor& self, int64_t dim,
                 const Tensor& index, const Tensor& source, Join how,
                 const Scalar& alpha, const Tensor& out) {
  const Route r = slices(op, self, dim, index, source);
  start_result(out, self);
  r.run(out, source, how, alpha);
}

void join_elements(const char* op, const Tensor& self, int64_t dim,
                   const Tensor& index, const Tensor& src, Join how,
                   const Tensor& out) {
  dim = wrap_dim(op, dim, self.dim());
  if (index.numel() == 0) return start_result(out, self);
  const Route r = elements(op, self, dim, index, src);
  start_result(out, self);
  join(r, out, src, how);
}

namespace {

void scatter_join(const char* op, const Tensor& self, int64_t dim,
                  const Tensor& index, const Scalar& value, Join how,
                  const Tensor& out) {
  dim = wrap_dim(op, dim, self.dim());
  const Tensor v = scalar_to_tensor(value, self.dtype());
  if (index.numel() == 0) return start_result(out, self);
  const Route r = elements(op, self, dim, index);
  start_result(out, self);
  run_wide(out, how, [&](const Tensor& to) {
    const Tensor one = contiguous_cpu(v, to.dtype());
    r.run(to, one.raw_data(), zeros(r.sizes.size()), how);
  });
}

}  // namespace

void index_copy_out(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& source, const Tensor& out) {
  join_slices("index_copy", self, dim, index, source, Join::Assign, true, out);
}

void index_fill_out(const Tensor& self, int64_t dim, const Tensor& index,
                    const Scalar& value, const Tensor& out) {
  const Tensor v = scalar_to_tensor(value, self.dtype());
  const Route r = slices("index_fill", self, dim, index, /*wrap=*/true);
  start_result(out, self);
  r.run(out, v.raw_data(), zeros(r.sizes.size()), Join::Assign);
}

void index_fill_tensor_out(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& value, const Tensor& out) {
  index_fill_out(self, dim, index, read_scalar("index_fill", value), out);
}

void index_reduce_out(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& source, std::string_view how,
                      bool include_self, const Tensor& out) {
  const Reduction reduction = parse_reduction("index_reduce", how, false);
  const Route r = slices("index_reduce", self, dim, index, source);
  start_result(out, self);
  reduce(r, reduction, source, include_self, out);
}

void scatter_src_out(const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, const Tensor& out) {
  join_elements("scatter", self, dim, index, src, Join::Assign, out);
}

void scatter_value_out(const Tensor& self, int64_t dim, const Tensor& index,
                       const Scalar& value, const Tensor& out) {
  scatter_join("scatter", self, dim, index, value, Join::Assign, out);
}

void scatter_reduce_out(const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& src, std::string_view how,
                        const Tensor& out) {
  join_elements("scatter", self, dim, index, src, parse_join("scatter", how),
                out);
}

void scatter_value_reduce_out(const Tensor& self, int64_t dim,
                              const Tensor& index, const Scalar& value,
                              std::string_view how, const Tensor& out) {
  scatter_join("scatter", self, dim, index, value, parse_join("scatter", how),
               out);
}

void scatter_reduce_two_out(const Tensor& self, int64_t dim,
                            const Tensor& index, const Tensor& src,
                            std::string_view how, bool include_self,
                            const Tensor& out) {
  const Reduction reduction = parse_reduction("scatter_reduce", how, true);
  dim = wrap_dim("scatter_reduce", dim, self.dim());
  if (index.numel() == 0) return start_result(out, self);
  const Route r = elements("scatter_reduce", self, dim, index, src);
  start_result(out, self);
  reduce(r, reduction, src, include_self, out);
}

}  // namespace sy::cpu
