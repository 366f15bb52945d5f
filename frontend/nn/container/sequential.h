#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "frontend/nn/container/any_module.h"

namespace sy::nn {

// Modules that run one after the other: each gets the result of the one
// before.
//
//   Sequential net(Linear(64, 32), ReLU(), Linear(32, 10));
//   Sequential net({{"hidden", Linear(64, 32)}, {"relu", ReLU()}});
class SY_API SequentialImpl : public Module {
 public:
  SequentialImpl() = default;
  template <class M, class... More>
  requires(!std::is_base_of_v<SequentialImpl, std::remove_cvref_t<M>> ||
           sizeof...(More) > 0) explicit SequentialImpl(M&& first,
                                                        More&&... more) {
    push_back(std::forward<M>(first));
    (push_back(std::forward<More>(more)), ...);
  }
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules);

  // Throws ValueError if there are no modules, TypeError if a module does not
  // take what comes, or the last one does not give an R.
  template <class R = Tensor, class... A>
  R forward(A&&... inputs) {
    if constexpr (std::is_same_v<R, Tensor> && sizeof...(A) == 1 &&
                  (std::is_convertible_v<A&&, const Tensor&> && ...)) {
      return run(inputs...);
    } else {
      detail::AnyArguments all;
      (all.push_back(detail::any_argument(std::forward<A>(inputs))), ...);
      return run(std::move(all)).template get<R>();
    }
  }

  // Adds a module at the end: a holder, a pointer, a module or an AnyModule.
  // Its name is its place unless one is given.
  template <class M>
  void push_back(M&& module) {
    add(std::to_string(size()), AnyModule(std::forward<M>(module)));
  }
  template <class M>
  void push_back(std::string name, M&& module) {
    add(std::move(name), AnyModule(std::forward<M>(module)));
  }
  void push_back(const NamedAnyModule& m) { add(m.name(), m.module()); }
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& m : modules) push_back(m);
  }

  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }
  auto begin() { return modules_.begin(); }
  auto end() { return modules_.end(); }
  auto begin() const { return modules_.begin(); }
  auto end() const { return modules_.end(); }
  // Throw IndexError, and TypeError for another type.
  std::shared_ptr<Module> ptr(size_t i) const { return module(i).ptr(); }
  template <class M>
  std::shared_ptr<M> ptr(size_t i) const {
    return module(i).ptr<M>();
  }
  template <class M>
  M& at(size_t i) const {
    return module(i).get<M>();
  }
  std::shared_ptr<Module> operator[](size_t i) const { return ptr(i); }

 private:
  void add(std::string name, AnyModule module);
  const AnyModule& module(size_t i) const;
  Tensor run(const Tensor& x) const;
  AnyValue run(detail::AnyArguments inputs) const;

  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};

// A function as a module, with arguments bound after the first:
// Functional(sy::leaky_relu, 0.2).
class SY_API FunctionalImpl : public Module {
 public:
  using Function = std::function<Tensor(Tensor)>;
  explicit FunctionalImpl(Function f) : function_(std::move(f)) {}
  template <class F, class... A>
  requires(sizeof...(A) > 0) FunctionalImpl(F f, A... bound)
      : FunctionalImpl([f = std::move(f), bound...](Tensor x) {
          return f(x, bound...);
        }) {}
  Tensor forward(Tensor input) const { return function_(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
SY_MODULE(Functional);

}  // namespace sy::nn
