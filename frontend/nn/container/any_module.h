#pragma once

#include <any>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "frontend/nn/module.h"

namespace sy::nn {

namespace detail {

using AnyArguments = std::vector<std::any>;

// How to call a module of a type that is known no more.
struct AnyCalls {
  const std::type_info& type;
  // nullptr unless forward takes a tensor and gives one.
  Tensor (*plain)(Module& m, const Tensor& x);
  // nullptr if forward is overloaded, or a template.
  std::any (*general)(Module& m, AnyArguments& arguments);
};

[[noreturn]] SY_API SY_COLD void wrong_argument(const Module& m, size_t index,
                                                const std::type_info& expected,
                                                const std::type_info& got);
[[noreturn]] SY_API SY_COLD void wrong_count(const Module& m, size_t most,
                                             size_t got);
[[noreturn]] SY_API SY_COLD void wrong_result(const std::type_info& expected,
                                              const std::type_info& got);

template <class A>
std::decay_t<A>& argument(const Module& m, AnyArguments& all, size_t i) {
  auto* const found = std::any_cast<std::decay_t<A>>(&all[i]);
  if (found == nullptr) {
    wrong_argument(m, i, typeid(std::decay_t<A>), all[i].type());
  }
  return *found;
}

// The first I... of the arguments A...; the arguments after them have defaults.
template <class M, class Arguments, size_t... I>
bool call_prefix(M& m, AnyArguments& all, std::index_sequence<I...>,
                 std::any* result) {
  if constexpr (requires {
                  m.forward(
                      std::declval<std::tuple_element_t<I, Arguments>>()...);
                }) {
    if (all.size() != sizeof...(I)) return false;
    using R = decltype(call_module(
        m, argument<std::tuple_element_t<I, Arguments>>(m, all, I)...));
    if constexpr (std::is_void_v<R>) {
      call_module(m,
                  argument<std::tuple_element_t<I, Arguments>>(m, all, I)...);
    } else {
      *result = call_module(
          m, argument<std::tuple_element_t<I, Arguments>>(m, all, I)...);
    }
    return true;
  } else {
    return false;
  }
}

// Calls the module with as many arguments as there are.
template <class M, class Arguments, size_t... N>
bool call_some(M& m, AnyArguments& all, std::index_sequence<N...>,
               std::any* result) {
  return (call_prefix<M, Arguments>(m, all, std::make_index_sequence<N>(),
                                    result) ||
          ...);
}

template <class M, class R, class... A>
std::any call_signature(Module& module, AnyArguments& all) {
  M& m = static_cast<M&>(module);
  std::any result;
  const bool done = call_some<M, std::tuple<A...>>(
      m, all, std::make_index_sequence<sizeof...(A) + 1>(), &result);
  if (!done) wrong_count(module, sizeof...(A), all.size());
  return result;
}
template <class M, class B, class R, class... A>
auto general_call(R (B::*)(A...)) {
  return &call_signature<M, R, A...>;
}
template <class M, class B, class R, class... A>
auto general_call(R (B::*)(A...) const) {
  return &call_signature<M, R, A...>;
}

template <class M>
concept GivesTensor = requires(M& m, const Tensor& x) {
  { m.forward(x) } -> std::convertible_to<Tensor>;
};
template <class M>
concept HasOneForward = requires {
  &M::forward;
};

template <class M>
Tensor plain_call(Module& m, const Tensor& x) {
  return call_module(static_cast<M&>(m), x);
}

// No lambdas in it: clang 16 ends with an error of its own otherwise.
template <class M>
AnyCalls make_any_calls() {
  AnyCalls c{typeid(M), nullptr, nullptr};
  if constexpr (GivesTensor<M>) c.plain = &plain_call<M>;
  if constexpr (HasOneForward<M>) c.general = general_call<M>(&M::forward);
  return c;
}
template <class M>
const AnyCalls* any_calls() {
  static const AnyCalls calls = make_any_calls<M>();
  return &calls;
}

// Converts an argument of a call.
template <class T>
std::any any_argument(T&& value) {
  if constexpr (std::is_convertible_v<T&&, const Tensor&>) {
    return Tensor(std::forward<T>(value));
  } else {
    return std::forward<T>(value);
  }
}

}  // namespace detail

// The result of a module whose type is known no more.
class AnyValue {
 public:
  AnyValue() = default;
  explicit AnyValue(std::any value) : value_(std::move(value)) {}
  // Throws TypeError for another type.
  template <class T = Tensor>
  T get() const {
    const T* const found = std::any_cast<T>(&value_);
    if (found == nullptr) detail::wrong_result(typeid(T), value_.type());
    return *found;
  }
  const std::type_info& type_info() const { return value_.type(); }
  std::any& any() { return value_; }

 private:
  std::any value_;
};

// A module of any type that has a function `forward`. Copies share it.
class SY_API AnyModule {
 public:
  AnyModule() = default;
  template <class M>
  requires std::is_base_of_v<Module, M> AnyModule(std::shared_ptr<M> module)
      : module_(std::move(module)), calls_(detail::any_calls<M>()) {
    module_->set_type(detail::module_type<M>());
  }
  template <class M>
  AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  template <class M>
  requires std::is_base_of_v<Module, M>
  explicit AnyModule(M module)
      : AnyModule(std::make_shared<M>(std::move(module))) {}

  // Calls the module, with its hooks. Arguments have exactly the types that
  // forward takes, without const and references; the last ones may be left out
  // if they have defaults. Throws TypeError, which names the module, else.
  template <class... A>
  AnyValue any_forward(A&&... arguments) const {
    detail::AnyArguments all;
    (all.push_back(detail::any_argument(std::forward<A>(arguments))), ...);
    return call(all);
  }
  template <class R = Tensor, class... A>
  R forward(A&&... arguments) const {
    return any_forward(std::forward<A>(arguments)...).template get<R>();
  }
  Tensor forward(const Tensor& x) const;
  AnyValue call(detail::AnyArguments& arguments) const;

  bool is_empty() const noexcept { return module_.is_empty(); }
  const std::shared_ptr<Module>& ptr() const { return module_.ptr(); }
  // Throws TypeError for another type.
  template <class M>
  std::shared_ptr<M> ptr() const {
    return std::static_pointer_cast<M>(checked(typeid(M)));
  }
  template <class M>
  M& get() const {
    return *ptr<M>();
  }
  const std::type_info& type_info() const { return calls_->type; }
  // Whether forward takes a tensor and gives one.
  bool gives_tensor() const { return calls_->plain != nullptr; }

 private:
  const std::shared_ptr<Module>& checked(const std::type_info& type) const;

  ModuleHolder<Module> module_ = nullptr;
  const detail::AnyCalls* calls_ = nullptr;
};

// {"fc1", Linear(64, 32)}
struct NamedAnyModule {
  template <class M>
  NamedAnyModule(std::string n, M&& m)
      : name_(std::move(n)), module_(std::forward<M>(m)) {}
  const std::string& name() const { return name_; }
  const AnyModule& module() const { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace sy::nn
