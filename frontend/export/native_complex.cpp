#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/fourier.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/norm.h"
#include "aten/ops/padding.h"
#include "aten/ops/shape.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "frontend/export/native_function.h"

// Complex numbers of graphs. There is no complex dtype here: a tensor of
// complex numbers has one more dim, the last, of real and imaginary parts. The
// dims that a graph names are those without it.

namespace sy::exporting {

namespace {

// The arguments of a call, in the schema's order. The last Value says which are
// of complex numbers.
class Call {
 public:
  Call(const Value* args, size_t n)
      : args_(args), mask_(args[n - 1].to_int()) {}

  const Value& operator[](size_t i) const { return args_[i]; }
  bool is_pair(size_t i) const { return (mask_ >> i & 1) != 0; }
  const Tensor& tensor(size_t i) const {
    return static_cast<const Tensor&>(args_[i].to_tensor());
  }
  // The dims that the graph sees.
  int64_t rank(size_t i = 0) const { return tensor(i).dim() - is_pair(i); }
  int64_t dim(const Value& v, size_t of = 0) const {
    return wrapped(v.to_int(), of);
  }
  int64_t wrapped(int64_t d, size_t of = 0) const {
    SY_CHECK(d >= -rank(of) && d < std::max<int64_t>(rank(of), 1), Index,
             "dim: expected one of {} dims, got {}", rank(of), d);
    return d < 0 ? d + rank(of) : d;
  }
  std::vector<int64_t> dims(const Value& v) const {
    std::vector<int64_t> out = v.to_int_list().vec();
    for (int64_t& d : out) d = wrapped(d);
    return out;
  }
  Tensor real(size_t i) const {
    return is_pair(i) ? tensor(i).select(-1, 0) : tensor(i);
  }
  Tensor imaginary(size_t i) const {
    return is_pair(i) ? tensor(i).select(-1, 1) : zeros_like(tensor(i));
  }
  Tensor pair(size_t i) const;

