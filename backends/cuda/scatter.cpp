#include "backends/cuda/scatter.h"

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "aten/scalar_tensor.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"

namespace sy::cuda {

namespace {

// One value for everything.
Source value_of(const Scalar& value, const Tensor& out, int64_t dims) {
  const Tensor one = empty_on(out.device(), {}, out.dtype());
  fill(one, value);
  Dims strides;
  for (int64_t d = 0; d < dims; ++d) strides.push_back(0);
  return {one, strides};
}

struct Reduction {
  JoinWay way;
  bool mean;
};

Reduction parse_reduction(const char* op, std::string_view name, bool sum) {
  if (name == "sum" && sum) return {kJoinAdd, false};
  if (name == "mean") return {kJoinAdd, true};
  if (name == "prod") return {kJoinMultiply, false};
  if (name == "amax") return {kJoinMax, false};
  SY_CHECK(name == "amin", Value,
           "[{}] reduce: expected {}prod, mean, amax or amin, got '{}'", op,
           sum ? "sum, " : "", name);
  return {kJoinMin, false};
}

JoinWay parse_join(const char* op, std::string_view name) {
  if (name == "add") return kJoinAdd;
  SY_CHECK(name == "multiply", Value,
           "[{}] reduce: expected add or multiply, got '{}'", op, name);
  return kJoinMultiply;
}

// Sums and products of half precision are made in float32.
void join_all(const Route& r, const Tensor& out, const Source& source,
              JoinWay way) {
  join(r, out, source, way, {});
}

void reduce(const Route& r, const Reduction& reduction, const Tensor& out,
            const Source& source, bool include_self) {
  SY_CHECK(!reduction.mean || out.dtype() != kBool, Type,
           "[{}] self: expected numbers for a mean, got {}", r.op,
           describe(out));
  JoinHow how;
  how.fresh = include_self ? 0 : 1;
  how.mean = reduction.mean ? 1 : 0;
  join(r, out, source, reduction.way, how);
}

}  // namespace

Tensor& scatter__src(Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src) {
  const Route r = route_of_elements("scatter", self, dim, index, &src);
  if (index.numel() > 0) assign(r, self, source_of(src, self));
  return self;
}

Tensor& scatter__value(Tensor& self, int64_t dim, const Tensor& index,
                       const Scalar& value) {
  static_cast<void>(element_bits(value, self.dtype()));  // throws if too large
  const Route r = route_of_elements("scatter", self, dim, index, nullptr);
  if (index.numel() > 0) {
    assign(r, self, value_of(value, self, r.sizes.size()));
  }
  return self;
}

Tensor& scatter__reduce(Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& src, std::string_view reduce) {
  const JoinWay way = parse_join("scatter", reduce);
  const Route r = route_of_elements("scatter", self, dim, index, &src);
  if (index.numel() > 0) join_all(r, self, source_of(src, self), way);
  return self;
}

Tensor& scatter__value_reduce(Tensor& self, int64_t dim, const Tensor& index,
                              const Scalar& value, std::string_view reduce) {
  const JoinWay way = parse_join("scatter", reduce);
  static_cast<void>(element_bits(value, self.dtype()));
  const Route r = route_of_elements("scatter", self, dim, index, nullptr);
  if (index.numel() == 0) return self;
  join(r, self, value_of(value, self, r.sizes.size()), way, {});
  return self;
}

Tensor& scatter_reduce__two(Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& src, std::string_view how,
                            bool include_self) {
  const Reduction reduction = parse_reduction("scatter_reduce", how, true);
  const Route r = route_of_elements("scatter_reduce", self, dim, index, &src);
  if (index.numel() > 0) {
    reduce(r, reduction, self, source_of(src, self), include_self);
  }
  return self;
}

Tensor& index_copy_(Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& source) {
  check_slices("index_copy", self, dim, index, source);
  assign(route_of_slices("index_copy", self, dim, index, false), self,
         source_of(source, self));
  return self;
}

Tensor& index_fill__int_Scalar(Tensor& self, int64_t dim, const Tensor& index,
                               const Scalar& value) {
  static_cast<void>(element_bits(value, self.dtype()));
  const Route r =
      route_of_slices("index_fill", self, dim, index, /*wrap=*/true);
  assign(r, self, value_of(value, self, r.sizes.size()));
  return self;
}

// The value stays on the device.
Tensor& index_fill__int_Tensor(Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& value) {
  const Route r =
      route_of_slices("index_fill", self, dim, index, /*wrap=*/true);
  const Tensor one = empty_on(self.device(), {}, self.dtype());
  copy_tensor(one, value);
  Source everywhere{one, r.sizes};
  for (int64_t& s : everywhere.strides) s = 0;
  assign(r, self, everywhere);
  return self;
}

Tensor& index_reduce_(Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& source, std::string_view how,
                      bool include_self) {
  const Reduction reduction = parse_reduction("index_reduce", how, false);
  check_slices("index_reduce", self, dim, index, source);
  reduce(route_of_slices("index_reduce", self, dim, index, false), reduction,
         self, source_of(source, self), include_self);
  return self;
}

// The functional forms: a copy of self, changed.

Tensor scatter_src(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src) {
  Tensor out = copy_of(self);
  return scatter__src(out, dim, index, src);
}

Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index,
                     const Scalar& value) {
  Tensor out = copy_of(self);
  return scatter__value(out, dim, index, value);
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, std::string_view reduce) {
  Tensor out = copy_of(self);
  return scatter__reduce(out, dim, index, src, reduce);
}

Tensor scatter_value_reduce(const Tensor& self, int64_t dim,
                            const Tensor& index, const Scalar& value,
                            std::string_view reduce) {
  Tensor out = copy_of(self);
  return scatter__value_reduce(out, dim, index, value, reduce);
}

Tensor scatter_reduce_two(const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor& src, std::string_view reduce,
                          bool include_self) {
  Tensor out = copy_of(self);
  return scatter_reduce__two(out, dim, index, src, reduce, include_self);
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source) {
  Tensor out = copy_of(self);
  return index_copy_(out, dim, index, source);
}

Tensor index_fill_int_Scalar(const Tensor& self, int64_t dim,
                             const Tensor& index, const Scalar& value) {
  Tensor out = copy_of(self);
  return index_fill__int_Scalar(out, dim, index, value);
}

Tensor index_fill_int_Tensor(const Tensor& self, int64_t dim,
                             const Tensor& index, const Tensor& value) {
  Tensor out = copy_of(self);
  return index_fill__int_Tensor(out, dim, index, value);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& source, std::string_view reduce,
                    bool include_self) {
  Tensor out = copy_of(self);
  return index_reduce_(out, dim, index, source, reduce, include_self);
}

}  // namespace sy::cuda
