#include "frontend/nn/module.h"

#include <algorithm>
#include <unordered_set>

#include "aten/operators.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/demangle.h"
#include "frontend/nn/hook_lists.h"
#include "frontend/nn/tensors.h"

namespace sy::nn {

using detail::joined_path;

namespace {

template <class Dict>
std::string listed(const Dict& dict) {
  std::string all;
  for (const auto& [name, value] : dict) {
    all += (all.empty() ? "'" : ", '") + name + "'";
  }
  return all.empty() ? "none" : all;
}

void prepare_parameter(const std::string& name, const Tensor& tensor,
                       bool requires_grad) {
  if (!tensor.defined()) return;
  SY_CHECK(tensor.is_leaf(), Value,
           "[register_parameter] '{}': expected a leaf, got the result of a "
           "recorded operation: detach it",
           name);
  if (requires_grad != tensor.requires_grad()) {
    tensor.requires_grad_(requires_grad);
  }
}

}  // namespace

Module::Module() = default;
Module::Module(std::string name) : name_(std::move(name)) {}
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;

Module::Module(const Module& other)
    : std::enable_shared_from_this<Module>(other),
      name_(other.name_),
      registered_as_(other.registered_as_),
      parameters_(other.parameters_),
      buffers_(other.buffers_),
      children_(other.children_),
      type_(other.type_),
      training_(other.training_) {
  if (other.hooks_ != nullptr) {
    hooks_ = std::make_unique<detail::ModuleHooks>(*other.hooks_);
  }
  if (!detail::is_cloning()) return;
  for (auto& [name, tensor] : parameters_) tensor = detail::cloned(tensor);
  for (auto& [name, buffer] : buffers_) {
    buffer.tensor = detail::cloned(buffer.tensor);
  }
  for (auto& [name, child] : children_) child = detail::cloned(child);
}

void Module::set_type(const detail::ModuleType* type) {
  if (type->type == typeid(*this)) type_ = type;
}

std::string Module::name() const {
  if (!name_.empty()) return name_;
  std::string type = demangled(typeid(*this).name());
  const size_t arguments = type.find('<');
  const size_t colons = type.rfind("::", arguments);
  if (colons != std::string::npos) type = type.substr(colons + 2);
  const size_t end = type.find('<');
  std::string plain = type.substr(0, end);
  if (plain.size() > 4 && plain.ends_with("Impl")) {
    plain.resize(plain.size() - 4);
  }
  return end == std::string::npos ? plain : plain + type.substr(end);
}

void Module::check_name(std::string_view what, std::string_view name) const {
  const char* const wrong = name.empty() ? "an empty one"
                            : name.find('.') != std::string_view::npos
                                ? "one with a dot"
                            : parameters_.contains(name) ? "that of a parameter"
                            : buffers_.contains(name)    ? "that of a buffer"
                            : children_.contains(name)   ? "that of a module"
                                                         : nullptr;
  SY_CHECK(wrong == nullptr, Value,
           "[register_{}] name: expected a name that {} does not have yet, got "
           "'{}', {}",
           what, this->name(), name, wrong);
}

Tensor& Module::register_parameter(std::string name, Tensor tensor,
                                   bool requires_grad) {
  check_name("parameter", name);
  prepare_parameter(name, tensor, requires_grad);
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::set_parameter(std::string name, Tensor tensor,
                              bool requires_grad) {
  Tensor* const there = parameters_.find(name);
  if (there == nullptr) {
    return register_parameter(std::move(name), std::move(tensor),
                              requires_grad);
  }
  prepare_parameter(name, tensor, requires_grad);
  return *there = std::move(tensor);
}

Tensor& Module::register_buffer(std::string name, Tensor tensor,
                                bool persistent) {
  check_name("buffer", name);
  return buffers_.insert(std::move(name), {std::move(tensor), persistent})
      .tensor;
}

Tensor& Module::set_buffer(std::string name, Tensor tensor, bool persistent) {
  Buffer* const there = buffers_.find(name);
  if (there == nullptr) {
    return register_buffer(std::move(name), std::move(tensor), persistent);
  }
  *there = {std::move(tensor), persistent};
  return there->tensor;
}

void Module::check_module(std::string_view name, const Module* module) const {
  SY_CHECK(module != nullptr, Value,
           "[register_module] '{}': expected a module, got an empty pointer",
           name);
  module->visit("", [&](const std::string& path, const Module& m) {
    SY_CHECK(&m != this, Value,
             "[register_module] '{}': expected a module that does not contain "
             "{}, which registers it; it does{}",
             name, this->name(), path.empty() ? "" : " at '" + path + "'");
  });
}

void Module::add_module(std::string name, std::shared_ptr<Module> module,
                        const detail::ModuleType* type) {
  check_name("module", name);
  check_module(name, module.get());
  module->set_type(type);
  module->registered_as_ = name;
  children_.insert(std::move(name), std::move(module));
  detail::note_module_change();
}

void Module::put_module(const std::string& name, std::shared_ptr<Module> module,
                        const detail::ModuleType* type) {
  std::shared_ptr<Module>* const place = children_.find(name);
  SY_CHECK(place != nullptr, Value,
           "[replace_module] name: expected one of {}, got '{}'",
           listed(children_), name);
  check_module(name, module.get());
  module->set_type(type);
  module->registered_as_ = name;
  *place = std::move(module);
  detail::note_module_change();
}

void Module::unregister_module(const std::string& name) {
  SY_CHECK(children_.contains(name), Value,
           "[unregister_module] name: expected one of {}, got '{}'",
           listed(children_), name);
  children_.erase(name);
  detail::note_module_change();
}

void Module::unregister_parameter(const std::string& name) {
  SY_CHECK(parameters_.contains(name), Value,
           "[unregister_parameter] name: expected one of {}, got '{}'",
           listed(parameters_), name);
  parameters_.erase(name);
}

void Module::unregister_buffer(const std::string& name) {
  SY_CHECK(buffers_.contains(name), Value,
           "[unregister_buffer] name: expected one of {}, got '{}'",
           listed(buffers_), name);
  buffers_.erase(name);
}

void Module::visit(
    const std::string& prefix,
    const std::function<void(const std::string&, Module&)>& f) const {
  std::unordered_set<const Module*> seen;
  const auto go = [&](const auto& self, const std::string& path,
                      const Module& m) -> void {
    if (!seen.insert(&m).second) return;
    f(path, const_cast<Module&>(m));
    for (const auto& [name, child] : m.children_) {
      self(self, joined_path(path, name), *child);
    }
  };
  go(go, prefix, *this);
}

// `each(module, f)` calls f(name, tensor) for the module's own tensors.
template <class Each>
NamedTensors Module::named_tensors(bool recurse, Each&& each) const {
  NamedTensors all;
  std::unordered_set<const TensorImpl*> seen;
  const auto add = [&](const std::string& path, const Module& m) {
    each(m, [&](const std::string& name, const Tensor& tensor) {
      if (!tensor.defined() || !seen.insert(tensor.impl()).second) return;
      all.insert(joined_path(path, name), tensor);
    });
  };
  if (recurse) {
    visit("", add);
  } else {
    add("", *this);
  }
  return all;
}

NamedTensors Module::named_parameters(bool recurse) const {
  return named_tensors(recurse, [](const Module& m, const auto& f) {
    for (const auto& [name, tensor] : m.parameters_) f(name, tensor);
  });
}

NamedTensors Module::named_buffers(bool recurse) const {
  return named_tensors(recurse, [](const Module& m, const auto& f) {
    for (const auto& [name, buffer] : m.buffers_) f(name, buffer.tensor);
  });
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}

std::vector<Tensor> Module::buffers(bool recurse) const {
  return named_buffers(recurse).values();
}

Module::Modules Module::named_modules(const std::string& prefix,
                                      bool include_self) const {
  Modules all;
  visit(prefix, [&](const std::string& path, Module& m) {
    if (&m != this || include_self) all.insert(path, m.shared_from_this());
  });
  return all;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> all;
  visit("", [&](const std::string&, Module& m) {
    if (&m != this || include_self) all.push_back(m.shared_from_this());
  });
  return all;
}

std::vector<std::shared_ptr<Module>> Module::children() const {
  return children_.values();
}

const Module* Module::holder_of(std::string_view op, std::string_view path,
                                std::string_view* last) const {
  const Module* m = this;
  size_t begin = 0;
  for (size_t dot; (dot = path.find('.', begin)) != std::string_view::npos;
       begin = dot + 1) {
    const std::string_view name = path.substr(begin, dot - begin);
    const std::shared_ptr<Module>* const next = m->children_.find(name);
    SY_CHECK(next != nullptr, Value,
             "[{}] '{}': {} has no module '{}'; it has {}", op, path,
             begin == 0 ? m->name()
                        : "'" + std::string(path.substr(0, begin - 1)) + "'",
             name, listed(m->children_));
    m = next->get();
  }
  *last = path.substr(begin);
  return m;
}

Tensor Module::get_parameter(std::string_view path) const {
  std::string_view name;
  const Module* const m = holder_of("get_parameter", path, &name);
  const Tensor* const found = m->parameters_.find(name);
  SY_CHECK(found != nullptr, Value,
           "[get_parameter] '{}': {} has no parameter '{}'; it has {}", path,
           m->name(), name, listed(m->parameters_));
  return *found;
}

Tensor Module::get_buffer(std::string_view path) const {
  std::string_view name;
  const Module* const m = holder_of("get_buffer", path, &name);
  const Buffer* const found = m->buffers_.find(name);
  SY_CHECK(found != nullptr, Value,
           "[get_buffer] '{}': {} has no buffer '{}'; it has {}", path,
           m->name(), name, listed(m->buffers_));
  return found->tensor;
}

std::shared_ptr<Module> Module::get_submodule(std::string_view path) const {
  if (path.empty()) return const_cast<Module*>(this)->shared_from_this();
  std::string_view name;
  const Module* const m = holder_of("get_submodule", path, &name);
  const std::shared_ptr<Module>* const found = m->children_.find(name);
  SY_CHECK(found != nullptr, Value,
           "[get_submodule] '{}': {} has no module '{}'; it has {}", path,
           m->name(), name, listed(m->children_));
  return *found;
}

void Module::apply(const std::function<void(Module&)>& f) {
  apply([&](const std::string&, Module& m) { f(m); });
}

void Module::apply(const std::function<void(const std::string&, Module&)>& f,
                   const std::string& prefix) {
  std::unordered_set<const Module*> seen;
  const auto go = [&](const auto& self, const std::string& path,
                      Module& m) -> void {
    if (!seen.insert(&m).second) return;
    const Modules children = m.children_;  // f may change them
    for (const auto& [name, child] : children) {
      self(self, joined_path(path, name), *child);
    }
    f(path, m);
  };
  go(go, prefix, *this);
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, child] : children_) child->train(on);
}

