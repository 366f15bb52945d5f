// The primitives as functions of vectors, for the compiler of programs. clang
// makes bitcode of this, once for each instruction set (SY_JIT_AVX512), which
// codegen.cpp inlines into kernels. The functors of the interpreter say what a
// primitive computes; nothing here does.
//
// sy.<primitive>.<type> takes three vectors and gives one, of as many elements
// as a register has of the type. Operands beyond the arity are not looked at.
// sy.special.<primitive>.<type> says whether that does not hold for one of the
// elements; slow code is not here.
// sy.load.<type>.<dtype> and sy.store.<type>.<dtype> convert elements of
// memory. Bools are bytes.

#define HWY_COMPILE_ONLY_STATIC 1
#define HWY_DISABLE_PCLMUL_AES 1
#include <tuple>
#include "aten/program/functors/environment.h"

#include "aten/program/primitives.h"
#include "hwy/highway.h"

#undef SY_FN
#undef SY_FN_SLOW
#undef SY_FN_FREE
#undef SY_FMA
#undef SY_VECTORS
#define SY_FN inline __attribute__((always_inline))
#define SY_FN_SLOW __attribute__((noinline))
#define SY_FN_FREE
#define SY_FMA 1
#ifdef SY_JIT_AVX512
#define SY_VECTORS 1
#else
#define SY_VECTORS 0
#endif

