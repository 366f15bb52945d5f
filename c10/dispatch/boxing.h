#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "c10/device/device_guard.h"
#include "c10/dispatch/kernel.h"
#include "c10/tensor/value.h"

// Adapters between typed C++ functions and boxed kernels, instantiated once
// per signature (not per kernel).

namespace sy::detail {

template <class T>
inline constexpr bool is_tensor = std::is_base_of_v<TensorBase, T>;

template <class T>
struct is_tensor_array : std::false_type {};
template <class T>
struct is_tensor_array<ArrayRef<T>> : std::bool_constant<is_tensor<T>> {};

// How one parameter type is named, read from a Value and made into one.
// `Holder` keeps what the parameter borrows for the length of the call.
template <class T>
struct ArgTraits;

// A class derived from TensorBase adds no data: references convert freely.
template <class T>
requires is_tensor<T>
struct ArgTraits<const T&> {
  static constexpr ArgCode code = ArgCode::Tensor;
  using Holder = const T&;
  static const T& hold(Value& v) {
    return static_cast<const T&>(std::as_const(v).to_tensor());
  }
  static Value box(const T& t) { return Value(TensorBase(t)); }
};
template <class T>
requires is_tensor<T>
struct ArgTraits<T&> {
  static constexpr ArgCode code = ArgCode::TensorRef;
  using Holder = T&;
  static T& hold(Value& v) { return static_cast<T&>(v.to_tensor()); }
  static Value box(const T& t) { return Value(TensorBase(t)); }
};
template <class T>
requires is_tensor<T>
struct ArgTraits<const std::optional<T>&> {
  static constexpr ArgCode code = ArgCode::OptTensor;
  using Holder = std::optional<T>;
  static Holder hold(Value& v) {
    if (v.is_none()) return std::nullopt;
    return static_cast<const T&>(std::as_const(v).to_tensor());
  }
  static Value box(const std::optional<T>& t) {
    return t ? Value(TensorBase(*t)) : Value();
  }
};
template <class T>
requires is_tensor<T>
struct ArgTraits<ArrayRef<T>> {
  static constexpr ArgCode code = ArgCode::TensorList;
  using Holder = ArrayRef<T>;
  static Holder hold(Value& v) {
    const auto l = v.to_tensor_list();
    return Holder(static_cast<const T*>(l.data()), l.size());
  }
  static Value box(ArrayRef<T> l) {
    return Value::tensor_list(l.data(), l.size());
  }
};
template <class T>
requires is_tensor<T>
struct ArgTraits<ArrayRef<std::optional<T>>> {
  static constexpr ArgCode code = ArgCode::OptTensorList;
  struct Holder {
    std::vector<std::optional<T>> list;
    operator ArrayRef<std::optional<T>>() const { return list; }
  };
  static Holder hold(Value& v) {
    Holder h;
    for (const TensorBase& t : v.to_tensor_list()) {
      if (t.defined()) {
        h.list.emplace_back(static_cast<const T&>(t));
      } else {
        h.list.emplace_back();
      }
    }
    return h;
  }
  static Value box(ArrayRef<std::optional<T>> l) {
    std::vector<TensorBase> flat;
    for (const auto& t : l) flat.push_back(t ? TensorBase(*t) : TensorBase());
    return Value::optional_tensor_list(flat.data(), flat.size());
  }
};

// A value type and its optional.
#define SY_BOXED_VALUE(T, Code, getter)                 \
  template <>                                           \
  struct ArgTraits<T> {                                 \
    static constexpr ArgCode code = ArgCode::Code;      \
    using Holder = T;                                   \
    static Holder hold(Value& v) { return v.getter(); } \
    static Value box(T x) { return Value(x); }          \
  };
#define SY_BOXED_OPTIONAL(T, Code, getter)                \
  template <>                                             \
  struct ArgTraits<std::optional<T>> {                    \
    static constexpr ArgCode code = ArgCode::Code;        \
    using Holder = std::optional<T>;                      \
    static Holder hold(Value& v) {                        \
      return v.is_none() ? Holder() : Holder(v.getter()); \
    }                                                     \
    static Value box(const std::optional<T>& x) {         \
      return x ? Value(*x) : Value();                     \
    }                                                     \
  };
SY_BOXED_VALUE(int64_t, Int, to_int)
SY_BOXED_OPTIONAL(int64_t, OptInt, to_int)
SY_BOXED_VALUE(double, Double, to_double)
SY_BOXED_OPTIONAL(double, OptDouble, to_double)
SY_BOXED_VALUE(bool, Bool, to_bool)
SY_BOXED_OPTIONAL(bool, OptBool, to_bool)
SY_BOXED_VALUE(IntArrayRef, IntList, to_int_list)
SY_BOXED_VALUE(ArrayRef<double>, DoubleList, to_double_list)
SY_BOXED_OPTIONAL(ArrayRef<double>, OptDoubleList, to_double_list)
SY_BOXED_VALUE(ArrayRef<bool>, BoolList, to_bool_list)
SY_BOXED_VALUE(ArrayRef<Scalar>, ScalarList, to_scalar_list)
SY_BOXED_VALUE(std::string_view, String, to_string_view)
SY_BOXED_OPTIONAL(std::string_view, OptString, to_string_view)
SY_BOXED_VALUE(ScalarType, ScalarType, to_scalar_type)
SY_BOXED_OPTIONAL(ScalarType, OptScalarType, to_scalar_type)
SY_BOXED_VALUE(Device, Device, to_device)
SY_BOXED_OPTIONAL(Device, OptDevice, to_device)
SY_BOXED_VALUE(Layout, Layout, to_layout)
SY_BOXED_OPTIONAL(Layout, OptLayout, to_layout)
SY_BOXED_VALUE(MemoryFormat, MemoryFormat, to_memory_format)
SY_BOXED_OPTIONAL(MemoryFormat, OptMemoryFormat, to_memory_format)
SY_BOXED_OPTIONAL(Generator, OptGenerator, to_generator)
#undef SY_BOXED_VALUE
#undef SY_BOXED_OPTIONAL
template <>
struct ArgTraits<OptionalIntArrayRef> {
  static constexpr ArgCode code = ArgCode::OptIntList;
  using Holder = OptionalIntArrayRef;
  static Holder hold(Value& v) {
    return v.is_none() ? Holder() : Holder(v.to_int_list());
  }
  static Value box(OptionalIntArrayRef l) { return l ? Value(*l) : Value(); }
};
template <>
struct ArgTraits<const Scalar&> {
  static constexpr ArgCode code = ArgCode::Scalar;
  using Holder = Scalar;
  static Holder hold(Value& v) { return v.to_scalar(); }
  static Value box(const Scalar& s) { return Value(s); }
};
template <>
struct ArgTraits<const std::optional<Scalar>&> {
  static constexpr ArgCode code = ArgCode::OptScalar;
  using Holder = std::optional<Scalar>;
  static Holder hold(Value& v) {
    return v.is_none() ? Holder() : Holder(v.to_scalar());
  }
  static Value box(const std::optional<Scalar>& s) {
    return s ? Value(*s) : Value();
  }
};
template <>
struct ArgTraits<ArrayRef<std::string_view>> {
  static constexpr ArgCode code = ArgCode::StringList;
  struct Holder {
    std::vector<std::string_view> list;
    operator ArrayRef<std::string_view>() const { return list; }
  };
  static Holder hold(Value& v) {
    Holder h;
    for (const std::string& s : v.to_string_list()) h.list.emplace_back(s);
    return h;
  }
  static Value box(ArrayRef<std::string_view> l) {
    return Value::string_list(l.data(), l.size());
  }
};

// Results: how many values, and how they are assigned and read back.
template <class R>
struct ResultTraits {  // numbers and the like
  static constexpr size_t count = 1;
  static constexpr ArgCode codes[] = {ArgTraits<R>::code};
  static void box(Value* out, const R& r) { out[0] = Value(r); }
  static R unbox(Value* v) { return ArgTraits<R>::hold(v[0]); }
};
template <>
struct ResultTraits<void> {
  static constexpr size_t count = 0;
  static constexpr ArgCode codes[] = {ArgCode::Void};
};
template <class T>
requires is_tensor<T>
struct ResultTraits<T> {
  static constexpr size_t count = 1;
  static constexpr ArgCode codes[] = {ArgCode::Tensor};
  static void box(Value* out, T&& t) {
    out[0] = Value(TensorBase(std::move(t)));
  }
  static T unbox(Value* v) {
    return T(TensorBase(std::as_const(v[0]).to_tensor()));
  }
};
template <class T>
requires is_tensor<T>
struct ResultTraits<T&> {
  static constexpr size_t count = 1;
  static constexpr ArgCode codes[] = {ArgCode::TensorRef};
  static void box(Value* out, T& t) { out[0] = Value(TensorBase(t)); }
};
template <class T>
requires is_tensor<T>
struct ResultTraits<std::vector<T>> {
  static constexpr size_t count = 1;
  static constexpr ArgCode codes[] = {ArgCode::TensorList};
  static void box(Value* out, std::vector<T>&& l) {
    out[0] = Value::tensor_list(l.data(), l.size());
  }
  static std::vector<T> unbox(Value* v) {
    std::vector<T> out;
    for (const TensorBase& t : v[0].to_tensor_list()) out.emplace_back(T(t));
    return out;
  }
};
template <>
struct ResultTraits<Scalar> {
  static constexpr size_t count = 1;
  static constexpr ArgCode codes[] = {ArgCode::Scalar};
  static void box(Value* out, const Scalar& s) { out[0] = Value(s); }
  static Scalar unbox(Value* v) { return v[0].to_scalar(); }
};
template <class... T>
struct ResultTraits<std::tuple<T...>> {
  static constexpr size_t count = sizeof...(T);
  static constexpr ArgCode codes[] = {ResultTraits<T>::codes[0]...};
  static void box(Value* out, std::tuple<T...>&& t) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      (ResultTraits<T>::box(out + I, std::forward<T>(std::get<I>(t))), ...);
    }
    (std::index_sequence_for<T...>());
  }
  static std::tuple<T...> unbox(Value* v) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(ResultTraits<T>::unbox(v + I)...);
    }
    (std::index_sequence_for<T...>());
  }
};

