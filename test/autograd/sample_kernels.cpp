#include <cmath>

#include "aten/engine/view.h"
#include "c10/dispatch/thread_state.h"
#include "test/autograd/sample_ops.h"

namespace sy::sample {

namespace {

// Offset, in elements, of element i in row-major order.
int64_t place(const TensorBase& t, int64_t i) {
  if (t.is_contiguous()) return i;
  int64_t at = 0;
  for (auto d = static_cast<size_t>(t.dim()); d-- > 0;) {
    at += i % t.sizes()[d] * t.strides()[d];
    i /= t.sizes()[d];
  }
  return at;
}

// The element of `t`, broadcast to `sizes`, that stands at i.
int64_t source(const TensorBase& t, IntArrayRef sizes, int64_t i) {
  if (t.sizes() == sizes) return i;
  int64_t index = 0, step = 1;
  const auto lead = static_cast<int64_t>(sizes.size()) - t.dim();
  for (auto d = static_cast<int64_t>(sizes.size()); d-- > lead;) {
    const int64_t here = i % sizes[static_cast<size_t>(d)];
    const int64_t size = t.sizes()[static_cast<size_t>(d - lead)];
    if (size != 1) index += here * step;
    step *= size;
    i /= sizes[static_cast<size_t>(d)];
  }
  return index;
}

Tensor make(IntArrayRef sizes, ScalarType dtype) {
  return Tensor(make_tensor(sizes, dtype, Device(kCPU)));
}

template <class F>
void map(const Tensor& out, const Tensor& a, const Tensor& b, F f) {
  if (out.numel() == 1 && out.scalar_type() == kFloat &&
      a.scalar_type() == kFloat && b.scalar_type() == kFloat) {
    *static_cast<float*>(out.data_ptr()) =
        static_cast<float>(f(*static_cast<const float*>(a.data_ptr()),
                             *static_cast<const float*>(b.data_ptr())));
    return;
  }
  for (int64_t i = 0; i < out.numel(); ++i) {
    put(out, i,
        f(get(a, source(a, out.sizes(), i)),
          get(b, source(b, out.sizes(), i))));
  }
}

template <class F>
Tensor binary(const char* op, const Tensor& a, const Tensor& b, F f) {
  const ScalarType dtype =
      a.dim() == 0 && b.dim() != 0 ? b.scalar_type()
      : b.dim() == 0 && a.dim() != 0
          ? a.scalar_type()
          : promote_types(a.scalar_type(), b.scalar_type());
  Tensor r = a.sizes() == b.sizes()
                 ? make(a.sizes(), dtype)
                 : make(broadcast_sizes(op, a.sizes(), b.sizes()), dtype);
  map(r, a, b, f);
  return r;
}

template <class Entry>
void bump(const Tensor& t) {
  t.impl()->bump_version(&Entry::entry());
}

constexpr auto kTimes = [](double x, double y) { return x * y; };

Tensor mul_cpu(const Tensor& a, const Tensor& b) {
  return binary("mul", a, b, kTimes);
}
Tensor& mul_cpu_(Tensor& a, const Tensor& b) {
  bump<ops::mul__Tensor>(a);
  map(a, a, b, kTimes);
  return a;
}
Tensor& mul_cpu_out(const Tensor& a, const Tensor& b, Tensor& out) {
  bump<ops::mul_out>(out);
  map(out, a, b, kTimes);
  return out;
}
Tensor add_cpu(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const double k = alpha.to_double();
  return binary("add", a, b, [k](double x, double y) { return x + k * y; });
}
Tensor& add_cpu_(Tensor& a, const Tensor& b, const Scalar& alpha) {
  const double k = alpha.to_double();
  bump<ops::add__Tensor>(a);
  map(a, a, b, [k](double x, double y) { return x + k * y; });
  return a;
}
Tensor exp_cpu(const Tensor& a) {
  Tensor r = make(a.sizes(), a.scalar_type());
  map(r, a, a, [](double x, double) { return std::exp(x); });
  return r;
}
Tensor& exp_cpu_(Tensor& a) {
  bump<ops::exp_>(a);
  map(a, a, a, [](double x, double) { return std::exp(x); });
  return a;
}
Tensor round_cpu(const Tensor& a) {
  Tensor r = make(a.sizes(), a.scalar_type());
  map(r, a, a, [](double x, double) { return std::round(x); });
  return r;
}
Tensor scale_cpu(const Tensor& a, const std::optional<Tensor>& by) {
  return by ? mul_cpu(a, *by) : clone(a);
}
std::tuple<Tensor, Tensor> sincos_cpu(const Tensor& a) {
  Tensor s = make(a.sizes(), a.scalar_type());
  Tensor c = make(a.sizes(), a.scalar_type());
  map(s, a, a, [](double x, double) { return std::sin(x); });
  map(c, a, a, [](double x, double) { return std::cos(x); });
  return {s, c};
}

Tensor sum_cpu(const Tensor& a, OptionalIntArrayRef dims, bool keepdim,
               std::optional<ScalarType>) {
  uint64_t mask = ~uint64_t{0};
  if (dims && !dims->empty()) {
    mask = 0;
    for (const int64_t d : *dims) {
      mask |= uint64_t{1} << wrap_dim("sum", d, a.dim());
    }
  }
  std::vector<int64_t> kept(a.sizes().vec()), sizes;
  for (size_t d = 0; d < kept.size(); ++d) {
    const bool reduced = (mask >> d & 1) != 0;
    if (reduced) kept[d] = 1;
    if (!reduced || keepdim) sizes.push_back(kept[d]);
  }
  Tensor r = make(kept, a.scalar_type());
  for (int64_t i = 0; i < r.numel(); ++i) put(r, i, 0);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const int64_t to = source(r, a.sizes(), i);
    put(r, to, get(r, to) + get(a, i));
  }
  r.impl()->set_sizes_contiguous(sizes);
  return r;
}

Tensor cat_cpu(TensorList list, int64_t dim) {
  std::vector<int64_t> sizes(list[0].sizes().vec());
  const auto d = static_cast<size_t>(wrap_dim("cat", dim, list[0].dim()));
  for (size_t i = 1; i < list.size(); ++i) sizes[d] += list[i].sizes()[d];
  Tensor r = make(sizes, list[0].scalar_type());
  int64_t start = 0;
  for (const Tensor& t : list) {
    const Tensor part(r.impl()->alias(
        t.sizes(), r.strides(), r.storage_offset() + start * r.strides()[d]));
    for (int64_t i = 0; i < t.numel(); ++i) put(part, i, get(t, i));
    start += t.sizes()[d];
  }
  return r;
}

std::tuple<Tensor, Tensor> max_cpu(const Tensor& a, int64_t dim, bool keepdim) {
  const auto d = static_cast<size_t>(wrap_dim("max", dim, a.dim()));
  std::vector<int64_t> sizes(a.sizes().vec());
  sizes[d] = 1;
  Tensor value = make(sizes, a.scalar_type()), index = make(sizes, kLong);
  for (int64_t i = 0; i < value.numel(); ++i) put(value, i, -INFINITY);
  int64_t inner = 1;
  for (size_t k = d + 1; k < sizes.size(); ++k) inner *= sizes[k];
  for (int64_t i = 0; i < a.numel(); ++i) {
    const int64_t to = source(value, a.sizes(), i);
    if (get(a, i) <= get(value, to)) continue;
    put(value, to, get(a, i));
    put(index, to, static_cast<double>(i / inner % a.sizes()[d]));
  }
  if (!keepdim) {
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d));
    value.impl()->set_sizes_contiguous(sizes);
    index.impl()->set_sizes_contiguous(sizes);
  }
  return {value, index};
}