void Module::requires_grad_(bool on) {
  for (const Tensor& t : parameters()) t.requires_grad_(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& t : parameters()) {
    Tensor& grad = t.mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      const NoGradGuard no_grad;
      grad = grad.detach();
      grad.zero_();
    }
  }
}

void Module::move_tensors(const std::function<Tensor(const Tensor&)>& f) {
  const NoGradGuard no_grad;
  std::vector<Tensor> all = parameters();
  for (const Tensor& t : buffers()) all.push_back(t);
  std::vector<Tensor> data, grads;
  for (const Tensor& t : all) {
    data.push_back(f(t.detach()));
    grads.push_back(t.grad().defined() ? f(t.grad().detach()) : Tensor());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const bool keeps = all[i].requires_grad();
    SY_CHECK(!keeps || is_floating_type(data[i].scalar_type()), Type,
             "[Module::to] expected a floating dtype, got {}",
             data[i].scalar_type());
    all[i].mutable_grad().reset();
    detail::set_data(all[i], data[i]);
    if (grads[i].defined()) all[i].mutable_grad() = grads[i];
  }
}

void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  SY_CHECK(is_floating_type(dtype), Type,
           "[Module::to] dtype: expected a floating dtype, got {}", dtype);
  move_tensors([&](const Tensor& t) {
    const ScalarType own = t.scalar_type();
    return t.to(device, is_floating_type(own) ? dtype : own, non_blocking);
  });
}