 private:
  const Value* args_;
  int64_t mask_;
};

Tensor pair_of(const Tensor& real, const Tensor& imaginary) {
  return sy::stack({real, imaginary}, -1);
}

Tensor Call::pair(size_t i) const {
  return is_pair(i) ? tensor(i) : pair_of(real(i), imaginary(i));
}

// Both arguments as pairs. A number changes neither dtype nor device of the
// other.
std::pair<Tensor, Tensor> pairs(const Call& c) {
  Tensor a = c.pair(0), b = c.pair(1);
  if (c.rank(0) == 0 && c.rank(1) > 0) a = a.to(b.options());
  if (c.rank(1) == 0 && c.rank(0) > 0) b = b.to(a.options());
  return {a, b};
}

// A real factor of pairs.
Tensor factor_of_pairs(const Tensor& t) {
  return t.dim() == 0 ? t : t.unsqueeze(-1);
}

Value out(const Tensor& t) { return Value(TensorBase(t)); }

// ---- parts, arithmetic

Value same(const Call& c) { return c[0]; }
Value nothing(const Call&) { return {}; }
Value joined(const Call& c) { return out(pair_of(c.real(0), c.real(1))); }
Value polar(const Call& c) {
  return out(pair_of(c.real(0) * c.real(1).cos(), c.real(0) * c.real(1).sin()));
}
Value real(const Call& c) { return out(c.real(0)); }
Value imaginary(const Call& c) { return out(c.imaginary(0)); }
Value absolute(const Call& c) {
  return out(sy::linalg_vector_norm(c.pair(0), 2, {-1}));
}
Value angle(const Call& c) { return out(sy::atan2(c.imaginary(0), c.real(0))); }
Tensor conjugate(const Tensor& pair) {
  return pair_of(pair.select(-1, 0), -pair.select(-1, 1));
}
Value conj(const Call& c) {
  return c.is_pair(0) ? out(conjugate(c.tensor(0))) : c[0];
}
Value negative(const Call& c) { return out(-c.tensor(0)); }
Value copy(const Call& c) { return out(c.tensor(0).clone()); }
// Arguments `dtype` and `device` of the schema; a negative one is not there.
template <int dtype, int device>
Value convert(const Call& c) {
  Tensor t = c.pair(0);
  if (dtype >= 0 && !c[size_t(dtype)].is_none()) {
    t = t.to(c[size_t(dtype)].to_scalar_type());
  }
  if (device >= 0 && !c[size_t(device)].is_none()) {
    t = t.to(c[size_t(device)].to_device());
  }
  return out(t);
}
Value convert_as(const Call& c) {
  return out(c.pair(0).to(c.tensor(1).options()));
}
Value exponential(const Call& c) {
  const Tensor size = c.real(0).exp();
  return out(pair_of(size * c.imaginary(0).cos(), size * c.imaginary(0).sin()));
}

Tensor scaled(const Tensor& t, const Value& alpha) {
  const Scalar& s = alpha.to_scalar();
  return s.is_integral(true) && s.to_long() == 1 ? t : t * s;
}
Value add(const Call& c) {
  const auto [a, b] = pairs(c);
  return out(a + scaled(b, c[2]));
}
Value subtract(const Call& c) {
  const auto [a, b] = pairs(c);
  return out(a - scaled(b, c[2]));
}

// f is linear in each of two.
template <class F>
Tensor product(const Call& c, const F& f) {
  const Tensor a = c.real(0), b = c.imaginary(0);
  const Tensor x = c.real(1), y = c.imaginary(1);
  return pair_of(f(a, x) - f(b, y), f(a, y) + f(b, x));
}
Value multiply(const Call& c) {
  if (!c.is_pair(1)) return out(c.tensor(0) * factor_of_pairs(c.tensor(1)));
  if (!c.is_pair(0)) return out(factor_of_pairs(c.tensor(0)) * c.tensor(1));
  return out(
      product(c, [](const Tensor& a, const Tensor& b) { return a * b; }));
}
Value divide(const Call& c) {
  if (!c.is_pair(1)) return out(c.tensor(0) / factor_of_pairs(c.tensor(1)));
  const Tensor a = c.real(0), b = c.imaginary(0);
  const Tensor x = c.real(1), y = c.imaginary(1);
  const Tensor size = x * x + y * y;
  return out(pair_of((a * x + b * y) / size, (b * x - a * y) / size));
}
Value matrix_product(const Call& c) {
  return out(product(
      c, [](const Tensor& a, const Tensor& b) { return sy::matmul(a, b); }));
}
Value sum(const Call& c) {
  std::vector<int64_t> dims =
      c[1].is_none() ? std::vector<int64_t>() : c.dims(c[1]);
  for (int64_t d = 0; dims.empty() && d < c.rank(); ++d) dims.push_back(d);
  return out(dims.empty() ? c.tensor(0)
                          : c.tensor(0).sum(dims, c[2].to_bool()));
}

// ---- shapes

std::vector<int64_t> with_parts(const Value& sizes, int64_t last) {
  std::vector<int64_t> list = sizes.to_int_list().vec();
  list.push_back(last);
  return list;
}
Value reshape(const Call& c) {
  return out(c.tensor(0).reshape(with_parts(c[1], 2)));
}
Value expand(const Call& c) {
  return out(c.tensor(0).expand(with_parts(c[1], 2)));
}
Value unsqueeze(const Call& c) {
  const int64_t d = c[1].to_int();
  return out(c.tensor(0).unsqueeze(d < 0 ? d + c.rank() + 1 : d));
}
Value squeeze(const Call& c) { return out(c.tensor(0).squeeze(c.dim(c[1]))); }
Value transpose(const Call& c) {
  return out(c.tensor(0).transpose(c.dim(c[1]), c.dim(c[2])));
}
Value matrix_transpose(const Call& c) {
  return out(c.tensor(0).transpose(c.wrapped(-2), c.wrapped(-1)));
}
Value padded(const Call& c) {
  std::vector<int64_t> pad = c[1].to_int_list().vec();
  pad.insert(pad.begin(), 2, 0);
  SY_CHECK(c[2].to_scalar().to_double() == 0, NotImplemented,
           "value: expected 0 beside complex numbers, got {}",
           c[2].to_scalar());
  return out(sy::constant_pad_nd(c.tensor(0), pad));
}
Value permute(const Call& c) {
  std::vector<int64_t> dims = c.dims(c[1]);
  dims.push_back(c.rank());
  return out(c.tensor(0).permute(dims));
}
Value flatten(const Call& c) {
  return out(c.tensor(0).flatten(c.dim(c[1]), c.dim(c[2])));
}
Value select(const Call& c) {
  return out(c.tensor(0).select(c.dim(c[1]), c[2].to_int()));
}
std::optional<int64_t> number(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.to_int());
}
Value slice(const Call& c) {
  return out(c.tensor(0).slice(c.dim(c[1]), number(c[2]), number(c[3]),
                               c[4].to_int()));
}
Value index_select(const Call& c) {
  return out(c.tensor(0).index_select(c.dim(c[1]), c.tensor(2)));
}

// ---- Fourier transforms

// The matrix of angles 2 pi i k / n, of n rows and columns, or of p and q of
// them where n = p q.
std::pair<Tensor, Tensor> turns(int64_t n, int64_t rows, int64_t columns,
                                const Tensor& like) {
  Tensor angles = sy::empty({rows, columns}, TensorOptions(kDouble));
  auto* p = static_cast<double*>(angles.raw_data());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) {
      *p++ = static_cast<double>(i * k % n) / static_cast<double>(n) * 2 *
             std::numbers::pi;
    }
  }
  return {angles.cos().to(like.options()), angles.sin().to(like.options())};
}

