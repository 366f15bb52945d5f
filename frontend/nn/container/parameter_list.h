#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/nn/module.h"

namespace sy::nn {

// Parameters by place.
class SY_API ParameterListImpl : public Module {
 public:
  ParameterListImpl() = default;
  template <class... T>
  requires(sizeof...(T) > 0 &&
           (std::is_convertible_v<const T&, Tensor> &&
            ...)) explicit ParameterListImpl(const T&... tensors) {
    (append(tensors), ...);
  }

  // Adds a tensor at the end. One that requires no gradient stays as it is.
  void append(const Tensor& tensor);
  template <class Container>
  void extend(const Container& tensors) {
    for (const Tensor& t : tensors) append(t);
  }

  size_t size() const noexcept { return tensors_.size(); }
  bool is_empty() const noexcept { return tensors_.empty(); }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  // Throws IndexError.
  const Tensor& at(size_t i) const;
  const Tensor& operator[](size_t i) const { return at(i); }

  void pretty_print(std::ostream& stream) const override;

 private:
  std::vector<Parameter> tensors_;
};
SY_MODULE(ParameterList);

// Parameters by key, in the order in which they were inserted.
class SY_API ParameterDictImpl : public Module {
 public:
  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const NamedTensors& tensors) { update(tensors); }

  // A key that is there gets the new tensor, at the end.
  void insert(const std::string& key, const Tensor& tensor);
  void update(const NamedTensors& tensors) {
    for (const auto& [key, tensor] : tensors) insert(key, tensor);
  }
  // Takes a tensor out. Throws ValueError if there is none.
  Tensor pop(const std::string& key);
  void clear();

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  size_t size() const { return tensors_.size(); }
  bool empty() const { return tensors_.empty(); }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  std::vector<std::string> keys() const { return tensors_.keys(); }
  std::vector<Tensor> values() const;
  // Throws IndexError if there is none.
  const Tensor& operator[](std::string_view key) const { return tensors_[key]; }

  void pretty_print(std::ostream& stream) const override;

 private:
  const Parameter* find(std::string_view key) const {
    return tensors_.find(key);
  }

  OrderedDict<std::string, Parameter> tensors_;
};
SY_MODULE(ParameterDict);

}  // namespace sy::nn
