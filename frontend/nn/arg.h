#pragma once

#include <utility>

// One option of a class of options: a member name_, a setter that returns the
// object, and access to the value. Members after these are private.
//
//   struct SGDOptions {
//     SY_ARG(double, lr) = 1e-3;
//     SY_ARG(bool, nesterov) = false;
//   };
//   SGDOptions().lr(0.1).nesterov(true);
#define SY_ARG(type, name)                              \
 public:                                                \
  auto name(const type& value)->decltype(*this) {       \
    this->name##_ = value;                              \
    return *this;                                       \
  }                                                     \
  auto name(type&& value)->decltype(*this) {            \
    this->name##_ = std::move(value);                   \
    return *this;                                       \
  }                                                     \
  const type& name() const noexcept { return name##_; } \
  type& name() noexcept { return name##_; }             \
                                                        \
 private:                                               \
  type name##_
