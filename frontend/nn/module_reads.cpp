#include "frontend/nn/module_reads.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "c10/dispatch/capture.h"
#include "c10/process/error.h"
#include "frontend/nn/hook_lists.h"
#include "frontend/nn/module.h"

namespace sy::nn::detail {

std::atomic<uint32_t> module_changes{0};

namespace {

// Modules may be held by more than modules: by a list of the program, by a
// variable. Assigning to these counts.
class Changes final : public Dependence {
 public:
  const void* of() const noexcept override { return &module_changes; }
  bool holds() override {
    now_ = module_changes.load(std::memory_order_relaxed);
    return now_ == was_;
  }
  std::string difference() const override {
    return now_ == was_ ? "" : "a module was put in the place of another one";
  }
  void accept() override { was_ = now_; }

 private:
  uint32_t was_ = module_changes.load(std::memory_order_relaxed), now_ = was_;
};

}  // namespace

// All that is in a module: its mode, its options, what members and names lead
// to. Its hooks are never part of a graph.
class ModuleReads final : public Dependence {
 public:
  ModuleReads(const Module& m, const void* object, size_t bytes)
      : alive_(m.weak_from_this()), module_(m), training_(m.training_) {
    // The places of lists are bytes of the module, so they come first.
    bytes_.emplace_back(object, bytes);
    add(m.parameters_);
    add(m.buffers_);
    add(m.children_);
  }

  // The end of the module: code that knows its type reads more of it than other
  // code.
  const void* of() const noexcept override {
    return bytes_[0].at() + bytes_[0].size();
  }

  bool holds() override {
    differing_ = nullptr;
    if (alive_.expired()) return false;
    if (SY_UNLIKELY(may_have_hooks()) && has_running_hooks(module_)) {
      return false;
    }
    for (WatchedBytes& b : bytes_) {
      if (SY_LIKELY(b.hold())) continue;
      // A mode stays a sign, although it has no part while a rate is 0.
      if (module_.training_ == training_) {
        b.note_difference();
        differing_ = &b;
      }
      return false;
    }
    return true;
  }

  void accept() override {
    if (differing_ != nullptr) differing_->accept();
  }

  bool leads_to(const TensorImpl* t) const override {
    return std::any_of(bytes_.begin(), bytes_.end(),
                       [&](const WatchedBytes& b) { return b.had(t); });
  }

  std::string difference() const override {
    if (alive_.expired()) return "a module that it called is gone";
    if (module_.has_hooks() && has_running_hooks(module_)) {
      return str("{}: hooks, had none", module_.name());
    }
    for (const WatchedBytes& b : bytes_) {
      if (b.hold()) continue;
      if (module_.training_ != training_) {
        return str("{}: {}, was {}", module_.name(), mode(module_.training_),
                   mode(training_));
      }
      return str("{}: a member differs", module_.name());
    }
    return "";
  }

  static const ModuleHooks* hooks_of(const Module& m) { return m.hooks_.get(); }

 private:
  bool may_have_hooks() const {
    return module_.hooks_ != nullptr ||
           global_hook_count.load(std::memory_order_relaxed) != 0;
  }
  static const char* mode(bool training) {
    return training ? "training" : "evaluating";
  }
  template <class Dict>
  void add(const Dict& dict) {
    if (dict.empty()) return;
    bytes_.emplace_back(dict.items().data(),
                        dict.size() * sizeof(dict.items()[0]));
  }

  const std::weak_ptr<const Module> alive_;
  const Module& module_;
  const bool training_;
  std::vector<WatchedBytes> bytes_;
  WatchedBytes* differing_ = nullptr;  // by the last holds()
};

bool has_running_hooks(const Module& m) {
  const auto any = [](const ModuleHooks& h) {
    return !h.forward_pre.empty() || !h.forward.empty() ||
           !h.backward_pre.empty() || !h.backward.empty();
  };
  const ModuleHooks* const own = ModuleReads::hooks_of(m);
  return (own != nullptr && any(*own)) ||
         (any_global_hooks() && any(global_hooks()));
}

void tell_read(const Module& m, const void* object, size_t bytes) {
  if (m.weak_from_this().expired()) {
    return tell_capture_acts("a module that no shared_ptr has is called");
  }
  CaptureNote note{CaptureNote::kReads};
  note.reads = make_intrusive<Changes>();
  tell_capture(note);
  note.reads = make_intrusive<ModuleReads>(m, object, bytes);
  tell_capture(note);
}

}  // namespace sy::nn::detail