template <class T>
inline constexpr bool is_written = std::is_lvalue_reference_v<T> &&
                                   !std::is_const_v<std::remove_reference_t<T>>;

template <class R>
struct returns_references : std::false_type {};
template <class T>
struct returns_references<T&> : std::true_type {};
template <class... T>
struct returns_references<std::tuple<T&...>>
    : std::bool_constant<(sizeof...(T) > 0)> {};

// Results that are references name the written arguments, in order: the last
// ones if there are more (out= arguments come last).
template <class R, class... A>
R written_arguments(A&&... args) {
  auto written = std::tuple_cat([](auto&& a) {
    if constexpr (is_written<decltype(a)>) {
      return std::tuple<decltype(a)>(a);
    } else {
      return std::tuple<>();
    }
  }(static_cast<A&&>(args))...);
  constexpr size_t n = std::tuple_size_v<decltype(written)>;
  if constexpr (std::is_lvalue_reference_v<R>) {
    static_assert(n >= 1);
    return std::get<n - 1>(written);
  } else {
    constexpr size_t k = std::tuple_size_v<R>;
    static_assert(n >= k);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return R(std::get<n - k + I>(written)...);
    }
    (std::make_index_sequence<k>());
  }
}

// The index of the first device of `type` among arguments: tensors before
// others. -1 if there is none.
struct DeviceOfArguments {
  DeviceType type;
  int of_tensor = -1;
  int asked = -1;

