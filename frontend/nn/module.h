#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/io/named_tensors.h"
#include "frontend/io/ordered_dict.h"
#include "frontend/nn/clone.h"
#include "frontend/nn/module_hooks.h"
#include "frontend/nn/module_reads.h"
#include "frontend/nn/state_dict.h"

namespace sy::serialize {
class InputArchive;
class OutputArchive;
}  // namespace sy::serialize

namespace sy::nn {

template <class M>
class ModuleHolder;

// A part of a model: parameters, buffers and modules by name. Deriving types
// add a function `forward`, which a ModuleHolder calls as module(x).
//
//   struct Net : sy::nn::Module {
//     Net() { hidden = register_module("hidden", sy::nn::Linear(64, 32)); }
//     sy::Tensor forward(const sy::Tensor& x) { return hidden(x).relu(); }
//     sy::nn::Linear hidden{nullptr};
//   };
//
// Names are not empty, have no dot, and stand once among the parameters,
// buffers and modules of a module: else ValueError. One thread at a time may
// change a module; others may run `forward` meanwhile only if they touch
// nothing that changes.
class SY_API Module : public std::enable_shared_from_this<Module> {
 public:
  using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;

  Module();
  // A name for messages and prints, in place of the type's.
  explicit Module(std::string name);
  // Copies share parameters, buffers and modules; clone() makes new ones.
  Module(const Module& other);
  Module(Module&&) noexcept;
  Module& operator=(const Module&) = delete;
  Module& operator=(Module&&) = delete;
  virtual ~Module();

  // "Linear" for LinearImpl.
  std::string name() const;
  // The state of the type's format, kept in state dicts. A type that changes
  // what it stores raises it and reads older ones in load_from_state_dict().
  virtual int64_t version() const { return 1; }

  // Registers a tensor that is trained. An undefined one stands for none: a
  // bias that is switched off. Throws ValueError for a name that is not free,
  // and for a tensor that is the result of a recorded operation.
  Tensor& register_parameter(std::string name, Tensor tensor,
                             bool requires_grad = true);
  // Registers a tensor that is not trained. State dicts leave out a tensor
  // that is not persistent.
  Tensor& register_buffer(std::string name, Tensor tensor,
                          bool persistent = true);
  // The same, or in the place of the one of that name: for layers that make
  // their tensors anew.
  Tensor& set_parameter(std::string name, Tensor tensor,
                        bool requires_grad = true);
  Tensor& set_buffer(std::string name, Tensor tensor, bool persistent = true);
  // Registers a module. Throws ValueError for nullptr, and for a module that
  // contains this one.
  template <class M>
  std::shared_ptr<M> register_module(std::string name,
                                     std::shared_ptr<M> module) {
    add_module(std::move(name), module, detail::module_type<M>());
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  // The same in place of the module of that name.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name,
                                    std::shared_ptr<M> module) {
    put_module(name, module, detail::module_type<M>());
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name,
                                    ModuleHolder<M> holder) {
    return replace_module(name, holder.ptr());
  }
  // Throw ValueError if there is none of that name.
  void unregister_module(const std::string& name);
  void unregister_parameter(const std::string& name);
  void unregister_buffer(const std::string& name);

  // Defined parameters and buffers, each once, of this module and, with
  // `recurse`, of all below it. Names are paths: "encoder.0.weight".
  std::vector<Tensor> parameters(bool recurse = true) const;
  NamedTensors named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  NamedTensors named_buffers(bool recurse = true) const;
  // Modules in the order of registration, each once, a module before those
  // below it.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  Modules named_modules(const std::string& prefix = "",
                        bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  const Modules& named_children() const { return children_; }
  // These get what a path, "encoder.0.weight", leads to. They throw ValueError,
  // which names the module where the path ends and what is there.
  // get_submodule() takes "" for this one.
  Tensor get_parameter(std::string_view path) const;
  Tensor get_buffer(std::string_view path) const;
  std::shared_ptr<Module> get_submodule(std::string_view path) const;

  // Calls a function for this module and all below it, each once, children
  // first as Python does.
  void apply(const std::function<void(Module&)>& f);
  void apply(const std::function<void(const std::string& path, Module&)>& f,
             const std::string& prefix = "");

  // Sets the mode, for layers that act differently while training, such as
  // Dropout.
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const {
    if (SY_UNLIKELY(thread_state.capture != nullptr)) {
      detail::tell_read(*this, this, sizeof(Module));
    }
    return training_;
  }
  void requires_grad_(bool on = true);
  // Drops the gradients of all parameters, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  // Move all parameters, buffers and gradients. Tensors stay the same objects:
  // optimizers and members keep them. A dtype is for floating tensors only.
  void to(Device device, ScalarType dtype, bool non_blocking = false);
  void to(ScalarType dtype, bool non_blocking = false);
  void to(Device device, bool non_blocking = false);
  void cpu() { to(Device(kCPU)); }
  void cuda() { to(Device(kCUDA)); }
  void half() { to(kHalf); }
  void bfloat16() { to(kBFloat16); }