namespace sy::cpu::jit {

// Integer division by zero calls this, in slow code, which is not here.
void set_error();

namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "aten/program/functors/arithmetic.inc"
#include "aten/program/functors/compare.inc"
#include "aten/program/functors/convert.inc"
#include "aten/program/functors/division.inc"
#include "aten/program/functors/integer.inc"
#include "aten/program/functors/math64.inc"
#include "aten/program/functors/math_double.inc"
#include "aten/program/functors/math_float.inc"
#include "aten/program/functors/power.inc"

enum class Type { f32, f64, u8, i8, i16, i32, i64, b8, bf16 };

template <Type t>
struct ElementOfType;
#define SY_ELEMENT(name, T)          \
  template <>                        \
  struct ElementOfType<Type::name> { \
    using type = T;                  \
  };
SY_ELEMENT(f32, float)
SY_ELEMENT(f64, double)
SY_ELEMENT(u8, uint8_t)
SY_ELEMENT(i8, int8_t)
SY_ELEMENT(i16, int16_t)
SY_ELEMENT(i32, int32_t)
SY_ELEMENT(i64, int64_t)
SY_ELEMENT(b8, uint8_t)
SY_ELEMENT(bf16, uint16_t)
#undef SY_ELEMENT
template <Type t>
using ElementOf = typename ElementOfType<t>::type;

constexpr int kRegister = SY_VECTORS ? 64 : 32;  // bytes
template <Type t>
constexpr int kLanes = kRegister / static_cast<int>(sizeof(ElementOf<t>));
template <class T, int lanes>
using Vector = T __attribute__((ext_vector_type(lanes)));

// A bool of a vector of n: 16 bytes hold them all, at least. Shorter vectors
// would travel in other registers.
template <int n>
using Flag = std::conditional_t<n >= 16, uint8_t,
                                std::conditional_t<n == 8, uint16_t, uint32_t>>;

template <class F, class... A>
concept HasSpecial = requires(A... a) {
  F::special(a...);
};
template <class F, class A>
concept HasVector = requires(hn::Vec<hn::ScalableTag<A>> x) {
  F::v(x);
};

template <class T, int n>
struct Array {
  T at[n];
};

// An array of 16 bytes or less becomes two integers, and clang takes elements
// out of them by shifts: vectors of small integers are made wider first.
template <class T, int n>
using Wide = std::conditional_t<
    (sizeof(T) * n > 16) || std::is_floating_point_v<T>, T,
    std::conditional_t<
        (n > 4), std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>>;

template <int n, class T>
SY_FN Array<Wide<T, n>, n> as_array(const Vector<T, n>& x) {
  const auto wide = __builtin_convertvector(x, Vector<Wide<T, n>, n>);
  Array<Wide<T, n>, n> a;
  __builtin_memcpy(&a, &wide, sizeof a);
  return a;
}

// Loops of as many elements as a vector has: clang makes one vector of them.
template <class F, class R, int n, class... In, class... A>
SY_FN Vector<R, n> apply(const Vector<A, n>&... x) {
  Wide<R, n> out[n];
  if constexpr (sizeof...(A) == 1 && (HasVector<F, A> && ...)) {
    hn::Vec<hn::ScalableTag<R>> in;
    __builtin_memcpy(&in, &(x, ...), sizeof in);
    const auto y = F::v(in);
    __builtin_memcpy(out, &y, sizeof out);
  } else {
    const std::tuple<Array<Wide<A, n>, n>...> in(as_array<n>(x)...);
    std::apply(
        [&](const auto&... v) {
#pragma clang loop vectorize(assume_safety)
          for (int i = 0; i < n; ++i) {
            out[i] = static_cast<R>(F::f(static_cast<In>(v.at[i])...));
          }
        },
        in);
  }
  Vector<Wide<R, n>, n> result;
  __builtin_memcpy(&result, out, sizeof out);
  return __builtin_convertvector(result, Vector<R, n>);
}

// Whether the fast code does not hold for some element.
template <class F, int n, class... In, class... A>
SY_FN uint32_t any_special(const Vector<A, n>&... x) {
  uint32_t any = 0;
  if constexpr (HasSpecial<F, In...>) {
    const std::tuple<Array<Wide<A, n>, n>...> in(as_array<n>(x)...);
    std::apply(
        [&](const auto&... v) {
#pragma clang loop vectorize(assume_safety)
          for (int i = 0; i < n; ++i) {
            any |= uint32_t{F::special(static_cast<In>(v.at[i])...)};
          }
        },
        in);
  }
  return any;
}

// ---- primitives

template <lang::Prim p>
constexpr lang::PrimType kTypeOf = lang::kPrims[static_cast<int>(p)].type;

constexpr bool takes_bool(lang::PrimType t, int operand) {
  using enum lang::PrimType;
  return t == B_B || t == BB_B || ((t == BTT_T || t == B_T) && operand == 0);
}
constexpr bool gives_bool(lang::PrimType t) {
  using enum lang::PrimType;
  return t == T_B || t == TT_B || t == B_B || t == BB_B;
}

// The types of operands as the functor has them, and as vectors do.
template <lang::Prim p, Type t, int operand>
using Argument =
    std::conditional_t<takes_bool(kTypeOf<p>, operand), uint8_t, ElementOf<t>>;
template <lang::Prim p, Type t, int operand>
using In = Vector<std::conditional_t<takes_bool(kTypeOf<p>, operand),
                                     Flag<kLanes<t>>, ElementOf<t>>,
                  kLanes<t>>;
template <lang::Prim p, Type t>
using Out =
    std::conditional_t<gives_bool(kTypeOf<p>), Flag<kLanes<t>>, ElementOf<t>>;

template <lang::Prim p, Type t, class F>
SY_FN Vector<Out<p, t>, kLanes<t>> call(const In<p, t, 0>& a,
                                        const In<p, t, 1>& b,
                                        const In<p, t, 2>& c) {
  constexpr int arity = lang::arity(kTypeOf<p>);
  constexpr int n = kLanes<t>;
  using R = Out<p, t>;
  using A = Argument<p, t, 0>;
  using B = Argument<p, t, 1>;
  using C = Argument<p, t, 2>;
  if constexpr (arity == 1) return apply<F, R, n, A>(a);
  if constexpr (arity == 2) return apply<F, R, n, A, B>(a, b);
  if constexpr (arity == 3) return apply<F, R, n, A, B, C>(a, b, c);
}

template <lang::Prim p, Type t, class F>
SY_FN uint32_t special(const In<p, t, 0>& a, const In<p, t, 1>& b,
                       const In<p, t, 2>& c) {
  constexpr int arity = lang::arity(kTypeOf<p>);
  constexpr int n = kLanes<t>;
  using A = Argument<p, t, 0>;
  using B = Argument<p, t, 1>;
  using C = Argument<p, t, 2>;
  if constexpr (arity == 1) return any_special<F, n, A>(a);
  if constexpr (arity == 2) return any_special<F, n, A, B>(a, b);
  if constexpr (arity == 3) return any_special<F, n, A, B, C>(a, b, c);
}

// ---- conversions

template <Type t, int n>
using Held = std::conditional_t<t == Type::b8, Flag<n>, ElementOf<t>>;
template <Type t>
using Stored = std::conditional_t<
    t == Type::b8, BoolByte,
    std::conditional_t<t == Type::bf16, float, ElementOf<t>>>;

template <Type from, Type to>
struct Convert {
  static SY_FN ElementOf<to> f(ElementOf<from> x) {
    Stored<from> in;
    if constexpr (from == Type::bf16) {
      in = FromBFloat16::f(x);
    } else {
      in = static_cast<Stored<from>>(x);
    }
    const auto y = ConvertTo<Stored<to>>::f(in);
    if constexpr (to == Type::bf16) {
      return ToBFloat16::f(y);
    } else {
      return static_cast<ElementOf<to>>(y);
    }
  }
};

}  // namespace

