#include <algorithm>
#include <set>

#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/io/torch_archive.h"
#include "frontend/optim/lbfgs.h"
#include "frontend/optim/optimizer_impl.h"

// Archives, as archive.cpp has their layout, become state dicts.

namespace sy::optim {

using serialize::InputArchive;

namespace {

// Options that libtorch's optimizers do not have.
constexpr std::string_view kOurs[] = {
    "maximize", "capturable", "differentiable", "decoupled_weight_decay"};

template <class List>
bool has(const List& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// These return false for a value of another kind.
bool from_value(const Value& v, double* to) {
  if (v.is_double() || v.is_int()) *to = v.to_double();
  return v.is_double() || v.is_int();
}
bool from_value(const Value& v, bool* to) {
  if (v.is_bool()) *to = v.to_bool();
  return v.is_bool();
}
bool from_value(const Value& v, int64_t* to) {
  if (v.is_int()) *to = v.to_int();
  return v.is_int();
}
bool from_value(const Value& v, std::string* to) {
  const bool fits = v.tag() == Value::Tag::String;
  if (fits) *to = v.to_string_view();
  return fits;
}
template <class T>
bool from_value(const Value& v, std::optional<T>* to) {
  to->reset();
  return v.is_none() || from_value(v, &to->emplace());
}

template <class T>
bool read_option(InputArchive& in, const char* name, T* to) {
  Value v;
  return in.try_read(name, v) && from_value(v, to);
}
template <class... T>
bool read_option(InputArchive& in, const char* name, std::tuple<T...>* to) {
  std::vector<Value> items;
  if (!in.try_read(name, items) || items.size() != sizeof...(T)) return false;
  const Value* v = items.data();
  return std::apply(
      [&](T&... item) { return (from_value(*v++, &item) && ...); }, *to);
}

std::string kind_of(const double*) { return "a float"; }
std::string kind_of(const bool*) { return "a bool"; }
std::string kind_of(const int64_t*) { return "an int"; }
std::string kind_of(const std::string*) { return "a string"; }
template <class T>
std::string kind_of(const std::optional<T>* v) {
  return kind_of(v->has_value() ? &**v : static_cast<const T*>(nullptr)) +
         " or None";
}
template <class... T>
std::string kind_of(const std::tuple<T...>*) {
  return str("a tuple of {} floats", sizeof...(T));
}

// Reads an archive for an optimizer with these groups, and these keys of
// parameters.
class Reader {
 public:
  Reader(const std::vector<OptimizerParamGroup>& groups,
         std::vector<std::vector<std::string>> keys)
      : groups_(groups), keys_(std::move(keys)), files_(groups.size()) {}

  void read(InputArchive& archive) {
    InputArchive states, groups;
    archive.read("state", states);
    archive.read("param_groups", groups);
    read_structure(groups);
    // Without it, nobody knows whose the states are.
    if (misfits.missing.empty() && misfits.misshapen.empty()) map_names();
    const bool known = misfits.missing.empty() && misfits.misshapen.empty();
    for (size_t g = 0; g < groups_.size(); ++g) read_options(g);
    if (known) read_states(states);
  }

  NamedTensors state;
  Misfits misfits;

 private:
  // A group of the file.
  struct Group {
    std::optional<InputArchive> options;
    std::vector<std::string> keys, names;
  };

  void misshapen(const std::string& name, const std::string& expected,
                 const std::string& got = "another kind of value") {
    misfits.misshapen.push_back(
        str("{} (expected {}, got {})", name, expected, got));
  }

  // Whether the file has that many.
  bool expect_count(InputArchive& in, const char* key, const std::string& name,
                    size_t count) {
    Tensor size;
    if (!in.try_read(key, size) || size.numel() != 1) {
      misfits.missing.push_back(name + ".size");
      return false;
    }
    const auto got = size.item<int64_t>();
    if (got == static_cast<int64_t>(count)) return true;
    misshapen(name, std::to_string(count), std::to_string(got));
    return false;
  }

  void read_structure(InputArchive& groups) {
    const bool all = expect_count(groups, "param_groups/size", "param_groups",
                                  groups_.size());
    std::set<std::string> seen;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const std::string name = str("param_groups.{}", g);
      InputArchive group, options;
      if (!groups.try_read(archive_group(g), group)) {
        if (all) misfits.missing.push_back(name);
        continue;
      }
      Group& file = files_[g];
      if (group.try_read("options", options)) {
        file.options = std::move(options);
      } else {
        misfits.missing.push_back(name + ".options");
      }
      const size_t count = keys_[g].size();
      if (!expect_count(group, "params/size", name + ".params", count)) {
        continue;
      }
      for (size_t i = 0; i < count; ++i) {
        const std::string param = str("{}.params.{}", name, i);
        std::string& key = file.keys.emplace_back();
        if (!group.try_read(archive_param(i), key)) {
          misfits.missing.push_back(param);
        } else if (!seen.insert(key).second) {
          misshapen(param, "each key once", key + " twice");
        }
      }
      Value names;
      if (!has(group.keys(), "names")) continue;
      if (group.try_read("names", names) &&
          names.tag() == Value::Tag::StringList &&
          names.to_string_list().size() == count) {
        file.names = names.to_string_list().vec();
      } else {
        misshapen(name + ".names", str("{} strings", count));
      }
    }
  }

  // If the file has the names of this optimizer, they are the keys. Otherwise
  // places are.
  void map_names() {
    if (groups_[0].names().empty()) return;
    std::set<std::string> ours, theirs;
    for (size_t g = 0; g < files_.size(); ++g) {
      ours.insert(keys_[g].begin(), keys_[g].end());
      theirs.insert(files_[g].names.begin(), files_[g].names.end());
    }
    if (ours == theirs) {
      for (size_t g = 0; g < files_.size(); ++g) keys_[g] = files_[g].names;
      return;
    }
    for (size_t g = 0; g < files_.size(); ++g) {
      for (size_t i = 0; i < files_[g].names.size(); ++i) {
        const std::string& name = files_[g].names[i];
        if (name == keys_[g][i] || !ours.contains(name)) continue;
        misshapen(str("param_groups.{}.names.{}", g, i), keys_[g][i], name);
      }
    }
  }

  void read_options(size_t g) {
    const auto options = groups_[g].options().clone();
    std::set<std::string, std::less<>> missing;
    if (files_[g].options) {
      InputArchive& in = *files_[g].options;
      const std::vector<std::string> keys = in.keys();
      std::set<std::string, std::less<>> left(keys.begin(), keys.end());
      const auto read = [&](const char* name, auto* to) {
        const auto at = left.find(name);
        if (at == left.end()) return false;
        left.erase(at);
        if (!read_option(in, name, to)) {
          misshapen(option_name(g, name), kind_of(to));
        }
        return true;
      };
      for (const OptionRef& o : options->list()) {
        const bool found =
            std::visit([&](auto* to) { return read(o.name, to); }, o.value);
        if (!found && !has(kOurs, o.name)) missing.insert(o.name);
      }
      double lr = 0;
      if (read("initial_lr", &lr)) options->set_initial_lr(lr);
      for (const std::string& name : left) {
        misfits.unexpected.push_back(option_name(g, name));
      }
      auto* const lbfgs = dynamic_cast<LBFGSOptions*>(options.get());
      if (lbfgs != nullptr && lbfgs->max_eval() == usual_max_eval(*lbfgs)) {
        lbfgs->max_eval(std::nullopt);
      }
    }
    for (const OptionRef& o : options->list()) {
      if (missing.contains(o.name)) continue;
      state.insert(option_name(g, o.name), option_tensor(o));
    }
    if (options->initial_lr()) {
      state.insert(option_name(g, "initial_lr"),
                   full({}, *options->initial_lr(), kDouble));
    }
  }

  void read_states(InputArchive& states) {
    const std::vector<std::string> keys = states.keys();
    std::set<std::string> left(keys.begin(), keys.end());
    const ArchiveKinds kinds = archive_kinds(groups_[0].options());
    for (size_t g = 0; g < files_.size(); ++g) {
      for (size_t i = 0; i < files_[g].keys.size(); ++i) {
        const std::string& key = files_[g].keys[i];
        if (left.erase(key) == 0) continue;
        InputArchive one;
        if (states.try_read(key, one)) {
          read_state(one, kinds, "state." + keys_[g][i] + ".");
        } else {
          misshapen("state." + keys_[g][i], "an archive");
        }
      }
    }
    for (const std::string& key : left) {
      misfits.unexpected.push_back("state." + key);
    }
  }

  void read_state(InputArchive& in, const ArchiveKinds& kinds,
                  const std::string& prefix) {
    for (const std::string& name : in.keys()) {
      if (has(kinds.unused, name)) continue;
      const std::string path = prefix + name;
      Value v;
      const bool found = in.try_read(name, v);
      if (name.find('.') != std::string::npos) {
        misfits.unexpected.push_back(path);
      } else if (has(kinds.lists, name)) {
        std::vector<Value> rows;
        if (in.try_read(name, rows)) {
          read_rows(path, rows, name != "ro");
        } else {
          misshapen(path, "a list of tensors");
        }
      } else if (found && v.is_tensor()) {
        state.insert(path, Tensor(v.to_tensor()));
      } else if (found && v.is_int()) {
        state.insert(path, full({}, v.to_int(), kLong));
      } else if (found && v.is_double()) {
        state.insert(path, full({}, v.to_double(), kDouble));
      } else {
        misshapen(path, "a tensor or a number");
      }
    }
  }

  // Reads a list of rows of LBFGS. A row has all elements of all parameters, or
  // is a number.
  void read_rows(const std::string& path, const std::vector<Value>& list,
                 bool of_elements) {
    std::vector<int64_t> sizes;
    if (of_elements) {
      sizes.push_back(0);
      for (const Tensor& p : groups_[0].params()) sizes[0] += p.numel();
    }
    std::vector<Tensor> rows;
    for (const Value& v : list) {
      if (!v.is_tensor() || v.to_tensor().sizes() != IntArrayRef(sizes)) {
        return misshapen(path, str("tensors of sizes {}", IntArrayRef(sizes)),
                         to_string(v));
      }
      rows.push_back(Tensor(v.to_tensor()).to(kDouble));
    }
    sizes.insert(sizes.begin(), 0);
    state.insert(path, rows.empty() ? empty(sizes, kDouble) : stack(rows));
  }

  const std::vector<OptimizerParamGroup>& groups_;
  std::vector<std::vector<std::string>> keys_;
  std::vector<Group> files_;
};

void check_layout(InputArchive& archive, const char* optimizer) {
  std::string version;
  if (archive.try_read("pytorch_version", version)) {
    SY_CHECK(version == kArchiveVersion, Value,
             "[{}] load: pytorch_version: expected {}, got {}", optimizer,
             kArchiveVersion, version);
    return;
  }
  std::string keys;
  for (const std::string& key : archive.keys()) {
    // Lists of buffers, such as step_buffers.
    SY_CHECK(!key.ends_with("/size"), Value,
             "[{}] load: archives of libtorch before 1.5 have another layout; "
             "load this one with a later libtorch and save it again",
             optimizer);
    if (keys.size() < 80) keys += (keys.empty() ? "" : ", ") + key;
  }
  fail(ErrorKind::Value,
       "[{}] load: expected the archive of an optimizer, with "
       "pytorch_version, state and param_groups, got one with {}",
       optimizer, keys.empty() ? "nothing" : keys);
}

}  // namespace

void Optimizer::Impl::move_found(Misfits* to) {
  const Misfits from = std::exchange(found, {});
  const auto append = [](const auto& names, auto* all) {
    all->insert(all->end(), names.begin(), names.end());
  };
  append(from.missing, &to->missing);
  append(from.unexpected, &to->unexpected);
  append(from.misshapen, &to->misshapen);
}

void Optimizer::load(InputArchive& archive) {
  check_layout(archive, defaults().optimizer());
  std::vector<std::vector<std::string>> keys(param_groups().size());
  for (size_t g = 0; g < keys.size(); ++g) {
    for (size_t i = 0; i < param_groups()[g].params().size(); ++i) {
      keys[g].push_back(key_of(g, i));
    }
  }
  const NoGradGuard no_grad;
  Reader reader(param_groups(), std::move(keys));
  reader.read(archive);
  impl_->found = std::move(reader.misfits);
  try {
    load_state_dict(reader.state);
  } catch (...) {
    impl_->found = {};
    throw;
  }
  // An override of load_state_dict() may not have called read_options().
  std::exchange(impl_->found, {}).raise(defaults().optimizer());
}

}  // namespace sy::optim
