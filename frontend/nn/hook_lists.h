#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "frontend/nn/module_hooks.h"

namespace sy::nn::detail {

struct HookBase {
  std::atomic<bool> active{true};
  std::atomic<int>* count = nullptr;  // of the active ones, if anyone counts
};

template <class F>
struct HookEntry : HookBase {
  explicit HookEntry(F f) : call(std::move(f)) {}
  const F call;
};

// Hooks of one kind. Copies share them.
template <class F>
struct HookList {
  std::vector<std::shared_ptr<HookEntry<F>>> entries;

  HookHandle add(F f, std::atomic<int>* count = nullptr) {
    std::erase_if(entries, [](const auto& e) { return !e->active; });
    auto entry = std::make_shared<HookEntry<F>>(std::move(f));
    if (count != nullptr) {
      entry->count = count;
      ++*count;
    }
    entries.push_back(entry);
    return HookHandle(entry);
  }
  bool empty() const {
    for (const auto& e : entries) {
      if (e->active) return false;
    }
    return true;
  }
  // A hook may register and remove others meanwhile.
  template <class... A>
  void run(A&... arguments) const {
    const auto now = entries;
    for (const auto& e : now) {
      if (e->active) e->call(arguments...);
    }
  }
};

// The hooks of one module, or of all.
struct ModuleHooks {
  HookList<ForwardPreHook> forward_pre;
  HookList<ForwardHook> forward;
  HookList<BackwardPreHook> backward_pre;
  HookList<BackwardHook> backward;
  HookList<StateDictHook> state_dict, load_pre;
  HookList<LoadHook> load_post;
};

// How many global hooks are registered. Compiled callables ask at each replay
// for each module, so it is one load.
extern std::atomic<int> global_hook_count;
// Whether hooks run when the module is called, its own or global ones.
bool has_running_hooks(const Module& m);
// A copy of the global ones.
ModuleHooks global_hooks();

}  // namespace sy::nn::detail
