#pragma once

#include <sy/library.h>

#include <cstdint>
#include <type_traits>
#include <vector>

// Elements one by one, at any strides and in any dtype. Slow on purpose: what a
// kernel computes is all that its code says.

namespace reference {

using sy::IntArrayRef;
using sy::ScalarType;
using sy::Tensor;
using Index = std::vector<int64_t>;

// f(index) for every place of `sizes`, row-major.
template <class F>
void for_each_place(IntArrayRef sizes, const F& f) {
  Index at(sizes.size(), 0);
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  for (; n > 0; --n) {
    f(static_cast<const Index&>(at));
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

// The place of an element in its storage. An index with more dims than the
// tensor is of what the tensor is broadcast to.
inline int64_t place(const Tensor& t, const Index& at) {
  int64_t p = 0;
  const size_t missing = at.size() - static_cast<size_t>(t.dim());
  for (size_t d = missing; d < at.size(); ++d) {
    if (t.sizes()[d - missing] != 1) p += at[d] * t.strides()[d - missing];
  }
  return p;
}

// f.operator()<T>() for the C++ type of a dtype; of narrow floats Half and
// BFloat16.
template <class F>
void visit(ScalarType dtype, const F& f) {
  switch (dtype) {
    case sy::kBool: return f.template operator()<bool>();
    case sy::kByte: return f.template operator()<uint8_t>();
    case sy::kChar: return f.template operator()<int8_t>();
    case sy::kShort: return f.template operator()<int16_t>();
    case sy::kInt: return f.template operator()<int32_t>();
    case sy::kLong: return f.template operator()<int64_t>();
    case sy::kHalf: return f.template operator()<sy::Half>();
    case sy::kBFloat16: return f.template operator()<sy::BFloat16>();
    case sy::kFloat: return f.template operator()<float>();
    case sy::kDouble: return f.template operator()<double>();
    default:
      SY_CHECK(false, Type, "[reference] expected a dtype, got {}", dtype);
  }
}

// The same for what is computed in: float for narrow floats.
template <class F>
void visit_computed(ScalarType dtype, const F& f) {
  const bool narrow = dtype == sy::kHalf || dtype == sy::kBFloat16;
  visit(narrow ? sy::kFloat : dtype, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) f.template operator()<T>();
  });
}

template <class T>
constexpr bool is_narrow =
    std::is_same_v<T, sy::Half> || std::is_same_v<T, sy::BFloat16>;

// A number converted as PyTorch does: floats that an integer type cannot hold
// wrap around.
template <class To, class From>
To converted(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_narrow<From>) {
    return converted<To>(static_cast<float>(v));
  } else if constexpr (is_narrow<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> &&
                       std::is_integral_v<To>) {
    if constexpr (sizeof(To) == 8 || std::is_unsigned_v<To>) {
      return static_cast<To>(static_cast<int64_t>(v));
    } else {
      return static_cast<To>(static_cast<int32_t>(v));
    }
  } else {
    return static_cast<To>(v);
  }
}

template <class T>
T read(const Tensor& t, int64_t place) {
  T out{};
  visit(t.scalar_type(), [&]<class S>() {
    out = converted<T>(static_cast<const S*>(t.raw_data())[place]);
  });
  return out;
}
template <class T>
T read(const Tensor& t, const Index& at) {
  return read<T>(t, place(t, at));
}

template <class T>
void write(const Tensor& t, int64_t place, T v) {
  visit(t.scalar_type(), [&]<class S>() {
    static_cast<S*>(t.raw_data())[place] = converted<S>(v);
  });
}
template <class T>
void write(const Tensor& t, const Index& at, T v) {
  write<T>(t, place(t, at), v);
}

// out[at] = t[from], of one dtype.
inline void copy_element(const Tensor& out, const Index& at, const Tensor& t,
                         const Index& from) {
  visit(out.scalar_type(), [&]<class S>() {
    static_cast<S*>(out.raw_data())[place(out, at)] =
        static_cast<const S*>(t.raw_data())[place(t, from)];
  });
}

inline int64_t wrapped(int64_t dim, int64_t dims) {
  const int64_t n = dims == 0 ? 1 : dims;
  SY_CHECK(dim >= -n && dim < n, Index,
           "[reference] dim: expected one in [{}, {}], got {}", -n, n - 1, dim);
  return dim < 0 ? dim + n : dim;
}

// A tensor without dims is a vector of one element to kernels along a dim.
inline Tensor with_dims(const Tensor& t) {
  if (t.dim() > 0) return t;
  const int64_t one[] = {1};
  return Tensor(t.impl()->alias(one, one, t.storage_offset()));
}

Tensor empty(IntArrayRef sizes, ScalarType dtype, sy::Device device);

// An out= argument that is to hold n elements.
inline void resize_vector(const Tensor& out, int64_t n) {
  const int64_t sizes[] = {n};
  if (out.numel() != n) out.impl()->resize(sizes);
}

}  // namespace reference
