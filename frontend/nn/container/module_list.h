#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "frontend/nn/module.h"

namespace sy::nn {

// Modules by place. It has no forward.
class SY_API ModuleListImpl : public Module {
 public:
  using Pointer = std::shared_ptr<Module>;

  ModuleListImpl() = default;
  ModuleListImpl(const ModuleListImpl& other);
  template <class M, class... More>
  requires(!std::is_base_of_v<ModuleListImpl, std::remove_cvref_t<M>> ||
           sizeof...(More) > 0) explicit ModuleListImpl(const M& first,
                                                        const More&... more) {
    push_back(first);
    (push_back(more), ...);
  }

  // Adds a module at the end: a holder or a pointer.
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(holder.ptr());
  }
  template <class M>
  void push_back(const std::shared_ptr<M>& module) {
    register_module(std::to_string(size()), module);
    modules_.push_back(module);
  }
  template <class M>
  void append(const M& module) {
    push_back(module);
  }
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& m : modules) push_back(m);
  }
  // Adds a module before that at a place. Throws IndexError.
  template <class M>
  void insert(size_t at, const ModuleHolder<M>& holder) {
    holder->set_type(detail::module_type<M>());
    insert_pointer(at, holder.ptr());
  }

  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }
  auto begin() { return modules_.begin(); }
  auto end() { return modules_.end(); }
  auto begin() const { return modules_.begin(); }
  auto end() const { return modules_.end(); }
  // Throws IndexError.
  Pointer ptr(size_t i) const;
  Pointer operator[](size_t i) const { return ptr(i); }
  // Throws TypeError for another type.
  template <class M>
  std::shared_ptr<M> ptr(size_t i) const {
    auto found = std::dynamic_pointer_cast<M>(ptr(i));
    if (found == nullptr) wrong_type(i, typeid(M));
    return found;
  }
  template <class M>
  M& at(size_t i) const {
    return *ptr<M>(i);
  }

 private:
  void insert_pointer(size_t at, Pointer module);
  [[noreturn]] void wrong_type(size_t i, const std::type_info& expected) const;

  std::vector<Pointer> modules_;
};
SY_MODULE(ModuleList);

// Modules by key, in the order in which they were inserted.
class SY_API ModuleDictImpl : public Module {
 public:
  using Item = std::pair<std::string, std::shared_ptr<Module>>;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const std::vector<Item>& modules) { update(modules); }
  explicit ModuleDictImpl(const Modules& modules) { update(modules); }

  // A key that is there gets the new module.
  template <class M>
  void insert(const std::string& key, const ModuleHolder<M>& holder) {
    insert(key, holder.ptr());
  }
  template <class M>
  void insert(const std::string& key, const std::shared_ptr<M>& module) {
    if (contains(key)) {
      replace_module(key, module);
    } else {
      register_module(key, module);
    }
  }
  template <class Items>
  void update(const Items& items) {
    for (const auto& [key, module] : items) insert(key, module);
  }
  // Takes a module out. Throws ValueError if there is none.
  std::shared_ptr<Module> pop(const std::string& key);
  void clear();

  bool contains(std::string_view key) const {
    return named_children().contains(key);
  }
  size_t size() const { return named_children().size(); }
  bool empty() const { return named_children().empty(); }
  auto begin() const { return named_children().begin(); }
  auto end() const { return named_children().end(); }
  const std::vector<Modules::Item>& items() const {
    return named_children().items();
  }
  std::vector<std::string> keys() const { return named_children().keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return children(); }
  // Throws IndexError if there is none.
  std::shared_ptr<Module> operator[](std::string_view key) const {
    return named_children()[key];
  }
  // Throws TypeError for another type.
  template <class M>
  std::shared_ptr<M> ptr(std::string_view key) const {
    auto found = std::dynamic_pointer_cast<M>((*this)[key]);
    if (found == nullptr) wrong_type(key, typeid(M));
    return found;
  }
  template <class M>
  M& at(std::string_view key) const {
    return *ptr<M>(key);
  }

 private:
  [[noreturn]] void wrong_type(std::string_view key,
                               const std::type_info& expected) const;
};
SY_MODULE(ModuleDict);

}  // namespace sy::nn