struct Parts {
  Tensor real, imaginary;  // undefined: the imaginary part is 0
};

template <class F>
Parts each(const Parts& x, const F& f) {
  return {f(x.real), x.imaginary.defined() ? f(x.imaginary) : Tensor()};
}

// (real + i imaginary) (cosine + i sign sine), by f.
template <class F>
Parts turned(const Parts& x, const Tensor& cosine, const Tensor& sine, int sign,
             const F& f) {
  const Tensor s = sign < 0 ? -sine : sine;
  if (!x.imaginary.defined()) return {f(x.real, cosine), f(x.real, s)};
  return {f(x.real, cosine) - f(x.imaginary, s),
          f(x.real, s) + f(x.imaginary, cosine)};
}

// The transform along the last dim, with exp(sign 2 pi i k j / n). n = p q: q
// transforms of p elements, each turned, then p of q (Cooley, Tukey 1965).
Parts transform(const Parts& x, int sign) {
  constexpr int64_t kDense = 64;
  const int64_t n = x.real.size(-1);
  int64_t p = 1;
  for (int64_t d = 2; n > kDense && d * d <= n; ++d) {
    if (n % d == 0) p = d;
  }
  if (p == 1) {
    const auto [cosine, sine] = turns(n, n, n, x.real);
    return turned(x, cosine, sine, sign, [](const Tensor& a, const Tensor& b) {
      return sy::matmul(a, b);
    });
  }
  const int64_t q = n / p;
  // [..., p, q] to [..., q, p]
  Parts y = each(x, [&](const Tensor& t) {
    return t.unflatten(-1, {p, q}).transpose(-1, -2);
  });
  y = transform(y, sign);
  const auto [cosine, sine] = turns(n, q, p, x.real);
  y = turned(y, cosine, sine, sign,
             [](const Tensor& a, const Tensor& b) { return a * b; });
  y = transform(each(y, [](const Tensor& t) { return t.transpose(-1, -2); }),
                sign);
  // [..., k1, k2] is the frequency k1 + p k2.
  return each(
      y, [](const Tensor& t) { return t.transpose(-1, -2).flatten(-2, -1); });
}

// n elements of the dim; behind those that there are, zeros.
Tensor resized(const Tensor& t, int64_t dim, int64_t n) {
  SY_CHECK(n > 0, Value, "n: expected at least 1 element, got {}", n);
  const int64_t has = t.size(dim);
  if (n <= has) return n == has ? t : t.narrow(dim, 0, n);
  std::vector<int64_t> pad(static_cast<size_t>(2 * (t.dim() - dim)));
  pad.back() = n - has;
  return sy::constant_pad_nd(t, pad);
}

struct Axis {
  int64_t dim;
  std::optional<int64_t> size;
};

std::vector<Axis> axes_of(const Call& c) {
  std::vector<Axis> axes;
  const IntArrayRef sizes = c[1].is_none() ? IntArrayRef() : c[1].to_int_list();
  if (!c[2].is_none()) {
    for (const int64_t d : c.dims(c[2])) axes.push_back({d, {}});
  } else {
    const auto n =
        c[1].is_none() ? c.rank() : static_cast<int64_t>(sizes.size());
    for (int64_t d = c.rank() - n; d < c.rank(); ++d) {
      axes.push_back({c.wrapped(d), {}});
    }
  }
  SY_CHECK(c[1].is_none() || sizes.size() == axes.size(), Value,
           "s: expected a size for each of {} dims, got {}", axes.size(),
           sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != -1) axes[i].size = sizes[i];
  }
  return axes;
}

