#include "frontend/nn/container/module_list.h"

#include "c10/process/demangle.h"

namespace sy::nn {

ModuleListImpl::ModuleListImpl(const ModuleListImpl& other) : Module(other) {
  for (const Pointer& m : other.modules_) modules_.push_back(detail::cloned(m));
}

ModuleListImpl::Pointer ModuleListImpl::ptr(size_t i) const {
  SY_CHECK(i < size(), Index, "[ModuleList] index: expected at most {}, got {}",
           static_cast<int64_t>(size()) - 1, i);
  return modules_[i];
}

void ModuleListImpl::insert_pointer(size_t at, Pointer module) {
  SY_CHECK(at <= size(), Index,
           "[ModuleList] insert: expected a place up to {}, got {}", size(),
           at);
  register_module(std::to_string(size()), module);
  modules_.insert(modules_.begin() + static_cast<int64_t>(at),
                  std::move(module));
  for (size_t i = at; i < size(); ++i) {
    replace_module(std::to_string(i), modules_[i]);
  }
}

void ModuleListImpl::wrong_type(size_t i,
                                const std::type_info& expected) const {
  fail(ErrorKind::Type, "[ModuleList] {}: expected {}, got {}", i,
       demangled(expected.name()), modules_[i]->name());
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  const std::shared_ptr<Module> module = get_submodule(key);
  unregister_module(key);
  return module;
}

void ModuleDictImpl::clear() {
  for (const std::string& key : keys()) unregister_module(key);
}

void ModuleDictImpl::wrong_type(std::string_view key,
                                const std::type_info& expected) const {
  fail(ErrorKind::Type, "[ModuleDict] '{}': expected {}, got {}", key,
       demangled(expected.name()), (*this)[key]->name());
}

}  // namespace sy::nn
