#include "frontend/optim/swa_utils.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/foreach_arithmetic.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/modules/norm_base.h"
#include "frontend/nn/utils/parametrize.h"

namespace sy::optim::swa_utils {

namespace {

void check_decay(const char* function, double decay) {
  SY_CHECK(decay >= 0 && decay <= 1, Value,
           "[{}] decay: expected from 0 to 1, got {}", function, decay);
}

// Each tensor of a list becomes update(averaged, current).
template <class F>
void update_each(TensorList averaged, TensorList current, F&& update) {
  for (size_t i = 0; i < averaged.size(); ++i) {
    averaged[i].copy_(update(averaged[i], current[i]));
  }
}

// A tensor of the average and the model's.
struct Pair {
  std::string path;
  Tensor averaged, current;
};

// The buffers but for the values of computed parameters, which have no state of
// their own.
NamedTensors state_buffers(const nn::Module& model) {
  namespace parametrize = nn::utils::parametrize;
  std::unordered_set<const TensorImpl*> computed;
  const_cast<nn::Module&>(model).apply([&](nn::Module& m) {
    if (!parametrize::detail::holds_computed_value(m)) return;
    for (const Tensor& t : m.buffers(/*recurse=*/false)) {
      computed.insert(t.impl());
    }
  });
  NamedTensors all;
  for (const auto& [path, t] : model.named_buffers()) {
    if (!computed.contains(t.impl())) all.insert(path, t);
  }
  return all;
}

// The first name of `all` that `others` does not have, or the first after the
// last of them.
std::string extra_of(const NamedTensors& all, const NamedTensors& others) {
  for (const auto& [path, t] : all) {
    if (!others.contains(path)) return path;
  }
  return all[others.size()].first;
}

void add_pairs(const char* what, const NamedTensors& averaged,
               const NamedTensors& current, std::vector<Pair>* to) {
  const size_t n = averaged.size();
  SY_CHECK(current.size() >= n, Value,
           "[update_parameters] '{}': the average has this {}, the model does "
           "not: expected {}, got {}",
           extra_of(averaged, current), what, n, current.size());
  SY_CHECK(current.size() <= n, Value,
           "[update_parameters] '{}': the model has this {}, the average does "
           "not: expected {}, got {}",
           extra_of(current, averaged), what, n, current.size());
  for (size_t i = 0; i < n; ++i) {
    const auto& [path, tensor] = averaged[i];
    const Tensor& other = current[i].second;
    SY_CHECK(other.sizes() == tensor.sizes(), Value,
             "[update_parameters] '{}': expected a {} of sizes {}, as the "
             "average has, got {}",
             current[i].first, what, tensor.sizes(), other.sizes());
    to->push_back({path, tensor.detach(), other.detach()});
  }
}

Tensor moved(const Pair& p) {
  return p.current.to(p.averaged.device(), p.averaged.scalar_type());
}

void update_one_by_one(const std::vector<Pair>& pairs, const AvgFn& f,
                       int64_t count) {
  for (const Pair& p : pairs) {
    const Tensor next = f(p.averaged, moved(p), count);
    SY_CHECK(next.defined() && next.sizes() == p.averaged.sizes(), Value,
             "[update_parameters] '{}': expected a result of avg_fn of sizes "
             "{}, got {}",
             p.path, p.averaged.sizes(),
             next.defined() ? to_string(next.sizes()) : "an undefined tensor");
    p.averaged.copy_(next);
  }
}

void update_lists(const std::vector<Pair>& pairs, const MultiAvgFn& f,
                  int64_t count) {
  struct Lists {
    std::vector<Tensor> averaged, current;
    bool take(const Tensor& t) const {
      return averaged[0].device() == t.device() &&
             averaged[0].scalar_type() == t.scalar_type();
    }
  };
  std::vector<Lists> groups;
  for (const Pair& p : pairs) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return g.take(p.averaged);
    });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->averaged.push_back(p.averaged);
    group->current.push_back(moved(p));
  }
  for (const Lists& l : groups) f(l.averaged, l.current, count);
}

}  // namespace

AvgFn get_ema_avg_fn(double decay) {
  check_decay("get_ema_avg_fn", decay);
  return [decay](const Tensor& averaged, const Tensor& current, int64_t) {
    const NoGradGuard no_grad;
    return averaged * decay + current * (1 - decay);
  };
}

