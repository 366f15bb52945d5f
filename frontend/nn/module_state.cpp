#include <set>

#include "aten/operators.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/hook_lists.h"
#include "frontend/nn/module.h"
#include "frontend/nn/tensors.h"

namespace sy::nn {

namespace detail {

namespace {

// "encoder." is of the module "encoder".
std::string path_of(const std::string& prefix) {
  return prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
}

}  // namespace

// Reads a state dict into a module and those below it: first finds out what is
// amiss, then copies.
class StateLoader {
 public:
  StateLoader(StateDict state, bool assign)
      : state_(std::move(state)), assign_(assign) {}

  static void write(const Module& m, StateDict& state,
                    const std::string& prefix) {
    state.versions[path_of(prefix)] = m.version();
    for (const auto& [name, tensor] : m.parameters_) {
      if (tensor.defined()) state.insert(prefix + name, tensor.detach());
    }
    for (const auto& [name, buffer] : m.buffers_) {
      if (buffer.tensor.defined() && buffer.persistent) {
        state.insert(prefix + name, buffer.tensor.detach());
      }
    }
    const Tensor extra = m.extra_state();
    if (extra.defined()) state.insert(prefix + kExtraState, extra.detach());
    for (const auto& [name, child] : m.children_) {
      write(*child, state, prefix + name + ".");
    }
    if (m.hooks_ != nullptr) {
      m.hooks_->state_dict.run(const_cast<Module&>(m), state, prefix);
    }
  }

  void match(Module& m, const std::string& prefix) {
    if (m.hooks_ != nullptr) m.hooks_->load_pre.run(m, state_, prefix);
    const auto version = state_.versions.find(path_of(prefix));
    const int64_t found =
        version == state_.versions.end() ? 0 : version->second;
    if (found != m.version()) m.upgrade_state_dict(state_, prefix, found);
    modules_.push_back(&m);
    for (const auto& [name, tensor] : m.parameters_) {
      if (tensor.defined()) match_tensor(prefix + name, tensor);
    }
    for (const auto& [name, buffer] : m.buffers_) {
      if (buffer.tensor.defined() && buffer.persistent) {
        match_tensor(prefix + name, buffer.tensor);
      }
    }
    match_extra(m, prefix + kExtraState);
    for (const auto& [name, child] : m.children_) {
      match(*child, prefix + name + ".");
    }
  }

  LoadReport load(const Module& root, bool strict) {
    for (const auto& [name, tensor] : state_) {
      if (!used_.contains(name)) report_.unexpected_keys.push_back(name);
    }
    const bool amiss =
        !report_.missing_keys.empty() || !report_.unexpected_keys.empty();
    const bool hooks_first = strict && amiss && misshapen_.empty();
    if (hooks_first) run_hooks();
    check(root, strict);
    const NoGradGuard no_grad;
    for (const auto& [to, from] : copies_) {
      if (assign_) {
        set_data(to, from);
      } else {
        to.copy_(from);
      }
    }
    for (const auto& [module, extra] : extras_) module->set_extra_state(extra);
    if (!hooks_first) run_hooks();
    return report_;
  }

 private:
  void match_tensor(const std::string& name, const Tensor& tensor) {
    const Tensor* const found = state_.find(name);
    if (found == nullptr) {
      report_.missing_keys.push_back(name);
      return;
    }
    used_.insert(name);
    if (!found->defined() || found->sizes() != tensor.sizes()) {
      misshapen_ += str(
          "\n  '{}': expected sizes {}, got {}", name, tensor.sizes(),
          found->defined() ? to_string(found->sizes()) : "an undefined tensor");
      return;
    }
    copies_.emplace_back(tensor, *found);
  }
  void match_extra(Module& m, const std::string& name) {
    const Tensor* const found = state_.find(name);
    const bool wanted = m.extra_state().defined();
    if (found == nullptr) {
      if (wanted) report_.missing_keys.push_back(name);
      return;
    }
    if (!wanted) return;  // unexpected
    used_.insert(name);
    extras_.emplace_back(&m, *found);
  }
  void run_hooks() {
    for (Module* const m : modules_) {
      if (m->hooks_ != nullptr) m->hooks_->load_post.run(*m, report_);
    }
  }
  void check(const Module& root, bool strict) const {
    std::string text = misshapen_;
    const auto list = [&](const char* what,
                          const std::vector<std::string>& names) {
      if (names.empty()) return;
      text += str("\n  {} {}:", names.size(), what);
      for (const std::string& n : names) text += " '" + n + "'";
    };
    if (strict) {
      list("missing", report_.missing_keys);
      list("unexpected", report_.unexpected_keys);
    }
    SY_CHECK(text.empty(), Value,
             "[load_state_dict] {}: the state dict does not fit; nothing was "
             "loaded{}",
             root.name(), text);
  }

  StateDict state_;
  const bool assign_;
  LoadReport report_;
  std::string misshapen_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::pair<Tensor, Tensor>> copies_;  // to, from
  std::vector<std::pair<Module*, Tensor>> extras_;
  std::vector<Module*> modules_;
};

}  // namespace detail

StateDict Module::state_dict(const std::string& prefix) const {
  StateDict state;
  detail::StateLoader::write(*this, state, prefix);
  return state;
}

LoadReport Module::load_state_dict(const StateDict& state, bool strict,
                                   bool assign) {
  detail::StateLoader loader(state, assign);
  loader.match(*this, "");
  return loader.load(*this, strict);
}

void Module::set_extra_state(const Tensor&) {
  fail(ErrorKind::NotImplemented,
       "[set_extra_state] {}: a module with extra_state() overrides this too",
       name());
}

void Module::upgrade_state_dict(StateDict&, const std::string&, int64_t) const {
}

}  // namespace sy::nn