Tensor view_cpu(const Tensor& self, IntArrayRef size) {
  const Dims sizes = infer_size("view", size, self.numel());
  Dims strides;
  SY_CHECK(view_strides(self.sizes(), self.strides(), sizes, &strides), Value,
           "[view] size: no view of that size");
  return make_view(self, ops::view::entry(), sizes, strides,
                   self.storage_offset(), nullptr, 0);
}
Tensor as_strided_cpu(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                      std::optional<int64_t> offset) {
  return make_view(self, ops::as_strided::entry(), size, stride,
                   offset.value_or(self.storage_offset()), nullptr, 0);
}
Tensor expand_cpu(const Tensor& self, IntArrayRef size, bool) {
  Dims sizes, strides;
  expand_geometry("expand", self, size, &sizes, &strides);
  return make_view(self, ops::expand::entry(), sizes, strides,
                   self.storage_offset(), nullptr, 0);
}
Tensor slice_cpu(const Tensor& self, int64_t dim, std::optional<int64_t> start,
                 std::optional<int64_t> end, int64_t step) {
  const auto d = static_cast<size_t>(wrap_dim("slice", dim, self.dim()));
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t from = start.value_or(0), to = end.value_or(sizes[d]);
  sizes[d] = (to - from + step - 1) / step;
  strides[d] *= step;
  return make_view(self, ops::slice_Tensor::entry(), sizes, strides,
                   self.storage_offset() + from * self.strides()[d], nullptr,
                   0);
}
std::vector<Tensor> unbind_cpu(const Tensor& self, int64_t dim) {
  std::vector<Tensor> r;
  const auto d = static_cast<size_t>(wrap_dim("unbind", dim, self.dim()));
  std::vector<int64_t> sizes(self.sizes().vec()), strides(self.strides().vec());
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d));
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(d));
  for (int i = 0; i < self.sizes()[d]; ++i) {
    r.push_back(make_view_output(
        self, ops::unbind_int::entry(), i, sizes, strides,
        self.storage_offset() + i * self.strides()[d], nullptr, 0));
  }
  return r;
}
Tensor detach_cpu(const Tensor& self) {
  return alias_without_view(self, self.sizes(), self.strides(),
                            self.storage_offset());
}

