#include "frontend/nn/container/parameter_list.h"

#include <ostream>

namespace sy::nn {

namespace {

void print(std::ostream& stream, const std::string& key, const Tensor& t) {
  stream << "\n  (" << key << "): Parameter of "
         << str("{} {} on {}", t.scalar_type(), t.sizes(), t.device());
}

}  // namespace

void ParameterListImpl::append(const Tensor& tensor) {
  tensors_.push_back(register_parameter(std::to_string(size()), tensor,
                                        tensor.requires_grad()));
}

const Tensor& ParameterListImpl::at(size_t i) const {
  SY_CHECK(i < size(), Index,
           "[ParameterList] index: expected at most {}, got {}",
           static_cast<int64_t>(size()) - 1, i);
  return tensors_[i];
}

void ParameterListImpl::pretty_print(std::ostream& stream) const {
  stream << name() << "(";
  for (size_t i = 0; i < size(); ++i) {
    print(stream, std::to_string(i), tensors_[i]);
  }
  stream << (tensors_.empty() ? ")" : "\n)");
}

void ParameterDictImpl::insert(const std::string& key, const Tensor& tensor) {
  if (contains(key)) pop(key);
  tensors_.insert(key, register_parameter(key, tensor, tensor.requires_grad()));
}

Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor tensor = get_parameter(key);
  unregister_parameter(key);
  tensors_.erase(key);
  return tensor;
}

void ParameterDictImpl::clear() {
  for (const std::string& key : keys()) pop(key);
}

std::vector<Tensor> ParameterDictImpl::values() const {
  std::vector<Tensor> all;
  for (const auto& [key, tensor] : tensors_) all.push_back(tensor);
  return all;
}

void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  stream << name() << "(";
  for (const auto& [key, tensor] : tensors_) print(stream, key, tensor);
  stream << (tensors_.empty() ? ")" : "\n)");
}

}  // namespace sy::nn