void Module::to(ScalarType dtype, bool non_blocking) {
  SY_CHECK(is_floating_type(dtype), Type,
           "[Module::to] dtype: expected a floating dtype, got {}", dtype);
  move_tensors([&](const Tensor& t) {
    return is_floating_type(t.scalar_type()) ? t.to(dtype, non_blocking) : t;
  });
}

void Module::to(Device device, bool non_blocking) {
  move_tensors([&](const Tensor& t) {
    return t.to(device, t.scalar_type(), non_blocking);
  });
}

detail::ModuleHooks& Module::hooks() {
  if (hooks_ == nullptr) hooks_ = std::make_unique<detail::ModuleHooks>();
  return *hooks_;
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  return hooks().forward_pre.add(std::move(hook));
}
HookHandle Module::register_forward_hook(ForwardHook hook) {
  return hooks().forward.add(std::move(hook));
}
HookHandle Module::register_full_backward_pre_hook(BackwardPreHook hook) {
  return hooks().backward_pre.add(std::move(hook));
}
HookHandle Module::register_full_backward_hook(BackwardHook hook) {
  return hooks().backward.add(std::move(hook));
}
HookHandle Module::register_state_dict_hook(StateDictHook hook) {
  return hooks().state_dict.add(std::move(hook));
}
HookHandle Module::register_load_state_dict_pre_hook(StateDictHook hook) {
  return hooks().load_pre.add(std::move(hook));
}
HookHandle Module::register_load_state_dict_post_hook(LoadHook hook) {
  return hooks().load_post.add(std::move(hook));
}

void Module::add_context(Error& e) const {
  e.add_context(registered_as_.empty()
                    ? str("in {}", name())
                    : str("in {} ({})", registered_as_, name()));
}

}  // namespace sy::nn