  void add(const TensorBase& t) {
    if (of_tensor >= 0 || !t.defined()) return;
    if (const Device d = t.device(); d.type() == type) of_tensor = d.index();
  }
  void add(Device d) {
    if (d.type() == type && asked < 0) asked = d.index();
  }
  template <class T>
  void add(const std::optional<T>& v) {
    if (v) add(*v);
  }
  template <class T>
  void add(ArrayRef<T> list) {
    if constexpr (is_tensor<T> ||
                  requires { requires is_tensor<typename T::value_type>; }) {
      for (const T& v : list) add(v);
    }
  }
  void add(ArrayRef<bool>) {}
  // No other type names a device.
  struct Anything {
    template <class T>
    Anything(const T&) {}
  };
  void add(Anything) {}
  int index() const { return of_tensor >= 0 ? of_tensor : asked; }
};

template <class Signature>
struct SignatureTraits;

template <class R, class... A>
struct SignatureTraits<R(A...)> {
  using Unboxed = R (*)(const Kernel*, DispatchKeySet, A...);

  static constexpr ArgCode kArgs[] = {ArgTraits<A>::code..., ArgCode::Void};
  static constexpr CppSignature kSignature = {kArgs, ResultTraits<R>::codes,
                                              sizeof...(A),
                                              ResultTraits<R>::count, false};
  // For kernels alone; callers need not compile call_on_device().
  static void* device_entry() {
    return reinterpret_cast<void*>(&call_on_device);
  }
  static constexpr CppSignature kOfKernel = {
      kArgs, ResultTraits<R>::codes, sizeof...(A), ResultTraits<R>::count,
      false, &device_entry};

