#include "lang/index_geometry.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

namespace sy::lang {

void IndexGeometry::fail(const std::string& message) const {
  throw std::domain_error(op_ + message);
}

IndexGeometry::Int IndexGeometry::floor_div(Int a, Int b) const {
  if (b == 0) fail("expected a divisor other than 0, got 0");
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

IndexGeometry::Int IndexGeometry::wrap_index(Int i, Int n) const {
  if (i < -n || i >= n) {
    throw std::out_of_range(op_ + "expected an index in [" +
                            std::to_string(-n) + ", " + std::to_string(n - 1) +
                            "], got " + std::to_string(i));
  }
  return i < 0 ? i + n : i;
}

IndexGeometry::Int IndexGeometry::wrap_dim(Int d, Int ndim) const {
  const Int n = std::max<Int>(ndim, 1);
  if (d < -n || d >= n) {
    throw std::out_of_range(op_ + "dim: expected a value in [" +
                            std::to_string(-n) + ", " + std::to_string(n - 1) +
                            "], got " + std::to_string(d));
  }
  return d < 0 ? d + n : d;
}

IndexGeometry::List IndexGeometry::contiguous(const List& sizes) {
  List out(sizes.size());
  Int stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    out[i] = stride;
    stride *= std::max<Int>(sizes[i], 1);
  }
  return out;
}

IndexGeometry::Int IndexGeometry::of_dim(const List& l, Int dim) const {
  const Int d = wrap_dim(dim, size(l));
  return l.empty() ? 1 : l[static_cast<std::size_t>(d)];
}

bool IndexGeometry::contains_dim(const List& dims, Int dim, Int ndim) const {
  return std::any_of(dims.begin(), dims.end(),
                     [&](Int d) { return wrap_dim(d, ndim) == dim; });
}

IndexGeometry::List IndexGeometry::without(const List& a,
                                           const List& dims) const {
  List out;
  for (Int k = 0; k < size(a); ++k) {
    if (!contains_dim(dims, k, size(a))) {
      out.push_back(a[static_cast<std::size_t>(k)]);
    }
  }
  // An empty list has a dim too, which is wrong only if it is out of range.
  for (Int d : dims) wrap_dim(d, size(a));
  return out;
}

IndexGeometry::List IndexGeometry::permutation(const List& dims,
                                               Int ndim) const {
  if (size(dims) != ndim) {
    fail("dims: expected " + std::to_string(ndim) + " dims, got " + text(dims));
  }
  return wrap_dims(dims, ndim);
}

IndexGeometry::List IndexGeometry::permuted(List& a, const List& dims) const {
  List out;
  for (Int d : permutation(dims, size(a))) out.push_back(*at(a, d));
  return out;
}

IndexGeometry::List IndexGeometry::inverse_permutation(const List& dims) const {
  List out(dims.size());
  const List wrapped = permutation(dims, size(dims));
  for (Int k = 0; k < size(dims); ++k) {
    *at(out, wrapped[static_cast<std::size_t>(k)]) = k;
  }
  return out;
}

bool IndexGeometry::is_expandable_to(const List& sizes, const List& wanted) {
  if (sizes.size() > wanted.size()) return false;
  return std::equal(sizes.rbegin(), sizes.rend(), wanted.rbegin(),
                    [](Int own, Int w) { return own == 1 || own == w; });
}

IndexGeometry::List IndexGeometry::expand_sizes(const List& sizes,
                                                List wanted) const {
  const List given = wanted;
  const Int added = size(wanted) - size(sizes);
  if (added < 0) {
    fail("size: expected at least " + std::to_string(size(sizes)) +
         " sizes, got " + text(given));
  }
  for (Int k = 0; k < size(wanted); ++k) {
    Int& w = *at(wanted, k);
    const Int own = k < added ? -1 : sizes[static_cast<std::size_t>(k - added)];
    if (w == -1 && k >= added) w = own;
    if (w < 0 || (own >= 0 && own != 1 && own != w)) {
      fail("size: expected sizes that " + text(sizes) +
           " can be expanded to, got " + text(given));
    }
  }
  return wanted;
}

IndexGeometry::List IndexGeometry::expand_strides(const List& sizes,
                                                  const List& strides,
                                                  const List& wanted) const {
  List out = expand_sizes(sizes, wanted);
  const Int added = size(wanted) - size(sizes);
  for (Int k = 0; k < size(out); ++k) {
    const auto own = static_cast<std::size_t>(k - added);
    const bool kept = k >= added && sizes[own] == *at(out, k);
    *at(out, k) = kept ? strides[own] : 0;
  }
  return out;
}

IndexGeometry::List IndexGeometry::diagonal_sizes(List& sizes, Int offset,
                                                  Int dim1, Int dim2) const {
  const Int x = wrap_dim(dim1, size(sizes));
  const Int y = wrap_dim(dim2, size(sizes));
  if (x == y) {
    fail("dim2: expected another dim than dim1, got " + std::to_string(dim1) +
         " and " + std::to_string(dim2));
  }
  const Int n = *at(sizes, x) + std::min<Int>(offset, 0);
  const Int m = *at(sizes, y) - std::max<Int>(offset, 0);
  List out = without(sizes, {x, y});
  out.push_back(std::max<Int>(std::min(n, m), 0));
  return out;
}

IndexGeometry::List IndexGeometry::unfold_sizes(List sizes, Int dim, Int length,
                                                Int step) const {
  const Int d = wrap_dim(dim, size(sizes));
  const Int n = of_dim(sizes, d);
  if (length < 0 || length > n) {
    fail("size: expected a value in [0, " + std::to_string(n) + "], got " +
         std::to_string(length));
  }
  positive_step(step);
  if (!sizes.empty()) *at(sizes, d) = (n - length) / step + 1;
  sizes.push_back(length);
  return sizes;
}

IndexGeometry::List IndexGeometry::window_counts(const List& sizes,
                                                 const List& kernel,
                                                 const List& stride,
                                                 const List& padding,
                                                 const List& dilation) const {
  const std::size_t n = sizes.size();
  if (kernel.size() != n || stride.size() != n || padding.size() != n ||
      dilation.size() != n) {
    fail("expected " + std::to_string(n) + " numbers for windows");
  }
  List out;
  for (std::size_t k = 0; k < n; ++k) {
    out.push_back(
        floor_div(sizes[k] + 2 * padding[k] - dilation[k] * (kernel[k] - 1) - 1,
                  stride[k]) +
        1);
  }
  return out;
}

IndexGeometry::List IndexGeometry::window_numbers(const char* argument,
                                                  List list, Int n,
                                                  Int least) const {
  const auto good = [&](Int v) { return v >= least && v <= INT32_MAX; };
  if ((size(list) != 1 && size(list) != n) ||
      !std::all_of(list.begin(), list.end(), good)) {
    fail(std::string(argument) + ": expected " + std::to_string(n) +
         " numbers of at least " + std::to_string(least));
  }
  if (size(list) == 1) list.resize(static_cast<std::size_t>(n), list[0]);
  return list;
}

IndexGeometry::List IndexGeometry::pooled_sizes(Int n, const List& sizes,
                                                List kernel, List stride,
                                                List padding, List dilation,
                                                bool ceil_mode) const {
  if (size(sizes) != n + 1 && size(sizes) != n + 2) {
    fail("self: expected " + std::to_string(n + 1) + " or " +
         std::to_string(n + 2) + " dims");
  }
  kernel = window_numbers("kernel_size", kernel, n, 1);
  stride = stride.empty() ? kernel : window_numbers("stride", stride, n, 1);
  padding = window_numbers("padding", padding, n, 0);
  dilation = window_numbers("dilation", dilation, n, 1);
  const auto places = sizes.end() - n;
  if (std::count(places - 1, sizes.end(), 0) != 0) {
    fail("self: expected a tensor that is empty in its batch only");
  }
  List out(sizes.begin(), places);
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
    const Int extent = dilation[k] * (kernel[k] - 1) + 1;
    const Int room = *(places + static_cast<Int>(k)) + 2 * padding[k];
    const Int rounded = ceil_mode ? stride[k] - 1 : 0;
    Int count = floor_div(room - extent + rounded, stride[k]) + 1;
    if (ceil_mode && (count - 1) * stride[k] >= room - padding[k]) --count;
    if (padding[k] > kernel[k] / 2 || count <= 0) {
      fail("kernel_size: expected windows that fit into self");
    }
    out.push_back(count);
  }
  return out;
}

