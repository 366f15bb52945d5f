#include "frontend/nn/container/sequential.h"

namespace sy::nn {

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const NamedAnyModule& m : modules) push_back(m);
}

SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
  for (auto& [name, module] : modules) add(name, std::move(module));
}

void SequentialImpl::add(std::string name, AnyModule module) {
  SY_CHECK(!module.is_empty(), Value,
           "[Sequential] '{}': expected a module, got an empty AnyModule",
           name);
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

const AnyModule& SequentialImpl::module(size_t i) const {
  SY_CHECK(i < size(), Index, "[Sequential] index: expected at most {}, got {}",
           static_cast<int64_t>(size()) - 1, i);
  return modules_[i];
}

Tensor SequentialImpl::run(const Tensor& x) const {
  SY_CHECK(!modules_.empty(), Value, "[Sequential] forward: it has no modules");
  bool plain = true;
  for (const AnyModule& m : modules_) plain = plain && m.gives_tensor();
  if (!plain) return run(detail::AnyArguments{x}).get<Tensor>();
  Tensor y = modules_[0].forward(x);
  for (size_t i = 1; i < modules_.size(); ++i) y = modules_[i].forward(y);
  return y;
}

AnyValue SequentialImpl::run(detail::AnyArguments inputs) const {
  SY_CHECK(!modules_.empty(), Value, "[Sequential] forward: it has no modules");
  AnyValue value = modules_[0].call(inputs);
  for (size_t i = 1; i < modules_.size(); ++i) {
    detail::AnyArguments next;
    next.push_back(std::move(value.any()));
    value = modules_[i].call(next);
  }
  return value;
}

}  // namespace sy::nn