  // Boxed entry of an unboxed kernel.
  static void boxed(const Kernel& k, const OperatorEntry&, DispatchKeySet keys,
                    Value* args, size_t, Value* results, size_t) {
    call(reinterpret_cast<Unboxed>(k.unboxed), &k, keys, args, results,
         std::index_sequence_for<A...>());
  }
  template <size_t... I>
  static void call(Unboxed f, const Kernel* k, DispatchKeySet keys,
                   [[maybe_unused]] Value* args,
                   [[maybe_unused]] Value* results, std::index_sequence<I...>) {
    // Braced initialisation: evaluated left to right.
    std::tuple<typename ArgTraits<A>::Holder...> held{
        ArgTraits<A>::hold(args[I])...};
    if constexpr (std::is_void_v<R>) {
      f(k, keys, std::get<I>(held)...);
    } else {
      ResultTraits<R>::box(results, f(k, keys, std::get<I>(held)...));
    }
  }

  // See CppSignature::device_entry.
  static R call_on_device(const Kernel* k, DispatchKeySet keys, A... args) {
    DeviceOfArguments device{keys.highest_backend()};
    (device.add(args), ...);
    const DeviceCall in_device(k->op, device.type, device.index());
    const auto* const real = static_cast<const Kernel*>(k->context);
    if (SY_LIKELY(real->unboxed != nullptr)) {
      return reinterpret_cast<Unboxed>(real->unboxed)(real, keys,
                                                      std::forward<A>(args)...);
    }
    return box_and_call(real, *real->op, keys, std::forward<A>(args)...);
  }

  // Unboxed entry of a boxed kernel.
  static R box_and_call(const Kernel* k, const OperatorEntry& op,
                        DispatchKeySet keys, A... args) {
    constexpr size_t n = sizeof...(A), m = ResultTraits<R>::count;
    Value in[n == 0 ? 1 : n] = {ArgTraits<A>::box(args)...};
    Value out[m == 0 ? 1 : m];
    k->boxed(*k, op, keys, in, n, out, m);
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (returns_references<R>::value) {
      return written_arguments<R>(static_cast<A&&>(args)...);
    } else {
      return ResultTraits<R>::unbox(out);
    }
  }
};

// Calls through a kernel, whichever form it has.
template <class R, class... A>
SY_ALWAYS_INLINE R call_kernel(const Kernel* k, DispatchKeySet keys,
                               A... args) {
  using Traits = SignatureTraits<R(A...)>;
  if (SY_LIKELY(k->unboxed != nullptr)) {
    return reinterpret_cast<typename Traits::Unboxed>(k->unboxed)(
        k, keys, std::forward<A>(args)...);
  }
  return Traits::box_and_call(k, *k->op, keys, std::forward<A>(args)...);
}

// The unboxed form of a plain function (without or with a leading
// DispatchKeySet), known at compile time so that it inlines.
template <auto* F, class Signature>
struct WrapFunction;
template <auto* F, class R, class... A>
struct WrapFunction<F, R(A...)> {
  using Signature = R(A...);
  static constexpr bool takes_keys = false;
  static R unboxed(const Kernel*, DispatchKeySet, A... args) {
    return F(std::forward<A>(args)...);
  }
};
template <auto* F, class R, class... A>
struct WrapFunction<F, R(DispatchKeySet, A...)> {
  using Signature = R(A...);
  static constexpr bool takes_keys = true;
  static R unboxed(const Kernel*, DispatchKeySet keys, A... args) {
    return F(keys, std::forward<A>(args)...);
  }
};

template <auto* F>
Kernel kernel_of() {
  using Wrap = WrapFunction<F, std::remove_pointer_t<decltype(F)>>;
  using Traits = SignatureTraits<typename Wrap::Signature>;
  Kernel k;
  k.unboxed = reinterpret_cast<void*>(&Wrap::unboxed);
  k.boxed = &Traits::boxed;
  k.signature = &Traits::kOfKernel;
  return k;
}

}  // namespace sy::detail

// The kernel that a plain function is: m.impl("add.Tensor", SY_FN(add_npu)).
#define SY_FN(function) (::sy::detail::kernel_of<&(function)>())