void IndexGeometry::positive_step(Int step) const {
  if (step <= 0) {
    fail("step: expected a positive step, got " + std::to_string(step));
  }
}

IndexGeometry::List IndexGeometry::reduced_sizes(const List& sizes,
                                                 const IndexValue& dims,
                                                 bool keepdim) const {
  List reduced;
  if (const auto* several = std::get_if<List>(&dims)) {
    reduced = wrap_dims(*several, size(sizes));
  } else if (!std::holds_alternative<std::monostate>(dims)) {
    reduced = {wrap_dim(integer(dims), size(sizes))};
  }
  List out;
  for (Int k = 0; k < size(sizes); ++k) {
    const bool gone =
        reduced.empty() ||
        std::find(reduced.begin(), reduced.end(), k) != reduced.end();
    if (!gone) {
      out.push_back(sizes[static_cast<std::size_t>(k)]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}

IndexValue IndexGeometry::cat_sizes(const std::vector<TensorMeta>& tensors,
                                    Int dim) const {
  std::optional<List> out;
  for (const TensorMeta& t : tensors) {
    if (t.sizes == List{0}) continue;
    if (!out) {
      if (t.sizes.empty()) {
        fail("tensors: expected tensors of at least one dim, got 0 dims");
      }
      out = t.sizes;
      dim = wrap_dim(dim, size(*out));
      continue;
    }
    List same = t.sizes;
    const bool fits = same.size() == out->size() &&
                      (*at(same, dim) = *at(*out, dim), same == *out);
    if (!fits) {
      fail("tensors: expected sizes that agree with " + text(*out) +
           " but in dim " + std::to_string(dim) + ", got " + text(t.sizes));
    }
    *at(*out, dim) += t.sizes[static_cast<std::size_t>(dim)];
  }
  return out.value_or(List{0});
}

IndexGeometry::Int IndexGeometry::slice_bound(const IndexValue& v,
                                              Int otherwise, Int n) const {
  if (std::holds_alternative<std::monostate>(v)) return otherwise;
  const Int i = integer(v);
  return std::clamp<Int>(i < 0 ? i + n : i, 0, n);
}

std::string IndexGeometry::text(const List& l) {
  std::string out = "[";
  for (std::size_t k = 0; k < l.size(); ++k) {
    out += (k ? ", " : "") + std::to_string(l[k]);
  }
  return out + "]";
}

IndexGeometry::List IndexGeometry::wrap_dims(const List& dims, Int ndim) const {
  List out;
  for (Int d : dims) {
    const Int w = wrap_dim(d, ndim);
    if (std::find(out.begin(), out.end(), w) != out.end()) {
      fail("dim: expected distinct dims, got " + text(dims));
    }
    out.push_back(w);
  }
  return out;
}

IndexGeometry::List IndexGeometry::infer_size(List sizes, Int numel) const {
  Int known = 1;
  Int* open = nullptr;
  for (Int& s : sizes) {
    if (s == -1 && !open) {
      open = &s;
    } else if (s < 0) {
      fail("shape: expected sizes, at most one of them -1, got " + text(sizes));
    } else {
      known *= s;
    }
  }
  if (open ? known == 0 || numel % known != 0 : known != numel) {
    fail("shape: expected sizes of " + std::to_string(numel) +
         " elements, got " + text(sizes));
  }
  if (open) *open = numel / known;
  return sizes;
}

IndexGeometry::List IndexGeometry::broadcast(const List& a,
                                             const List& b) const {
  const std::size_t n = std::max(a.size(), b.size());
  List out(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Int x = k < a.size() ? a[a.size() - 1 - k] : 1;
    const Int y = k < b.size() ? b[b.size() - 1 - k] : 1;
    if (x != y && x != 1 && y != 1) {
      fail("expected sizes that broadcast, got " + text(a) + " and " + text(b));
    }
    out[n - 1 - k] = x == 1 ? y : x;
  }
  return out;
}

IndexGeometry::List IndexGeometry::view_strides(const List& sizes,
                                                const List& strides,
                                                const List& wanted) const {
  if (product(sizes) == 0) {
    return sizes == wanted ? strides : contiguous(wanted);
  }
  List out(wanted.size());
  auto next = static_cast<Int>(wanted.size()) - 1;
  Int chunk = 1;
  Int filled = 1;
  Int step = strides.empty() ? 1 : strides.back();
  for (Int d = size(sizes) - 1; d >= 0; --d) {
    const auto k = static_cast<std::size_t>(d);
    chunk *= sizes[k];
    if (d > 0 && (sizes[k - 1] == 1 || strides[k - 1] == chunk * step)) {
      continue;
    }
    while (next >= 0 &&
           (filled < chunk || wanted[static_cast<std::size_t>(next)] == 1)) {
      out[static_cast<std::size_t>(next)] = filled * step;
      filled *= wanted[static_cast<std::size_t>(next)];
      --next;
    }
    if (filled != chunk) no_view(sizes, strides, wanted);
    if (d > 0) step = strides[k - 1];
    chunk = filled = 1;
  }
  for (; next >= 0; --next) {
    if (wanted[static_cast<std::size_t>(next)] != 1) {
      no_view(sizes, strides, wanted);
    }
    out[static_cast<std::size_t>(next)] = filled * step;
  }
  return out;
}

void IndexGeometry::no_view(const List& sizes, const List& strides,
                            const List& wanted) const {
  fail("self: expected sizes and strides that can be seen as " + text(wanted) +
       ", got " + text(sizes) + " and " + text(strides) +
       "; call contiguous() or reshape");
}

}  // namespace sy::lang
