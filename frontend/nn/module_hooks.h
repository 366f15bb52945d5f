#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aten/tensor.h"

// Functions of the user that run with a module. Hooks of forward run where a
// module is called as module(x), not by module->forward(x). They see the tensor
// arguments and results, in order, but no other arguments. Several run in the
// order of their registration, global ones first. The call throws what a hook
// throws.

namespace sy::nn {

class Module;
class StateDict;
struct LoadReport;

// It runs before forward. The hook may assign to the inputs.
using ForwardPreHook =
    std::function<void(Module& module, std::vector<Tensor>& inputs)>;
// It runs after forward. The hook may assign to the outputs.
using ForwardHook = std::function<void(Module& module, TensorList inputs,
                                       std::vector<Tensor>& outputs)>;
// It runs when the gradients of all outputs are there, before those of the
// inputs are computed. The hook may assign to them; undefined ones are zero.
using BackwardPreHook =
    std::function<void(Module& module, std::vector<Tensor>& grad_outputs)>;
// It runs when the gradients of all inputs are there. The hook may assign to
// those of the inputs. An input that requires no gradient has an undefined one.
// If none requires one, the hook runs with the gradients of the outputs. A
// module with such hooks may not write to its inputs or outputs in place.
using BackwardHook = std::function<void(
    Module& module, std::vector<Tensor>& grad_inputs, TensorList grad_outputs)>;
// It runs after the module's part of a state dict was made, and before it is
// loaded. The part has names that begin with `prefix`.
using StateDictHook = std::function<void(Module& module, StateDict& state,
                                         const std::string& prefix)>;
// It runs after a state dict was loaded into the module. The hook may change
// the report, so that strict loading accepts a name.
using LoadHook = std::function<void(Module& module, LoadReport& report)>;

namespace detail {

struct HookBase;

}  // namespace detail

// Removes a hook. A copy removes the same. The hook stays if no handle is kept.
class SY_API HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::weak_ptr<detail::HookBase> hook)
      : hook_(std::move(hook)) {}
  // Does nothing the second time.
  void remove();

 private:
  std::weak_ptr<detail::HookBase> hook_;
};

// These hooks run for all modules of the process. Threads may register and
// remove them while others call modules.
SY_API HookHandle register_module_forward_pre_hook(ForwardPreHook hook);
SY_API HookHandle register_module_forward_hook(ForwardHook hook);
SY_API HookHandle register_module_full_backward_pre_hook(BackwardPreHook hook);
SY_API HookHandle register_module_full_backward_hook(BackwardHook hook);
SY_API bool any_global_hooks();

namespace detail {

class Cloning;
class ModuleReads;
class StateLoader;
struct ModuleHooks;

// One call of a module that has hooks: made before it, finish() after.
class SY_API HookedCall {
 public:
  HookedCall(Module& module, const std::vector<Tensor*>& inputs);
  ~HookedCall();
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;
  void finish(const std::vector<Tensor*>& outputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail
}  // namespace sy::nn