// lerp is for floating dtypes; others are cut to integers, as in PyTorch.
MultiAvgFn get_ema_multi_avg_fn(double decay) {
  check_decay("get_ema_multi_avg_fn", decay);
  return [decay](TensorList averaged, TensorList current, int64_t) {
    if (averaged.empty()) return;
    const NoGradGuard no_grad;
    if (averaged[0].is_floating_point()) {
      return _foreach_lerp_(averaged, current, 1 - decay);
    }
    update_each(averaged, current, [&](const Tensor& a, const Tensor& c) {
      return a * decay + c * (1 - decay);
    });
  };
}

AvgFn get_swa_avg_fn() {
  return [](const Tensor& averaged, const Tensor& current, int64_t count) {
    const NoGradGuard no_grad;
    return averaged + (current - averaged) / (count + 1);
  };
}

MultiAvgFn get_swa_multi_avg_fn() {
  return [](TensorList averaged, TensorList current, int64_t count) {
    if (averaged.empty()) return;
    const NoGradGuard no_grad;
    if (averaged[0].is_floating_point()) {
      return _foreach_lerp_(averaged, current,
                            1 / static_cast<double>(count + 1));
    }
    update_each(averaged, current, [&](const Tensor& a, const Tensor& c) {
      return a + (c - a) / (count + 1);
    });
  };
}

AveragedModelImplBase::AveragedModelImplBase(AveragedModelOptions options)
    : Module("AveragedModel"), options_(std::move(options)) {
  SY_CHECK(options_.avg_fn() == nullptr || options_.multi_avg_fn() == nullptr,
           Value,
           "[AveragedModel] expected one of avg_fn and multi_avg_fn, got both");
  if (options_.avg_fn() == nullptr && options_.multi_avg_fn() == nullptr) {
    options_.multi_avg_fn(get_swa_multi_avg_fn());
  }
  n_averaged = register_buffer(
      "n_averaged", zeros({}, TensorOptions(kLong).device(
                                  options_.device().value_or(Device(kCPU)))));
}

void AveragedModelImplBase::update_parameters(const nn::Module& model) {
  const NoGradGuard no_grad;
  const std::shared_ptr<nn::Module> own = get_submodule("module");
  std::vector<Pair> averages, copies;
  add_pairs("parameter", own->named_parameters(), model.named_parameters(),
            &averages);
  std::vector<Pair> buffers;
  add_pairs("buffer", state_buffers(*own), state_buffers(model), &buffers);
  for (Pair& p : buffers) {
    const bool is_averaged =
        options_.use_buffers() && p.averaged.scalar_type() != kBool;
    (is_averaged ? averages : copies).push_back(std::move(p));
  }
  const auto count = n_averaged.item<int64_t>();
  if (count == 0) {
    for (const Pair& p : averages) p.averaged.copy_(p.current);
  } else if (options_.avg_fn() != nullptr) {
    update_one_by_one(averages, options_.avg_fn(), count);
  } else {
    update_lists(averages, options_.multi_avg_fn(), count);
  }
  for (const Pair& p : copies) p.averaged.copy_(p.current);
  n_averaged.add_(1);
}

namespace detail {

void no_model(const char* function) {
  fail(ErrorKind::Value, "[{}] model: expected a module, got an empty pointer",
       function);
}

void update_bn(nn::Module& model, const std::function<void()>& pass) {
  using Norm = nn::NormImplBase<nn::BatchNormOptions>;
  const NoGradGuard no_grad;
  // Modules come before those above them.
  std::vector<std::pair<nn::Module*, bool>> modes;
  std::vector<std::pair<Norm*, std::optional<double>>> norms;
  model.apply([&](nn::Module& m) {
    modes.emplace_back(&m, m.is_training());
    if (auto* const norm = m.as<Norm>()) {
      norms.emplace_back(norm, norm->options.momentum());
    }
  });
  if (norms.empty()) return;
  const auto restore = [&] {
    for (const auto& [norm, momentum] : norms) {
      norm->options.momentum(momentum);
    }
    for (size_t i = modes.size(); i-- > 0;) {
      modes[i].first->train(modes[i].second);
    }
  };
  try {
    model.train();
    for (const auto& [norm, momentum] : norms) {
      norm->reset_running_stats();
      norm->options.momentum(std::nullopt);
    }
    pass();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

}  // namespace detail

}  // namespace sy::optim::swa_utils