Tensor clone_cpu(const Tensor& a, std::optional<MemoryFormat>) {
  Tensor r = make(a.sizes(), a.scalar_type());
  for (int64_t i = 0; i < a.numel(); ++i) put(r, i, get(a, i));
  return r;
}
Tensor& copy_cpu_(Tensor& self, const Tensor& src, bool) {
  bump<ops::copy_>(self);
  for (int64_t i = 0; i < self.numel(); ++i) {
    put(self, i, get(src, source(src, self.sizes(), i)));
  }
  return self;
}
Tensor& fill_cpu_(Tensor& self, const Scalar& value) {
  bump<ops::fill__Scalar>(self);
  for (int64_t i = 0; i < self.numel(); ++i) put(self, i, value.to_double());
  return self;
}
Tensor to_cpu(const Tensor& a, ScalarType dtype, bool, bool,
              std::optional<MemoryFormat>) {
  Tensor r = make(a.sizes(), dtype);
  for (int64_t i = 0; i < a.numel(); ++i) put(r, i, get(a, i));
  return r;
}
Tensor square_composite(const Tensor& a) { return mul(a, a); }

}  // namespace

double get(const TensorBase& t, int64_t i) {
  const int64_t at = place(t, i);
  const void* data = t.data_ptr();
  switch (t.scalar_type()) {
    case kFloat: return static_cast<const float*>(data)[at];
    case kDouble: return static_cast<const double*>(data)[at];
    case kLong:
      return static_cast<double>(static_cast<const int64_t*>(data)[at]);
    case kBool: return static_cast<const bool*>(data)[at] ? 1 : 0;
    default: fail(ErrorKind::Type, "[sample] unsupported {}", describe(t));
  }
}

void put(const TensorBase& t, int64_t i, double value) {
  const int64_t at = place(t, i);
  void* data = t.data_ptr();
  switch (t.scalar_type()) {
    case kFloat:
      static_cast<float*>(data)[at] = static_cast<float>(value);
      break;
    case kDouble: static_cast<double*>(data)[at] = value; break;
    case kLong:
      static_cast<int64_t*>(data)[at] = static_cast<int64_t>(value);
      break;
    case kBool: static_cast<bool*>(data)[at] = value != 0; break;
    default: fail(ErrorKind::Type, "[sample] unsupported {}", describe(t));
  }
}