std::vector<Axis> axis_of(const Call& c) {
  return {{c.dim(c[2]), number(c[1])}};
}

// What PyTorch's names of norms multiply a transform of n elements by.
double factor(const Value& norm, int sign, int64_t n) {
  const std::string name(norm.is_none() ? "backward" : norm.to_string_view());
  const auto size = static_cast<double>(n);
  if (name == "ortho") return 1 / std::sqrt(size);
  const bool known = name == "backward" || name == "forward";
  SY_CHECK(known, Value,
           "norm: expected 'forward', 'backward' or 'ortho', got '{}'", name);
  return (name == "forward") == (sign < 0) ? 1 / size : 1.0;
}
// The same of the numbers of _fft_c2c and its kin.
double factor(int64_t mode, int64_t n) {
  const auto size = static_cast<double>(n);
  return mode == 0 ? 1.0 : mode == 1 ? 1 / std::sqrt(size) : 1 / size;
}

Parts along(const Parts& x, int64_t dim, int sign) {
  const Parts y = transform(
      each(x, [&](const Tensor& t) { return t.movedim(dim, -1); }), sign);
  return each(y, [&](const Tensor& t) { return t.movedim(-1, dim); });
}

enum class Form { Whole, Half, Real };  // of the result: c2c, r2c, c2r

// The negative frequencies of what has the others, n in all.
Parts mirrored(const Parts& x, int64_t dim, int64_t n) {
  const int64_t has = n / 2 + 1;
  const auto whole = [&](const Tensor& t, bool negated) {
    const Tensor first = resized(t, dim, has);
    const Tensor tail = first.slice(dim, 1, n - has + 1).flip({dim});
    return sy::cat({first, negated ? -tail : tail}, dim);
  };
  return {whole(x.real, false),
          x.imaginary.defined() ? whole(x.imaginary, true) : Tensor()};
}

// The last axis is the one that is halved, or has been. `total`: the elements
// of a transform.
Value transformed(const Call& c, std::vector<Axis> axes, Form form, int sign,
                  int64_t* total) {
  Parts x{c.real(0), c.is_pair(0) ? c.imaginary(0) : Tensor()};
  SY_CHECK(c.rank() > 0 && !axes.empty(), Value,
           "self: expected a dim at least");
  if (!is_floating_type(x.real.scalar_type())) {
    x = each(x, [](const Tensor& t) { return t.to(kFloat); });
  }
  *total = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t dim = axes[i].dim;
    const std::optional<int64_t> size = axes[i].size;
    if (form == Form::Real && i + 1 == axes.size()) {
      const int64_t n = size.value_or(2 * (x.real.size(dim) - 1));
      SY_CHECK(n > 0, Value, "n: expected at least 1 element, got {}", n);
      x = mirrored(x, dim, n);
    } else if (size) {
      x = each(x, [&](const Tensor& t) { return resized(t, dim, *size); });
    }
    *total *= x.real.size(dim);
    x = along(x, dim, sign);
  }
  if (form == Form::Real) return out(x.real);
  if (form == Form::Half) {
    const int64_t dim = axes.back().dim, half = x.real.size(dim) / 2 + 1;
    x = each(x, [&](const Tensor& t) { return t.narrow(dim, 0, half); });
  }
  return out(pair_of(x.real, x.imaginary));
}

Value times(const Value& v, double by) {
  return by == 1 ? v : out(static_cast<const Tensor&>(v.to_tensor()) * by);
}

template <Form form, int sign, std::vector<Axis> (*axes)(const Call&)>
Value fourier(const Call& c) {
  int64_t total = 1;
  const Value v = transformed(c, axes(c), form, sign, &total);
  return times(v, factor(c[3], sign, total));
}

