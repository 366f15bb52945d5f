#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <typeinfo>

#include "aten/tensor.h"

namespace sy::nn {

class Module;

namespace detail {

// How to copy a module of its own type.
struct ModuleType {
  const std::type_info& type;
  // nullptr: the type has no copy constructor.
  std::shared_ptr<Module> (*copy)(const Module& m);
};

// While Module::clone() runs, copies of members are what the new module has.
// Else they are what they were.
SY_API bool is_cloning();
SY_API std::shared_ptr<Module> cloned(const std::shared_ptr<Module>& module);
SY_API Tensor cloned(const Tensor& tensor);

template <class M>
const ModuleType* module_type() {
  static constexpr auto copy = [](const Module& m) -> std::shared_ptr<Module> {
    if constexpr (std::is_copy_constructible_v<M>) {
      return std::make_shared<M>(static_cast<const M&>(m));
    } else {
      return nullptr;
    }
  };
  static const ModuleType type{typeid(M), copy};
  return &type;
}

}  // namespace detail

// A member that holds a parameter or a buffer, and that follows its module when
// that is cloned:  Parameter weight = register_parameter("weight", t);
class Parameter : public Tensor {
 public:
  Parameter() = default;
  Parameter(Tensor t) : Tensor(std::move(t)) {}
  Parameter(const Parameter& other)
      : Tensor(SY_UNLIKELY(detail::is_cloning())
                   ? detail::cloned(static_cast<const Tensor&>(other))
                   : static_cast<const Tensor&>(other)) {}
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(const Parameter&) = default;
  Parameter& operator=(Parameter&&) noexcept = default;
};

// Module::clone() of a module whose type is known here: works for any type with
// a copy constructor.
template <class M>
std::shared_ptr<M> clone(const std::shared_ptr<M>& module,
                         std::optional<Device> device = std::nullopt) {
  module->set_type(detail::module_type<M>());
  return std::static_pointer_cast<M>(module->clone(device));
}

}  // namespace sy::nn