extern "C" {

#define SY_LIST_ARITHMETIC
#define SY_LIST_COMPARE
#define SY_LIST_COPIES
#define SY_LIST_DIVISION
#define SY_LIST_INTEGER
#define SY_LIST_MATH_FLOAT
#define SY_LIST_MATH_DOUBLE
#define SY_LIST_POWER
#define SY_FUNCTOR(prim, type, functor)                                        \
  Vector<Out<lang::Prim::prim, Type::type>, kLanes<Type::type>>                \
      sy_##prim##_##type(In<lang::Prim::prim, Type::type, 0> a,                \
                         In<lang::Prim::prim, Type::type, 1> b,                \
                         In<lang::Prim::prim, Type::type, 2> c) {              \
    return call<lang::Prim::prim, Type::type, functor>(a, b, c);               \
  }                                                                            \
  uint32_t sy_special_##prim##_##type(In<lang::Prim::prim, Type::type, 0> a,   \
                                      In<lang::Prim::prim, Type::type, 1> b,   \
                                      In<lang::Prim::prim, Type::type, 2> c) { \
    return special<lang::Prim::prim, Type::type, functor>(a, b, c);            \
  }
#include "aten/program/functors/list.inc"

// sy_convert_<type>_<from>_<to>: vectors of as many elements as a register of
// `type` has.
#define SY_CONVERT(type, from, to)                                         \
  Vector<Held<Type::to, kLanes<Type::type>>, kLanes<Type::type>>           \
      sy_convert_##type##_##from##_##to(                                   \
          Vector<Held<Type::from, kLanes<Type::type>>, kLanes<Type::type>> \
              x) {                                                         \
    return apply<Convert<Type::from, Type::to>,                            \
                 Held<Type::to, kLanes<Type::type>>, kLanes<Type::type>,   \
                 ElementOf<Type::from>>(x);                                \
  }
// The conversions by which registers of the type, and of bools beside them, are
// read and written.
#define SY_CONVERTS_WITH(type, other) \
  SY_CONVERT(type, other, type)       \
  SY_CONVERT(type, type, other)       \
  SY_CONVERT(type, other, b8)         \
  SY_CONVERT(type, b8, other)
#define SY_CONVERTS_BETWEEN(a, b) SY_CONVERTS_WITH(a, b) SY_CONVERTS_WITH(b, a)
// The conversions with bools and with the narrow integers.
#define SY_CONVERTS_OF(type) \
  SY_CONVERT(type, type, b8) \
  SY_CONVERT(type, b8, type) \
  SY_CONVERTS_WITH(type, u8) \
  SY_CONVERTS_WITH(type, i8) \
  SY_CONVERTS_WITH(type, i16)
SY_CONVERTS_OF(f32)
SY_CONVERTS_OF(f64)
SY_CONVERTS_OF(i32)
SY_CONVERTS_OF(i64)
SY_CONVERTS_BETWEEN(f32, f64)
SY_CONVERTS_BETWEEN(f32, i32)
SY_CONVERTS_BETWEEN(f32, i64)
SY_CONVERTS_BETWEEN(f64, i32)
SY_CONVERTS_BETWEEN(f64, i64)
SY_CONVERTS_BETWEEN(i32, i64)
SY_CONVERTS_WITH(f32, bf16)

}  // extern "C"

}  // namespace sy::cpu::jit