std::vector<Axis> axes_in(const Call& c, const Value& dims) {
  std::vector<Axis> axes;
  for (const int64_t d : c.dims(dims)) axes.push_back({d, {}});
  return axes;
}
Value r2c(const Call& c) {
  int64_t total = 1;
  const Value v =
      transformed(c, axes_in(c, c[1]),
                  c[3].to_bool() ? Form::Half : Form::Whole, -1, &total);
  return times(v, factor(c[2].to_int(), total));
}
Value c2c(const Call& c) {
  int64_t total = 1;
  const Value v = transformed(c, axes_in(c, c[1]), Form::Whole,
                              c[3].to_bool() ? -1 : 1, &total);
  return times(v, factor(c[2].to_int(), total));
}
Value c2r(const Call& c) {
  std::vector<Axis> axes = axes_in(c, c[1]);
  if (!axes.empty()) axes.back().size = c[3].to_int();
  int64_t total = 1;
  const Value v = transformed(c, axes, Form::Real, 1, &total);
  return times(v, factor(c[2].to_int(), total));
}

std::optional<Tensor> window_of(const Call& c) {
  if (c[4].is_none()) return {};
  return c.tensor(4);
}
std::optional<bool> flag(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.to_bool());
}
// The operator itself gives pairs where it is not asked for complex numbers.
Value stft(const Call& c) {
  return out(sy::stft(c.tensor(0), c[1].to_int(), number(c[2]), number(c[3]),
                      window_of(c), c[5].to_bool(), flag(c[6]), false,
                      flag(c[8])));
}
Value centered_stft(const Call& c) {
  return out(sy::stft(c.tensor(0), c[1].to_int(), number(c[2]), number(c[3]),
                      window_of(c), c[5].to_bool(), c[6].to_string_view(),
                      c[7].to_bool(), flag(c[8]), false, flag(c[10])));
}

template <Value (*f)(const Call&)>
Value run(const Value* args, size_t n) {
  return f(Call(args, n));
}

#define SY_ONE \
  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"
#define SY_TWO                                                           \
  "(Tensor self, SymInt[]? s=None, int[] dim=[-2, -1], str? norm=None) " \
  "-> Tensor"
#define SY_ALL                                                           \
  "(Tensor self, SymInt[]? s=None, int[]? dim=None, str? norm=None) -> " \
  "Tensor"

