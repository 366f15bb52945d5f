#include <cstring>
#include <set>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/optim/optimizer_impl.h"

// Optimizers as names and tensors.

namespace sy::optim {

namespace {

template <class T>
Tensor vector_of(const std::vector<T>& values, ScalarType dtype) {
  const Tensor t = empty({static_cast<int64_t>(values.size())}, dtype);
  if (!values.empty()) {
    std::memcpy(t.mutable_data_ptr(), values.data(), t.nbytes());
  }
  return t;
}

Tensor to_tensor(double v) { return full({}, v, kDouble); }
Tensor to_tensor(bool v) { return full({}, v, kBool); }
Tensor to_tensor(int64_t v) { return full({}, v, kLong); }
Tensor to_tensor(const std::tuple<double, double>& v) {
  return vector_of<double>({std::get<0>(v), std::get<1>(v)}, kDouble);
}
Tensor to_tensor(const std::tuple<double, double, double>& v) {
  return vector_of<double>({std::get<0>(v), std::get<1>(v), std::get<2>(v)},
                           kDouble);
}
// Two elements, or the last alone.
Tensor to_tensor(const std::tuple<std::optional<double>, double>& v) {
  const auto& [first, second] = v;
  if (!first) return vector_of<double>({second}, kDouble);
  return vector_of<double>({*first, second}, kDouble);
}
Tensor to_tensor(const std::optional<int64_t>& v) {
  return v ? to_tensor(*v) : empty({0}, kLong);
}
Tensor to_tensor(const std::optional<std::string>& v) {
  const std::string text = v.value_or("");
  return vector_of<char>({text.begin(), text.end()}, kByte);
}

// The elements as numbers.
std::vector<double> numbers_of(const Tensor& t) {
  const Tensor d = t.detach().to(kCPU).to(kDouble).contiguous();
  const double* const at = d.const_data_ptr<double>();
  return {at, at + d.numel()};
}

// These return false for a tensor of other sizes.
bool from_tensor(const Tensor& t, double* to) {
  if (t.numel() == 1) *to = t.item<double>();
  return t.numel() == 1;
}
bool from_tensor(const Tensor& t, bool* to) {
  if (t.numel() == 1) *to = t.item<double>() != 0;
  return t.numel() == 1;
}
bool from_tensor(const Tensor& t, int64_t* to) {
  if (t.numel() == 1) *to = t.item<int64_t>();
  return t.numel() == 1;
}
bool from_tensor(const Tensor& t, std::tuple<double, double>* to) {
  if (t.numel() != 2) return false;
  const std::vector<double> v = numbers_of(t);
  *to = {v[0], v[1]};
  return true;
}
bool from_tensor(const Tensor& t, std::tuple<double, double, double>* to) {
  if (t.numel() != 3) return false;
  const std::vector<double> v = numbers_of(t);
  *to = {v[0], v[1], v[2]};
  return true;
}
bool from_tensor(const Tensor& t,
                 std::tuple<std::optional<double>, double>* to) {
  if (t.numel() != 1 && t.numel() != 2) return false;
  const std::vector<double> v = numbers_of(t);
  if (v.size() == 1) {
    *to = {std::nullopt, v[0]};
  } else {
    *to = {v[0], v[1]};
  }
  return true;
}
bool from_tensor(const Tensor& t, std::optional<int64_t>* to) {
  to->reset();
  return t.numel() == 0 || from_tensor(t, &to->emplace());
}
bool from_tensor(const Tensor& t, std::optional<std::string>* to) {
  to->reset();
  if (t.numel() == 0) return true;
  std::string text;
  for (const double c : numbers_of(t)) text.push_back(static_cast<char>(c));
  *to = std::move(text);
  return true;
}

}  // namespace

std::string option_name(size_t group, std::string_view option) {
  return str("param_groups.{}.{}", group, option);
}

Tensor option_tensor(const OptionRef& option) {
  return std::visit([](const auto* v) { return to_tensor(*v); }, option.value);
}

void Optimizer::save_options(NamedTensors* to) const {
  for (size_t g = 0; g < impl_->groups.size(); ++g) {
    OptimizerOptions& options = impl_->groups[g].options();
    for (const OptionRef& o : options.list()) {
      to->insert(option_name(g, o.name), option_tensor(o));
    }
    if (options.initial_lr()) {
      to->insert(option_name(g, "initial_lr"),
                 to_tensor(*options.initial_lr()));
    }
  }
}

std::vector<std::unique_ptr<OptimizerOptions>> Optimizer::read_options(
    const NamedTensors& state, Misfits* misfits) const {
  impl_->move_found(misfits);
  std::vector<std::unique_ptr<OptimizerOptions>> all;
  std::set<std::string, std::less<>> known;
  for (size_t g = 0; g < impl_->groups.size(); ++g) {
    all.push_back(impl_->groups[g].options().clone());
    const auto read = [&](const std::string& name, auto* to) {
      const Tensor* const t = state.find(name);
      if (t == nullptr) return misfits->missing.push_back(name);
      if (from_tensor(*t, to)) return;
      misfits->misshapen.push_back(str("{} (expected {}, got {})", name,
                                       to_tensor(*to).sizes(), t->sizes()));
    };
    for (const OptionRef& o : all.back()->list()) {
      const std::string name = option_name(g, o.name);
      known.insert(name);
      std::visit([&](auto* to) { read(name, to); }, o.value);
    }
    const std::string initial = option_name(g, "initial_lr");
    known.insert(initial);
    all.back()->set_initial_lr(std::nullopt);
    if (state.contains(initial)) {
      double lr = 0;
      read(initial, &lr);
      all.back()->set_initial_lr(lr);
    }
  }
  for (const auto& [name, t] : state) {
    if (!name.starts_with("state.") && !known.contains(name)) {
      misfits->unexpected.push_back(name);
    }
  }
  return all;
}

void Optimizer::set_options(
    std::vector<std::unique_ptr<OptimizerOptions>> options) {
  for (size_t g = 0; g < options.size(); ++g) {
    OptimizerOptions& to = impl_->groups[g].options();
    // The object stays the same: others refer to it.
    const auto from = options[g]->list(), own = to.list();
    for (size_t i = 0; i < own.size(); ++i) {
      std::visit([&](auto* v) { *v = *std::get<decltype(v)>(from[i].value); },
                 own[i].value);
    }
    to.set_initial_lr(options[g]->initial_lr());
    to.refresh_tensors();
  }
}

NamedTensors Optimizer::Impl::named_state(const ParamState& state) const {
  const UpdateRule::Names& names = rule().names();
  NamedTensors named;
  for (size_t k = 0; k < names.numbers.size(); ++k) {
    const Number& n = state.numbers->values[k];
    named.insert(names.numbers[k],
                 n.is_tensor() ? n.tensor().detach() : to_tensor(n.known()));
  }
  for (size_t k = 0; k < names.tensors.size(); ++k) {
    if (!state.tensors[k].defined()) continue;
    named.insert(names.tensors[k], state.tensors[k].detach());
  }
  return named;
}

std::unordered_map<void*, NamedTensors> Optimizer::state() const {
  std::unordered_map<void*, NamedTensors> all;
  for (const OptimizerParamGroup& g : impl_->groups) {
    for (const Tensor& p : g.params()) {
      const auto at = impl_->states.find(p.impl());
      if (at == impl_->states.end()) continue;
      all.emplace(p.impl(), impl_->named_state(at->second));
    }
  }
  return all;
}

NamedTensors Optimizer::state_dict() const {
  NamedTensors dict;
  for (size_t g = 0; g < impl_->groups.size(); ++g) {
    const std::vector<Tensor>& params = impl_->groups[g].params();
    for (size_t i = 0; i < params.size(); ++i) {
      const auto at = impl_->states.find(params[i].impl());
      if (at == impl_->states.end()) continue;
      const std::string prefix = "state." + key_of(g, i) + ".";
      for (const auto& [name, t] : impl_->named_state(at->second)) {
        dict.insert(prefix + name, t);
      }
    }
  }
  save_options(&dict);
  return dict;
}

void Optimizer::Impl::keep_memory(
    std::unordered_map<const TensorImpl*, ParamState>* loaded) {
  // The new states of the parameters that shared numbers, by these numbers.
  std::unordered_map<std::shared_ptr<SharedNumbers>, std::vector<ParamState*>>
      sharers;
  for (auto& [param, to] : *loaded) {
    const auto at = states.find(param);
    if (at == states.end()) continue;
    const ParamState& from = at->second;
    for (size_t k = 0; k < to.tensors.size(); ++k) {
      const Tensor& t = from.tensors[k];
      if (!t.defined() || !to.tensors[k].defined() || t.requires_grad()) {
        continue;
      }
      t.copy_(to.tensors[k]);
      to.tensors[k] = t;
    }
    sharers[from.numbers].push_back(&to);
  }
  for (auto& [numbers, all] : sharers) {
    const auto values_of = [](const ParamState& s) {
      std::vector<double> values;
      for (const Number& n : s.numbers->values) values.push_back(n.value());
      return values;
    };
    const std::vector<double> first = values_of(*all[0]);
    for (ParamState* const s : all) {
      // States that differ from the first get numbers of their own.
      if (values_of(*s) != first) {
        ++renumbered;
        continue;
      }
      for (size_t k = 0; k < first.size(); ++k) {
        numbers->values[k].set(first[k]);
      }
      s->numbers = numbers;
    }
  }
}

void Optimizer::load_state_dict(const NamedTensors& state) {
  Impl& m = *impl_;
  const UpdateRule& rule = m.rule();
  const UpdateRule::Names& names = rule.names();
  Misfits misfits;
  auto options = read_options(state, &misfits);
  std::unordered_map<const TensorImpl*, ParamState> states;
  std::set<std::string, std::less<>> known;
  const NoGradGuard no_grad;
  for (size_t g = 0; g < m.groups.size(); ++g) {
    for (size_t i = 0; i < m.groups[g].params().size(); ++i) {
      const Tensor& p = m.groups[g].params()[i];
      const std::string prefix = "state." + key_of(g, i) + ".";
      ParamState s{std::vector<Tensor>(names.tensors.size()),
                   std::make_shared<SharedNumbers>()};
      std::vector<std::string> missing;
      bool any = false;
      const auto find = [&](const char* name, bool needed) {
        const std::string full = prefix + name;
        known.insert(full);
        const Tensor* const t = state.find(full);
        any |= t != nullptr;
        if (t == nullptr && needed) missing.push_back(full);
        return t;
      };
      const auto misshapen = [&](const char* name, IntArrayRef expected,
                                 const Tensor& t) {
        misfits.misshapen.push_back(str("{}{} (expected {}, got {})", prefix,
                                        name, expected, t.sizes()));
      };
      for (size_t k = 0; k < names.numbers.size(); ++k) {
        const Tensor* const t = find(names.numbers[k], true);
        double value = 0;
        if (t != nullptr && !from_tensor(*t, &value)) {
          misshapen(names.numbers[k], {}, *t);
        }
        s.numbers->values.emplace_back(value);
      }
      const uint32_t wanted = rule.wanted(*options[g], p);
      for (size_t k = 0; k < names.tensors.size(); ++k) {
        const Tensor* const t = find(names.tensors[k], (wanted >> k & 1) != 0);
        if (t == nullptr) continue;
        const Tensor like =
            rule.make_state(static_cast<int>(k), *options[g], p);
        if (like.sizes() != t->sizes()) {
          misshapen(names.tensors[k], like.sizes(), *t);
        } else {
          s.tensors[k] = like;
          like.copy_(t->detach());
        }
      }
      if (!any) continue;
      misfits.missing.insert(misfits.missing.end(), missing.begin(),
                             missing.end());
      states.emplace(p.impl(), std::move(s));
    }
  }
  for (const auto& [name, t] : state) {
    if (name.starts_with("state.") && !known.contains(name)) {
      misfits.unexpected.push_back(name);
    }
  }
  misfits.raise(m.defaults->optimizer());
  for (size_t g = 0; g < options.size(); ++g) {
    options[g]->check(OptionCheck(str("[{}] load_state_dict: param_groups.{}.",
                                      m.defaults->optimizer(), g)));
  }
  set_options(std::move(options));
  m.keep_memory(&states);
  m.states = std::move(states);
  for (Impl::Plan& plan : m.plans) {
    plan.seen.clear();
    plan.buckets.clear();
  }
}

}  // namespace sy::optim