  // A copy of the same type with copies of all tensors; what this module shares
  // (a tensor or a module that stands twice) the copy shares in the same way.
  // Hooks come along. The copy is made by the type's copy constructor, whose
  // members of type Parameter and ModuleHolder follow. Throws
  // NotImplementedError, with the path, for a type that cannot be copied, that
  // was never in a ModuleHolder or registered (nn::clone(pointer) knows it), or
  // that keeps a parameter or a module in members of other types.
  std::shared_ptr<Module> clone(
      std::optional<Device> device = std::nullopt) const;

  // Tells clone() how to copy this module: detail::module_type<M>(). The type
  // of a base is left alone.
  void set_type(const detail::ModuleType* type);

  // All parameters and persistent buffers by path, and what extra_state()
  // gives as "path._extra_state". They share memory with the module's; none
  // requires a gradient.
  StateDict state_dict(const std::string& prefix = "") const;
  // Copies the tensors of a state dict into those of the module, converted to
  // their dtype and device. Throws ValueError, which lists everything at once:
  // tensors of other sizes and, if `strict`, missing and unexpected names.
  // Nothing is changed then. Without `strict` the result lists them. With
  // `assign` the module takes the tensors themselves.
  LoadReport load_state_dict(const StateDict& state, bool strict = true,
                             bool assign = false);

  // sy::save(module, path) and sy::load(module, path) of <sy/io.h> call these,
  // for files of torch::save and torch::load. Files have the same tensors as
  // state dicts. load() throws what load_state_dict() throws.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  // Whether archives have a part for it.
  virtual bool is_serializable() const { return true; }

  // State beyond tensors by name. A module that has some overrides both.
  virtual Tensor extra_state() const { return {}; }
  virtual void set_extra_state(const Tensor& state);

  // Hooks; module_hooks.h says when each kind runs. The handle removes it.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  HookHandle register_forward_hook(ForwardHook hook);
  HookHandle register_full_backward_pre_hook(BackwardPreHook hook);
  HookHandle register_full_backward_hook(BackwardHook hook);
  HookHandle register_state_dict_hook(StateDictHook hook);
  HookHandle register_load_state_dict_pre_hook(StateDictHook hook);
  HookHandle register_load_state_dict_post_hook(LoadHook hook);

  // The text of a print inside of the brackets: "in_features=64,
  // out_features=32".
  virtual std::string extra_repr() const { return ""; }
  // "Linear(in_features=64, out_features=32)"; modules below in lines.
  virtual void pretty_print(std::ostream& stream) const;

  // This module as an M; nullptr if it is none. M may be a holder.
  template <class M>
  auto* as() {
    if constexpr (requires { typename M::ContainedType; }) {
      return dynamic_cast<typename M::ContainedType*>(this);
    } else {
      return dynamic_cast<M*>(this);
    }
  }
  template <class M>
  const auto* as() const {
    return const_cast<Module*>(this)->as<M>();
  }

 protected:
  // Reads a state dict of an older version: renames or adds what this version
  // wants. `state` has the names of the whole model, those of this module after
  // `prefix`; `found` is the version in the dict, 0 if it has none.
  virtual void upgrade_state_dict(StateDict& state, const std::string& prefix,
                                  int64_t found) const;

 private:
  friend class detail::Cloning;
  friend class detail::HookedCall;
  friend class detail::ModuleReads;
  friend class detail::StateLoader;
  template <class M>
  friend class ModuleHolder;
  template <class M, class... A>
  friend auto call_module(M& m, A&&... arguments);

  struct Buffer {
    Tensor tensor;
    bool persistent;
  };

  void add_module(std::string name, std::shared_ptr<Module> module,
                  const detail::ModuleType* type);
  void put_module(const std::string& name, std::shared_ptr<Module> module,
                  const detail::ModuleType* type);
  void check_module(std::string_view name, const Module* module) const;
  void check_name(std::string_view what, std::string_view name) const;

  // Calls f(path, module) for each module once, a module before its children.
  void visit(const std::string& prefix,
             const std::function<void(const std::string&, Module&)>& f) const;
  template <class Each>
  NamedTensors named_tensors(bool recurse, Each&& each) const;
  void move_tensors(const std::function<Tensor(const Tensor&)>& f);
  // The module before the last dot of a path, which becomes its last name.
  const Module* holder_of(std::string_view op, std::string_view path,
                          std::string_view* last) const;
  bool has_hooks() const { return hooks_ != nullptr || any_global_hooks(); }
  detail::ModuleHooks& hooks();
  // For errors thrown in forward(): "in fc1 (Linear)".
  void add_context(Error& e) const;

  std::string name_, registered_as_;
  OrderedDict<std::string, Tensor> parameters_;
  OrderedDict<std::string, Buffer> buffers_;
  Modules children_;
  std::unique_ptr<detail::ModuleHooks> hooks_;  // nullptr if there are none
  const detail::ModuleType* type_ = nullptr;
  bool training_ = true;
};

SY_API std::ostream& operator<<(std::ostream& stream, const Module& module);

}  // namespace sy::nn

#include "frontend/nn/module_holder.h"
