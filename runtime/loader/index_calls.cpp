#include "runtime/loader/index_calls.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "aten/contract/pooling_windows.h"
#include "aten/engine/geometry.h"
#include "aten/tensor.h"

namespace sy::runtime {
namespace {

// The letters of a row, as a template argument.
template <size_t kSize>
struct Letters {
  // NOLINTNEXTLINE: a literal converts
  consteval Letters(const char (&literal)[kSize]) {
    std::copy_n(literal, kSize, text);
  }
  char text[kSize];
};

// An argument as the C++ function takes it; the letters are those of
// lang::IndexFunction.
template <char kLetter>
decltype(auto) read(const Value& v) {
  if constexpr (kLetter == 'l') {
    return v.to_int_list();
  } else if constexpr (kLetter == 'n') {
    return v.to_double();
  } else if constexpr (kLetter == 'b') {
    return v.to_bool();
  } else if constexpr (kLetter == 'o') {
    return v.is_none() ? std::optional<int64_t>() : v.to_int();
  } else if constexpr (kLetter == 't') {
    return v.to_tensor();
  } else if constexpr (kLetter == 'T') {
    const auto list = v.to_tensor_list();
    return TensorList(static_cast<const Tensor*>(list.data()), list.size());
  } else {
    static_assert(kLetter == 'i');
    return v.to_int();
  }
}

Value boxed(bool v) { return v; }
Value boxed(int64_t v) { return v; }
Value boxed(const Dims& v) { return IntArrayRef(v); }

template <Letters kParameters, bool kTakesOp, class F>
Value call(const F& function, const char* op, const Value* const* args) {
  constexpr size_t kCount = std::size(kParameters.text) - 1;
  static_assert(kCount <= kMaxIndexParameters);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    if constexpr (kTakesOp) {
      return boxed(function(op, read<kParameters.text[I]>(*args[I])...));
    } else {
      return boxed(function(read<kParameters.text[I]>(*args[I])...));
    }
  }
  (std::make_index_sequence<kCount>{});
}

constexpr IndexCall kCalls[] = {
#define SY_INDEX_FUNCTION(name, parameters, result, takes_op, function, \
                          header)                                       \
  [](const char* op, const Value* const* args) {                        \
    return call<parameters, takes_op>(                                  \
        [](const auto&... a) { return function(a...); }, op, args);     \
  },
#include "lang/index_functions.inc"
#undef SY_INDEX_FUNCTION
};

}  // namespace

IndexCall index_call(size_t place) {
  SY_INTERNAL_ASSERT(place < std::size(kCalls), "{}", place);
  return kCalls[place];
}

}  // namespace sy::runtime