std::vector<double> values(const TensorBase& t) {
  std::vector<double> r;
  for (int64_t i = 0; i < t.numel(); ++i) r.push_back(get(t, i));
  return r;
}

Tensor tensor(const std::vector<double>& values, IntArrayRef sizes,
              ScalarType dtype) {
  Tensor t = make(sizes, dtype);
  SY_INTERNAL_ASSERT(values.size() == static_cast<size_t>(t.numel()));
  for (int64_t i = 0; i < t.numel(); ++i) {
    put(t, i, values[static_cast<size_t>(i)]);
  }
  return t;
}

Tensor numbers(IntArrayRef sizes, bool requires_grad, ScalarType dtype) {
  static thread_local uint32_t seed = 7;
  Tensor t = make(sizes, dtype);
  for (int64_t i = 0; i < t.numel(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    put(t, i, static_cast<double>(seed >> 8) / (1 << 24) * 2 - 1);
  }
  if (requires_grad) t.requires_grad_();
  return t;
}

namespace {

SY_LIBRARY(sample, m) {
  m.def("mul.Tensor(Tensor self, Tensor other) -> Tensor");
  m.def("mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  m.def(
      "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
      "Tensor(a!)");
  m.def("exp(Tensor self) -> Tensor");
  m.def("exp_(Tensor(a!) self) -> Tensor(a!)");
  m.def(
      "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
  m.def("cat(Tensor[] tensors, int dim=0) -> Tensor");
  m.def(
      "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
      "Tensor indices)");
  m.def("sincos(Tensor self) -> (Tensor, Tensor)");
  m.def("scale(Tensor self, Tensor? by=None) -> Tensor");
  m.def("round(Tensor self) -> Tensor");
  m.def("view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
  m.def(
      "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
      "storage_offset=None) -> Tensor(a)");
  m.def(
      "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> "
      "Tensor(a)");
  m.def(
      "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? "
      "end=None, SymInt step=1) -> Tensor(a)");
  m.def("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]");
  m.def("detach(Tensor(a) self) -> Tensor(a)");
  m.def("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor");
  m.def(
      "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> "
      "Tensor(a!)");
  m.def("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)");
  m.def(
      "to.dtype(Tensor self, ScalarType dtype, bool non_blocking=False, bool "
      "copy=False, MemoryFormat? memory_format=None) -> Tensor");
  m.def("square(Tensor self) -> Tensor", SY_FN(square_composite));
}

SY_LIBRARY_IMPL(sample, CPU, m) {
  m.impl("mul.Tensor", SY_FN(mul_cpu));
  m.impl("mul_.Tensor", SY_FN(mul_cpu_));
  m.impl("mul.out", SY_FN(mul_cpu_out));
  m.impl("add.Tensor", SY_FN(add_cpu));
  m.impl("add_.Tensor", SY_FN(add_cpu_));
  m.impl("exp", SY_FN(exp_cpu));
  m.impl("exp_", SY_FN(exp_cpu_));
  m.impl("sum.dim_IntList", SY_FN(sum_cpu));
  m.impl("cat", SY_FN(cat_cpu));
  m.impl("max.dim", SY_FN(max_cpu));
  m.impl("sincos", SY_FN(sincos_cpu));
  m.impl("scale", SY_FN(scale_cpu));
  m.impl("round", SY_FN(round_cpu));
  m.impl("view", SY_FN(view_cpu));
  m.impl("as_strided", SY_FN(as_strided_cpu));
  m.impl("expand", SY_FN(expand_cpu));
  m.impl("slice.Tensor", SY_FN(slice_cpu));
  m.impl("unbind.int", SY_FN(unbind_cpu));
  m.impl("detach", SY_FN(detach_cpu));
  m.impl("clone", SY_FN(clone_cpu));
  m.impl("copy_", SY_FN(copy_cpu_));
  m.impl("fill_.Scalar", SY_FN(fill_cpu_));
  m.impl("to.dtype", SY_FN(to_cpu));
}

}  // namespace

}  // namespace sy::sample