constexpr ComplexInfo kFunctions[] = {
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? "
     "stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? "
     "layout=None) -> ()",
     run<nothing>},
    {"aten::view_as_real(Tensor self) -> Tensor", run<same>},
    {"aten::view_as_complex(Tensor self) -> Tensor", run<same>},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", run<joined>},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", run<polar>},
    {"aten::real(Tensor self) -> Tensor", run<real>},
    {"aten::imag(Tensor self) -> Tensor", run<imaginary>},
    {"aten::abs(Tensor self) -> Tensor", run<absolute>},
    {"aten::angle(Tensor self) -> Tensor", run<angle>},
    {"aten::conj(Tensor self) -> Tensor", run<conj>},
    {"aten::_conj(Tensor self) -> Tensor", run<conj>},
    {"aten::conj_physical(Tensor self) -> Tensor", run<conj>},
    {"aten::_conj_physical(Tensor self) -> Tensor", run<conj>},
    {"aten::resolve_conj(Tensor self) -> Tensor", run<same>},
    {"aten::resolve_neg(Tensor self) -> Tensor", run<same>},
    {"aten::alias(Tensor self) -> Tensor", run<same>},
    {"aten::detach_(Tensor self) -> Tensor", run<same>},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", run<copy>},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
     run<copy>},
    {"aten::contiguous(Tensor self, *, MemoryFormat? memory_format=None) -> "
     "Tensor",
     run<copy>},
    {"aten::to.dtype(Tensor self, ScalarType? dtype, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
     run<convert<1, -1>>},
    {"aten::to.dtype_layout(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, bool "
     "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
     "-> Tensor",
     run<convert<1, 3>>},
    {"aten::to.device(Tensor self, Device device, ScalarType? dtype, bool "
     "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
     "-> Tensor",
     run<convert<2, 1>>},
    {"aten::to.other(Tensor self, Tensor other, bool non_blocking=False, bool "
     "copy=False, MemoryFormat? memory_format=None) -> Tensor",
     run<convert_as>},
    {"aten::type_as(Tensor self, Tensor other) -> Tensor", run<convert_as>},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, bool "
     "non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
     run<convert<1, 3>>},
    {"aten::neg(Tensor self) -> Tensor", run<negative>},
    {"aten::exp(Tensor self) -> Tensor", run<exponential>},
    {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     run<add>},
    {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     run<subtract>},
    {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", run<multiply>},
    {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", run<divide>},
    {"aten::matmul(Tensor self, Tensor other) -> Tensor", run<matrix_product>},
    {"aten::mm(Tensor self, Tensor mat2) -> Tensor", run<matrix_product>},
    {"aten::bmm(Tensor self, Tensor mat2) -> Tensor", run<matrix_product>},
    {"aten::sum.dim_IntList(Tensor self, int[]? dim, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     run<sum>},
    {"aten::view(Tensor self, SymInt[] size) -> Tensor", run<reshape>},
    {"aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", run<reshape>},
    {"aten::reshape(Tensor self, SymInt[] shape) -> Tensor", run<reshape>},
    {"aten::expand(Tensor self, SymInt[] size, *, bool implicit=False) -> "
     "Tensor",
     run<expand>},
    {"aten::unsqueeze(Tensor self, int dim) -> Tensor", run<unsqueeze>},
    {"aten::squeeze.dim(Tensor self, int dim) -> Tensor", run<squeeze>},
    {"aten::transpose.int(Tensor self, int dim0, int dim1) -> Tensor",
     run<transpose>},
    {"aten::mT(Tensor self) -> Tensor", run<matrix_transpose>},
    {"aten::t(Tensor self) -> Tensor", run<matrix_transpose>},
    {"aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> "
     "Tensor",
     run<padded>},
    {"aten::stft(Tensor self, int n_fft, int? hop_length=None, int? "
     "win_length=None, Tensor? window=None, bool normalized=False, bool? "
     "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> "
     "Tensor",
     run<stft>},
    {"aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? "
     "win_length=None, Tensor? window=None, bool center=True, str "
     "pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
     "return_complex=None, bool? align_to_window=None) -> Tensor",
     run<centered_stft>},
    {"aten::permute(Tensor self, int[] dims) -> Tensor", run<permute>},
    {"aten::flatten.using_ints(Tensor self, int start_dim=0, int end_dim=-1) "
     "-> Tensor",
     run<flatten>},
    {"aten::select.int(Tensor self, int dim, SymInt index) -> Tensor",
     run<select>},
    {"aten::slice.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? "
     "end=None, SymInt step=1) -> Tensor",
     run<slice>},
    {"aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
     run<index_select>},
    {"aten::fft_fft" SY_ONE, run<fourier<Form::Whole, -1, axis_of>>},
    {"aten::fft_ifft" SY_ONE, run<fourier<Form::Whole, 1, axis_of>>},
    {"aten::fft_rfft" SY_ONE, run<fourier<Form::Half, -1, axis_of>>},
    {"aten::fft_irfft" SY_ONE, run<fourier<Form::Real, 1, axis_of>>},
    {"aten::fft_fft2" SY_TWO, run<fourier<Form::Whole, -1, axes_of>>},
    {"aten::fft_ifft2" SY_TWO, run<fourier<Form::Whole, 1, axes_of>>},
    {"aten::fft_rfft2" SY_TWO, run<fourier<Form::Half, -1, axes_of>>},
    {"aten::fft_irfft2" SY_TWO, run<fourier<Form::Real, 1, axes_of>>},
    {"aten::fft_fftn" SY_ALL, run<fourier<Form::Whole, -1, axes_of>>},
    {"aten::fft_ifftn" SY_ALL, run<fourier<Form::Whole, 1, axes_of>>},
    {"aten::fft_rfftn" SY_ALL, run<fourier<Form::Half, -1, axes_of>>},
    {"aten::fft_irfftn" SY_ALL, run<fourier<Form::Real, 1, axes_of>>},
    {"aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) "
     "-> Tensor",
     run<r2c>},
    {"aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool "
     "forward) -> Tensor",
     run<c2c>},
    {"aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt "
     "last_dim_size) -> Tensor",
     run<c2r>},
};

#undef SY_ONE
#undef SY_TWO
#undef SY_ALL

}  // namespace

std::optional<ComplexInfo> complex_function(std::string_view name) {
  for (const ComplexInfo& info : kFunctions) {
    if (info.schema.substr(0, info.schema.find('(')) == name) return info;
  }
  return {};
}

}  // namespace sy::exporting
