#include <map>
#include <set>

#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "frontend/io/torch_archive.h"
#include "frontend/optim/lbfgs.h"
#include "frontend/optim/optimizer_impl.h"

// Optimizers in the layout of libtorch's archives, by way of state dicts:
//
//   pytorch_version: "1.5.0"
//   state: KEY: step, exp_avg, ...
//   param_groups: param_groups/size, param_groups/0: options: lr, ...
//                                                    params/size
//                                                    params/0: KEY
//                                                    names
//
// libtorch reads keys as numbers and maps parameters by place; it writes their
// addresses. The list of names is ours.

namespace sy::optim {

using serialize::OutputArchive;

ArchiveKinds archive_kinds(const OptimizerOptions& options) {
  if (dynamic_cast<const LBFGSOptions*>(&options) != nullptr) {
    return {{"func_evals", "n_iter"},
            {"t", "prev_loss"},
            {"old_dirs", "old_stps", "ro"},
            {"al"}};
  }
  ArchiveKinds kinds;
  const UpdateRule* const rule = options.rule();
  if (rule == nullptr) return kinds;
  for (const std::string_view name : rule->names().numbers) {
    (name == "step" ? kinds.ints : kinds.reals).push_back(name);
  }
  return kinds;
}

int64_t usual_max_eval(const LBFGSOptions& o) { return o.max_iter() * 5 / 4; }

namespace {

template <class T>
Value to_value(const T& v) {
  return Value(v);
}
Value to_value(const std::string& v) { return Value(std::string_view(v)); }
template <class T>
Value to_value(const std::optional<T>& v) {
  return v ? to_value(*v) : Value();
}

template <class T>
void write_option(OutputArchive& out, const char* name, const T& v) {
  out.write(name, to_value(v));
}
template <class... T>
void write_option(OutputArchive& out, const char* name,
                  const std::tuple<T...>& v) {
  std::apply(
      [&](const T&... item) { out.write_tuple(name, {to_value(item)...}); }, v);
}

OutputArchive archive_of(const OptimizerOptions& options) {
  const auto copy = options.clone();
  if (auto* const lbfgs = dynamic_cast<LBFGSOptions*>(copy.get())) {
    if (!lbfgs->max_eval()) lbfgs->max_eval(usual_max_eval(*lbfgs));
  }
  OutputArchive out;
  for (const OptionRef& o : copy->list()) {
    std::visit([&](const auto* v) { write_option(out, o.name, *v); }, o.value);
  }
  if (options.initial_lr()) {
    write_option(out, "initial_lr", *options.initial_lr());
  }
  return out;
}

// libtorch reads numbers and lists even where there was no step yet.
OutputArchive archive_of(const ArchiveKinds& kinds, const NamedTensors& state) {
  OutputArchive out;
  const auto number = [&](std::string_view name) {
    const Tensor* const t = state.find(name);
    return t != nullptr ? t->item<double>() : 0;
  };
  std::set<std::string_view> written;
  for (const std::string_view name : kinds.ints) {
    out.write(name, static_cast<int64_t>(number(name)));
    written.insert(name);
  }
  for (const std::string_view name : kinds.reals) {
    out.write(name, number(name));
    written.insert(name);
  }
  for (const std::string_view name : kinds.lists) {
    const Tensor* const t = state.find(name);
    std::vector<Tensor> rows;
    for (int64_t i = 0; t != nullptr && i < t->size(0); ++i) {
      rows.push_back(t->select(0, i));
    }
    out.write(name, Value::tensor_list(rows.data(), rows.size()));
    written.insert(name);
  }
  for (const auto& [name, t] : state) {
    if (!written.contains(name)) out.write(name, Value(TensorBase(t)));
  }
  return out;
}

Tensor count_of(size_t n) { return full({}, static_cast<int64_t>(n), kLong); }

// The states from "state.KEY.NAME", by key. Names have no dots.
std::map<std::string, NamedTensors> states_of(const NamedTensors& dict) {
  constexpr std::string_view kState = "state.";
  std::map<std::string, NamedTensors> states;
  for (const auto& [name, t] : dict) {
    const size_t dot = name.rfind('.');
    if (!name.starts_with(kState) || dot < kState.size()) continue;
    states[name.substr(kState.size(), dot - kState.size())].insert(
        name.substr(dot + 1), t);
  }
  return states;
}

}  // namespace

void Optimizer::save(OutputArchive& archive) const {
  const ArchiveKinds kinds = archive_kinds(defaults());
  auto left = states_of(state_dict());
  OutputArchive states, groups;
  groups.write("param_groups/size", count_of(param_groups().size()));
  size_t number = 0;
  for (size_t g = 0; g < param_groups().size(); ++g) {
    const OptimizerParamGroup& from = param_groups()[g];
    OutputArchive group;
    group.write("params/size", count_of(from.params().size()));
    for (size_t i = 0; i < from.params().size(); ++i) {
      const std::string key = std::to_string(number++);
      group.write(archive_param(i), key);
      const auto at = left.find(key_of(g, i));
      if (at == left.end()) continue;
      OutputArchive state = archive_of(kinds, at->second);
      states.write(key, state);
      left.erase(at);
    }
    if (!from.names().empty()) {
      const std::vector<std::string_view> names(from.names().begin(),
                                                from.names().end());
      group.write("names", Value::string_list(names.data(), names.size()));
    }
    OutputArchive options = archive_of(from.options());
    group.write("options", options);
    groups.write(archive_group(g), group);
  }
  SY_CHECK(left.empty(), Value,
           "[{}] save: expected the states of parameters, got that of {}",
           defaults().optimizer(), left.begin()->first);
  archive.write("pytorch_version", kArchiveVersion);
  archive.write("state", states);
  archive.write("param_groups", groups);
}

}  // namespace sy::optim
