#include "frontend/nn/utils/parametrize.h"

#include "aten/operators.h"
#include "autograd/meta.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/container/module_list.h"
#include "frontend/nn/tensors.h"

namespace sy::nn::utils::parametrize {

namespace {

constexpr const char* kDict = "parametrizations";

// `value` becomes what `computed` is, history and all, and stays the same
// object: members of the module hold it.
void become(const Tensor& value, const Tensor& computed) {
  nn::detail::set_data(value, computed);
  autograd::Edge edge;
  if (computed.requires_grad())
    edge = autograd::gradient_edge(*computed.impl());
  autograd::set_gradient_edge(*value.impl(), std::move(edge));
}

// A parameter that is computed: its originals, what computes it one after the
// other, and the value as a buffer, so that it goes where the module goes.
class ComputedImpl : public Module {
 public:
  ComputedImpl(const Tensor& value, bool trained) : trained_(trained) {
    value_ = register_buffer("value", value, /*persistent=*/false);
  }
  ComputedImpl(const ComputedImpl& other)
      : Module(other), value_(other.value_), trained_(other.trained_) {
    for (const Parameter& p : other.originals_) originals_.push_back(p);
    for (const auto& p : other.chain_) {
      chain_.push_back(
          std::static_pointer_cast<Parametrization>(nn::detail::cloned(p)));
    }
  }

  void add(std::shared_ptr<Parametrization> p) {
    const std::vector<Tensor> originals = inverse(*p);
    if (originals_.empty()) {
      for (size_t i = 0; i < originals.size(); ++i) {
        const std::string name =
            originals.size() == 1 ? "original" : "original" + std::to_string(i);
        originals_.push_back(
            register_parameter(name, originals[i].detach().clone(), trained_));
      }
    } else {
      const NoGradGuard no_grad;
      for (size_t i = 0; i < originals.size(); ++i) {
        originals_[i].copy_(originals[i]);
      }
    }
    register_module(std::to_string(chain_.size()), p);
    chain_.push_back(std::move(p));
  }

  void refresh() { become(value_, compute()); }
  const Parameter& value() const { return value_; }
  const std::vector<Parameter>& originals() const { return originals_; }
  bool trained() const { return trained_; }

 private:
  Tensor compute() const {
    std::vector<Tensor> now(originals_.begin(), originals_.end());
    for (const auto& p : chain_) now = {p->compute(now)};
    return now[0];
  }
  // Checks `last` before others of the chain, which may keep what right_inverse
  // is given.
  std::vector<Tensor> inverse(Parametrization& last) const {
    const NoGradGuard no_grad;
    std::vector<Tensor> now = last.right_inverse(value_.detach());
    SY_CHECK(!now.empty() && (chain_.empty() || now.size() == 1), Value,
             "[register_parametrization] {}: expected one original of a "
             "parametrization that is not the first, got {}",
             last.name(), now.size());
    const Tensor computed = last.compute(now);
    SY_CHECK(computed.sizes() == value_.sizes() &&
                 computed.scalar_type() == value_.scalar_type(),
             Value,
             "[register_parametrization] {}: expected a result of {} {}, as "
             "the parameter is, got {} {}",
             last.name(), value_.scalar_type(), value_.sizes(),
             computed.scalar_type(), computed.sizes());
    for (size_t i = chain_.size(); i-- > 0;) {
      now = chain_[i]->right_inverse(now[0]);
    }
    return now;
  }

  Parameter value_;
  std::vector<Parameter> originals_;
  std::vector<std::shared_ptr<Parametrization>> chain_;
  bool trained_;
};
SY_MODULE(Computed);

ModuleDictImpl* dict_of(const Module& module) {
  const auto* const found = module.named_children().find(kDict);
  return found == nullptr ? nullptr : (*found)->as<ModuleDict>();
}

ComputedImpl* computed_of(const Module& module, const std::string& name) {
  ModuleDictImpl* const dict = dict_of(module);
  return dict != nullptr && dict->contains(name) ? (*dict)[name]->as<Computed>()
                                                 : nullptr;
}

}  // namespace

void refresh(const Module& module) {
  ModuleDictImpl* const dict = dict_of(module);
  if (dict == nullptr) return;
  for (const auto& [name, m] : *dict) m->as<Computed>()->refresh();
}

namespace detail {

bool holds_computed_value(const Module& module) {
  return module.as<Computed>() != nullptr;
}

void add_parametrization(Module& module, const std::string& name,
                         std::shared_ptr<Parametrization> p) {
  SY_CHECK(p != nullptr, Value,
           "[register_parametrization] parametrization: expected one, got an "
           "empty pointer");
  if (ComputedImpl* const there = computed_of(module, name)) {
    there->refresh();
    there->add(std::move(p));
    there->refresh();
    return;
  }
  const Tensor value = module.get_parameter(name);
  SY_CHECK(value.defined() && name.find('.') == std::string::npos, Value,
           "[register_parametrization] name: expected a parameter of {} "
           "itself, got '{}'",
           module.name(), name);
  const bool trained = value.requires_grad();
  value.requires_grad_(false);
  Computed computed(value, trained);
  try {
    computed->add(std::move(p));
  } catch (...) {
    value.requires_grad_(trained);
    throw;
  }
  value.mutable_grad().reset();
  module.unregister_parameter(name);
  ModuleDictImpl* dict = dict_of(module);
  if (dict == nullptr) {
    dict = module.register_module(kDict, ModuleDict()).get();
    // It knows the module by its argument, so that it works in clones.
    module.register_forward_pre_hook(
        [](Module& m, std::vector<Tensor>&) { refresh(m); });
  }
  dict->insert(name, computed);
  computed->refresh();
}

}  // namespace detail

bool is_parametrized(const Module& module, const std::string& name) {
  const ModuleDictImpl* const dict = dict_of(module);
  return dict != nullptr &&
         (name.empty() ? !dict->empty() : dict->contains(name));
}

void remove_parametrizations(Module& module, const std::string& name,
                             bool leave_parametrized) {
  ComputedImpl* const computed = computed_of(module, name);
  SY_CHECK(computed != nullptr, Value,
           "[remove_parametrizations] name: expected a parameter of {} that "
           "is computed, got '{}'",
           module.name(), name);
  SY_CHECK(leave_parametrized || computed->originals().size() == 1, Value,
           "[remove_parametrizations] '{}': expected one original, got {}: "
           "only the value can stay",
           name, computed->originals().size());
  if (leave_parametrized) computed->refresh();
  const Tensor value = computed->value();
  const bool trained = computed->trained();
  const Tensor data =
      leave_parametrized ? value : Tensor(computed->originals()[0]);
  become(value, data.detach().clone());
  dict_of(module)->pop(name);
  if (dict_of(module)->empty()) module.unregister_module(kDict);
  module.register_parameter(name, value, trained);
}

}  // namespace sy::nn::utils::parametrize
