#include "frontend/nn/clone.h"

#include <unordered_map>

#include "aten/operators.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/demangle.h"
#include "frontend/nn/hook_lists.h"
#include "frontend/nn/module.h"
#include "frontend/nn/tensors.h"

namespace sy::nn {

namespace detail {

// One call of Module::clone(): what each tensor and module became.
class Cloning {
 public:
  Cloning(const Module& root, std::optional<Device> device) {
    root.visit("", [&](const std::string& path, Module& m) {
      paths_.emplace(&m, path);
      const auto add = [&](const std::string& name, const Tensor& t) {
        if (t.defined()) {
          copy(t, joined_path(path, name), device);
        }
      };
      for (const auto& [name, tensor] : m.parameters_) add(name, tensor);
      for (const auto& [name, buffer] : m.buffers_) add(name, buffer.tensor);
      module_uses_.emplace_back(&m, m.weak_from_this().use_count());
    });
    for (auto& [impl, made] : tensors_) made.uses = impl->use_count();
    before_ = current;
    current = this;
  }
  ~Cloning() { current = before_; }
  Cloning(const Cloning&) = delete;
  Cloning& operator=(const Cloning&) = delete;

  Tensor tensor(const Tensor& t) const {
    const auto found = tensors_.find(t.impl());
    return found == tensors_.end() ? t : found->second.copy;
  }

  std::shared_ptr<Module> module(const std::shared_ptr<Module>& m) {
    if (m == nullptr) return m;
    const auto path = paths_.find(m.get());
    if (path == paths_.end()) return m;  // no part of what is cloned
    const auto found = modules_.find(m.get());
    if (found != modules_.end()) return found->second;
    const ModuleType* const type = m->type_;
    const Module& exact = *m;
    SY_CHECK(type != nullptr && type->type == typeid(exact), NotImplemented,
             "[clone] {}: clone() does not know its type, because it was never "
             "held by a ModuleHolder or registered as one: use "
             "sy::nn::clone(pointer), with a pointer to that type",
             describe(*m));
    std::shared_ptr<Module> made = type->copy(exact);
    SY_CHECK(made != nullptr, NotImplemented,
             "[clone] {}: its type has no copy constructor", describe(*m));
    return modules_.emplace(m.get(), std::move(made)).first->second;
  }

  // Whether the copy keeps something of the old module in a member that did
  // not follow.
  void check() const {
    for (const auto& [impl, made] : tensors_) {
      SY_CHECK(impl->use_count() <= made.uses, NotImplemented,
               "[clone] {}: the module keeps it in a member that does not "
               "follow the copy: expected a sy::nn::Parameter, got another "
               "type, such as sy::Tensor",
               "'" + made.path + "'");
    }
    for (const auto& [m, uses] : module_uses_) {
      SY_CHECK(m->weak_from_this().use_count() <= uses, NotImplemented,
               "[clone] {}: a module keeps it in a member that does not follow "
               "the copy: expected a holder (SY_MODULE), got another type, "
               "such as std::shared_ptr",
               describe(*m));
    }
  }

  static thread_local Cloning* current;

 private:
  struct Made {
    Tensor copy;
    std::string path;
    size_t uses = 0;
  };

  void copy(const Tensor& t, std::string path, std::optional<Device> device) {
    Made& made = tensors_[t.impl()];
    if (made.copy.defined()) return;
    const NoGradGuard no_grad;
    const Tensor data = t.detach();
    made.copy = device.has_value() && *device != t.device()
                    ? data.to(*device, t.scalar_type())
                    : data.clone();
    if (t.requires_grad()) made.copy.requires_grad_();
    made.path = std::move(path);
  }
  std::string describe(const Module& m) const {
    const std::string& path = paths_.find(&m)->second;
    return path.empty() ? m.name() : str("'{}' ({})", path, m.name());
  }

  std::unordered_map<const TensorImpl*, Made> tensors_;
  std::unordered_map<const Module*, std::shared_ptr<Module>> modules_;
  std::unordered_map<const Module*, std::string> paths_;
  std::vector<std::pair<const Module*, long>> module_uses_;
  Cloning* before_;
};

thread_local Cloning* Cloning::current = nullptr;

bool is_cloning() { return Cloning::current != nullptr; }

std::shared_ptr<Module> cloned(const std::shared_ptr<Module>& module) {
  Cloning* const now = Cloning::current;
  return now == nullptr ? module : now->module(module);
}

Tensor cloned(const Tensor& tensor) {
  const Cloning* const now = Cloning::current;
  return now == nullptr || !tensor.defined() ? tensor : now->tensor(tensor);
}

void holder_is_empty(const std::type_info& type) {
  fail(ErrorKind::Value, "[ModuleHolder] expected a {}, got an empty holder",
       demangled(type.name()));
}

}  // namespace detail

std::shared_ptr<Module> Module::clone(std::optional<Device> device) const {
  const std::shared_ptr<Module> self =
      const_cast<Module*>(this)->shared_from_this();
  detail::Cloning cloning(*this, device);
  std::shared_ptr<Module> made = cloning.module(self);
  cloning.check();
  return made;
}

}  // namespace sy::nn
