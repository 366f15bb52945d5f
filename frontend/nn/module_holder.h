#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "frontend/nn/clone.h"
#include "frontend/nn/module.h"

namespace sy::nn {

namespace detail {

[[noreturn]] SY_API SY_COLD void holder_is_empty(const std::type_info& type);

// Adds the addresses of all tensors in a value: a tensor, a list, an optional,
// a pair or a tuple of them.
template <class T>
void add_tensors(std::vector<Tensor*>& all, T& value) {
  if constexpr (std::is_base_of_v<Tensor, T>) {
    all.push_back(&value);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    for (Tensor& t : value) all.push_back(&t);
  } else if constexpr (requires {
                         typename T::value_type;
                         value.has_value();
                       }) {
    if (value.has_value()) add_tensors(all, *value);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](auto&... each) { (add_tensors(all, each), ...); }, value);
  }
}

// The type that holds an argument until the module is called: hooks may put
// another tensor there.
template <class A>
using Kept = std::conditional_t<std::is_convertible_v<A&&, const Tensor&>,
                                Tensor, std::decay_t<A>>;

template <class M, class... A>
SY_NOINLINE auto call_with_hooks(M& m, A&&... arguments) {
  std::tuple<Kept<A>...> kept(std::forward<A>(arguments)...);
  std::vector<Tensor*> tensors;
  add_tensors(tensors, kept);
  HookedCall call(m, tensors);
  tensors.clear();
  const auto run = [&] {
    return std::apply(
        [&](auto&... each) { return m.forward(std::forward<A>(each)...); },
        kept);
  };
  if constexpr (std::is_void_v<decltype(run())>) {
    run();
    call.finish(tensors);
  } else {
    auto result = run();
    if constexpr (requires { result.with_tensors(result.tensors()); }) {
      // A value that its copies share: hooks see copies of its tensors.
      std::vector<Tensor> leaves = result.tensors();
      add_tensors(tensors, leaves);
      call.finish(tensors);
      return result.with_tensors(leaves);
    } else {
      add_tensors(tensors, result);
      call.finish(tensors);
      return result;
    }
  }
}

}  // namespace detail

// m.forward(arguments...) with the hooks of the module. An error that forward
// throws gets a line that names the module.
template <class M, class... A>
auto call_module(M& m, A&&... arguments) {
  if (SY_UNLIKELY(thread_state.capture != nullptr)) {
    detail::tell_read(m, &m, sizeof(M));
  }
  try {
    if (SY_UNLIKELY(m.has_hooks())) {
      return detail::call_with_hooks(m, std::forward<A>(arguments)...);
    }
    return m.forward(std::forward<A>(arguments)...);
  } catch (Error& e) {
    m.add_context(e);
    throw;
  }
}

// A pointer to a module that makes the module: `Linear fc(64, 32)`,
// `Linear none = nullptr`. Copies share it.
template <class M>
class ModuleHolder {
 public:
  using ContainedType = M;

  ModuleHolder() : ModuleHolder(std::make_shared<M>()) {}
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<M> module) : impl_(std::move(module)) {
    if (impl_ != nullptr) impl_->set_type(detail::module_type<M>());
  }
  template <class A, class... B>
  requires(sizeof...(B) > 0 ||
           !std::is_base_of_v<ModuleHolder, std::remove_cvref_t<A>>) &&
      std::is_constructible_v<M, A, B...> explicit ModuleHolder(A&& a, B&&... b)
      : ModuleHolder(
            std::make_shared<M>(std::forward<A>(a), std::forward<B>(b)...)) {}
  ModuleHolder(const ModuleHolder& other)
      : impl_(SY_UNLIKELY(detail::is_cloning()) && other.impl_ != nullptr
                  ? std::static_pointer_cast<M>(detail::cloned(other.impl_))
                  : other.impl_) {}
  ModuleHolder(ModuleHolder&&) noexcept = default;
  ModuleHolder& operator=(const ModuleHolder& other) {
    impl_ = other.impl_;
    detail::note_module_change();
    return *this;
  }
  ModuleHolder& operator=(ModuleHolder&& other) noexcept {
    impl_ = std::move(other.impl_);
    detail::note_module_change();
    return *this;
  }

  bool is_empty() const noexcept { return impl_ == nullptr; }
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  // These throw ValueError for an empty holder.
  const std::shared_ptr<M>& ptr() const {
    if (SY_UNLIKELY(impl_ == nullptr)) detail::holder_is_empty(typeid(M));
    return impl_;
  }
  M* get() const { return ptr().get(); }
  // Code that is captured may read all of the module through these.
  M* operator->() const {
    M* const m = get();
    if (SY_UNLIKELY(thread_state.capture != nullptr)) {
      detail::tell_read(*m, m, sizeof(M));
    }
    return m;
  }
  M& operator*() const { return *operator->(); }

  template <class... A>
  auto operator()(A&&... arguments) const {
    return call_module(*get(), std::forward<A>(arguments)...);
  }
  template <class I>
  decltype(auto) operator[](I&& index) const {
    return (*get())[std::forward<I>(index)];
  }

 protected:
  std::shared_ptr<M> impl_;
};

template <class M>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<M>& holder) {
  return stream << static_cast<const Module&>(*holder.get());
}

// `SY_MODULE(Net);` declares Net, the holder of NetImpl.
#define SY_MODULE(Name) SY_MODULE_IMPL(Name, Name##Impl)
#define SY_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::sy::nn::ModuleHolder<ImplType> {  \
   public:                                                \
    using ::sy::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl = ImplType;                                \
  }

}  // namespace sy::nn
