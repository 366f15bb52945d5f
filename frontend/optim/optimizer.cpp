#include "frontend/optim/optimizer.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "aten/ops/factory.h"
#include "aten/ops/foreach.h"
#include "c10/dispatch/capture.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/optim/optimizer_impl.h"

namespace sy::optim {

OptimizerParamGroup::OptimizerParamGroup(
    const NamedTensors& params, std::unique_ptr<OptimizerOptions> options)
    : options_(std::move(options)) {
  for (const auto& [name, t] : params) {
    names_.push_back(name);
    params_.push_back(t);
  }
}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_),
      names_(other.names_),
      options_(other.options_ ? other.options_->clone() : nullptr) {}

const OptimizerOptions& OptimizerParamGroup::options() const {
  SY_CHECK(options_ != nullptr, Value,
           "[OptimizerParamGroup] options: expected some, got none");
  return *options_;
}

OptimizerOptions& OptimizerParamGroup::options() {
  return const_cast<OptimizerOptions&>(std::as_const(*this).options());
}

namespace {

std::vector<OptimizerParamGroup> one_group(OptimizerParamGroup group) {
  std::vector<OptimizerParamGroup> groups;
  groups.push_back(std::move(group));
  return groups;
}

}  // namespace

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : impl_(std::make_unique<Impl>()) {
  const std::string name = defaults->optimizer();
  SY_CHECK(!groups.empty(), Value,
           "[{}] parameters: expected at least one group, got none", name);
  defaults->check(OptionCheck("[" + name + "] "));
  impl_->defaults = std::move(defaults);
  for (const OptimizerParamGroup& g : groups) add_param_group(g);
}

Optimizer::Optimizer(std::vector<Tensor> parameters,
                     std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(one_group(OptimizerParamGroup(std::move(parameters))),
                std::move(defaults)) {}

Optimizer::Optimizer(const NamedTensors& parameters,
                     std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(one_group(OptimizerParamGroup(parameters)),
                std::move(defaults)) {}

Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;
Optimizer::~Optimizer() = default;

void Optimizer::add_param_group(const OptimizerParamGroup& given) {
  Impl& m = *impl_;
  const char* const name = m.defaults->optimizer();
  const std::string where = str("[{}] param_groups[{}]", name, m.groups.size());
  OptimizerParamGroup group(given);
  SY_CHECK(!group.params().empty(), Value,
           "{}: expected at least one parameter, got none", where);
  SY_CHECK(
      m.groups.empty() || m.groups[0].names().empty() == group.names().empty(),
      Value, "{}: expected names for the parameters of all groups or of none",
      where);
  OptimizerOptions& defaults = *m.defaults;
  if (!group.has_options()) group.set_options(defaults.clone());
  OptimizerOptions& own = group.options();
  SY_CHECK(typeid(own) == typeid(defaults), Type,
           "{}.options: expected those of {}, got those of {}", where, name,
           own.optimizer());
  own.inherit(defaults);
  own.check(OptionCheck(where + "."));
  std::unordered_map<const TensorImpl*, std::string> seen;
  std::unordered_set<std::string> keys;
  for (size_t g = 0; g < m.groups.size(); ++g) {
    for (size_t i = 0; i < m.groups[g].params().size(); ++i) {
      const std::string key = key_of(g, i);
      keys.insert(key);
      seen.emplace(m.groups[g].params()[i].impl(),
                   str("param_groups[{}] has it as {}", g, key));
    }
  }
  const size_t first = size();
  for (size_t i = 0; i < group.params().size(); ++i) {
    const Tensor& p = group.params()[i];
    const std::string key =
        group.names().empty() ? std::to_string(first + i) : group.names()[i];
    const std::string at = str("{} parameter {}", where, key);
    SY_CHECK(p.defined(), Value, "{}: expected a tensor, got an undefined one",
             at);
    SY_CHECK(p.is_floating_point(), Value,
             "{}: expected floating point numbers, got {}", at,
             p.scalar_type());
    SY_CHECK(
        group.options().is_differentiable() || p.is_leaf() || p.retains_grad(),
        Value, "{}: expected a leaf, got the result of an operator", at);
    const auto [there, is_new] =
        seen.emplace(p.impl(), str("it is also {}", key));
    SY_CHECK(is_new, Value, "{}: expected each parameter once, but {}", at,
             there->second);
    SY_CHECK(keys.insert(key).second, Value,
             "{}: expected each name once, got it twice", at);
    group.options().check_parameter(p, at);
  }
  m.groups.push_back(std::move(group));
  m.plans.emplace_back();
}

std::string Optimizer::Impl::key_of(size_t group, size_t index) const {
  const OptimizerParamGroup& g = groups[group];
  if (index < g.names().size()) return g.names()[index];
  for (size_t i = 0; i < group; ++i) index += groups[i].params().size();
  return std::to_string(index);
}

std::string Optimizer::key_of(size_t group, size_t index) const {
  return impl_->key_of(group, index);
}

std::vector<OptimizerParamGroup>& Optimizer::param_groups() noexcept {
  return impl_->groups;
}
const std::vector<OptimizerParamGroup>& Optimizer::param_groups()
    const noexcept {
  return impl_->groups;
}
std::vector<Tensor>& Optimizer::parameters() noexcept {
  return impl_->groups[0].params();
}
const std::vector<Tensor>& Optimizer::parameters() const noexcept {
  return impl_->groups[0].params();
}
OptimizerOptions& Optimizer::defaults() noexcept { return *impl_->defaults; }
const OptimizerOptions& Optimizer::defaults() const noexcept {
  return *impl_->defaults;
}

size_t Optimizer::size() const noexcept {
  size_t n = 0;
  for (const OptimizerParamGroup& g : impl_->groups) n += g.params().size();
  return n;
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizerParamGroup& g : impl_->groups) {
    for (const Tensor& p : g.params()) {
      if (!p.grad().defined()) continue;
      if (set_to_none) {
        p.mutable_grad().reset();
      } else {
        const NoGradGuard no_grad;
        const Tensor zero = p.grad().detach();
        zero.zero_();
        p.mutable_grad() = zero;
      }
    }
  }
}

Tensor Optimizer::step(LossClosure closure) {
  Tensor loss;
  if (closure) {
    const AutoGradMode grad(true);
    loss = closure();
  }
  std::vector<Group> read;
  for (size_t g = 0; g < impl_->groups.size(); ++g) {
    const OptimizerParamGroup& group = impl_->groups[g];
    const AutoGradMode grad(group.options().is_differentiable());
    read.push_back({&group, {}});
    impl_->step(g, &read.back());
  }
  if (thread_state.capture != nullptr) {
    impl_->last_capture = thread_state.capture->number();
    tell_options(impl_->groups, impl_->renumbered, impl_->alive,
                 std::move(read));
  }
  return loss;
}

const UpdateRule& Optimizer::Impl::rule() const {
  const UpdateRule* const rule = defaults->rule();
  SY_CHECK(rule != nullptr, NotImplemented,
           "[{}] step: this optimizer does not override it",
           defaults->optimizer());
  return *rule;
}

bool Optimizer::Impl::fits(const Plan& plan, const OptimizerParamGroup& group,
                           bool as_tensors) const {
  const std::vector<Tensor>& params = group.params();
  if (plan.as_tensors != as_tensors || plan.seen.size() != params.size()) {
    return false;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (plan.seen[i].first != params[i].impl() ||
        plan.seen[i].second != params[i].grad().defined()) {
      return false;
    }
  }
  for (const Members& m : plan.buckets) {
    const Bucket& b = m.bucket;
    if (b.differentiable != group.options().is_differentiable() ||
        m.wanted != rule().wanted(group.options(), b.params[0])) {
      return false;
    }
  }
  return true;
}

namespace {

// The properties that the parameters of a bucket share.
struct BucketKey {
  int device, index, dtype;
  uint32_t present, wanted;
  std::vector<double> numbers;
  const void* tensors;

  auto operator<=>(const BucketKey&) const = default;
};

// Tensors are float64, as numbers known here are: 1 - beta of a beta near 1
// has few digits in float32.
Number as_number(const Number& n, bool as_tensor, const Tensor& param) {
  if (n.is_tensor() == as_tensor) return n;
  if (!as_tensor) return n.value();
  return Number(
      full({}, n.known(), TensorOptions(kDouble).device(param.device())));
}

}  // namespace

void Optimizer::Impl::make_plan(Plan* plan, const OptimizerParamGroup& group,
                                bool as_tensors) {
  const UpdateRule& rule = this->rule();
  const OptimizerOptions& options = group.options();
  const size_t kinds = rule.names().tensors.size();
  const size_t count = rule.names().numbers.size();
  plan->seen.clear();
  plan->buckets.clear();
  plan->as_tensors = as_tensors;
  std::map<BucketKey, size_t> places;
  for (const Tensor& p : group.params()) {
    const bool has_grad = p.grad().defined();
    plan->seen.emplace_back(p.impl(), has_grad);
    if (!has_grad) continue;
    ParamState& s = states[p.impl()];
    s.tensors.resize(kinds);
    if (s.numbers == nullptr) {
      s.numbers = std::make_shared<SharedNumbers>();
      for (size_t k = 0; k < count; ++k) {
        s.numbers->values.emplace_back(
            rule.first_number(static_cast<int>(k), options));
      }
    }
    BucketKey key{static_cast<int>(p.device().type()),
                  p.device().index(),
                  static_cast<int>(p.scalar_type()),
                  0,
                  rule.wanted(options, p),
                  {},
                  nullptr};
    for (size_t k = 0; k < kinds; ++k) {
      key.present |= uint32_t{s.tensors[k].defined()} << k;
    }
    for (const Number& n : s.numbers->values) {
      if (n.is_tensor() && as_tensors) {
        key.tensors = s.numbers.get();
      } else {
        key.numbers.push_back(n.value());
      }
    }
    const auto [at, is_new] = places.emplace(key, plan->buckets.size());
    if (is_new) {
      Members& m = plan->buckets.emplace_back();
      m.wanted = key.wanted;
      m.bucket.made = key.wanted & ~key.present;
      m.bucket.states.resize(kinds);
      m.bucket.differentiable = options.is_differentiable();
    }
    Members& m = plan->buckets[at->second];
    m.bucket.params.push_back(p);
    m.states.push_back(&s);
    for (size_t k = 0; k < kinds; ++k) {
      if ((key.wanted >> k & 1) == 0) continue;
      if (!s.tensors[k].defined()) {
        s.tensors[k] = rule.make_state(static_cast<int>(k), options, p);
      }
      m.bucket.states[k].push_back(s.tensors[k]);
    }
  }
  for (Members& m : plan->buckets) {
    // Others that took the same steps so far may not take this one.
    m.numbers = std::make_shared<SharedNumbers>();
    const SharedNumbers& before = *m.states[0]->numbers;
    const bool alone = static_cast<size_t>(m.states[0]->numbers.use_count()) ==
                       m.states.size();
    for (const Number& n : before.values) {
      Number own = as_number(n, as_tensors, m.bucket.params[0]);
      if (n.is_tensor() && own.is_tensor() && !alone) {
        own = Number(own.tensor().clone());
        ++renumbered;
      }
      m.numbers->values.push_back(std::move(own));
    }
    m.bucket.numbers = m.numbers->values;
    for (ParamState* const s : m.states) s->numbers = m.numbers;
  }
}

void Optimizer::Impl::take_grads(size_t group, Bucket* b) const {
  b->grads.clear();
  for (const Tensor& p : b->params) {
    const Tensor& g = b->grads.emplace_back(p.grad());
    if (SY_LIKELY(g.sizes() == p.sizes())) continue;
    const std::vector<Tensor>& all = groups[group].params();
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Tensor& t) { return t.is_same(p); });
    fail(ErrorKind::Value,
         "[{}] step: gradient of parameter {}: expected sizes {}, got {}",
         defaults->optimizer(),
         key_of(group, static_cast<size_t>(at - all.begin())), p.sizes(),
         g.sizes());
  }
}

// The tensors that a captured step reads must have their values before the
// graph runs, unless an earlier step of the same capture reads them too.
void Optimizer::Impl::refresh(OptimizerOptions& options) const {
  std::optional<ThreadModesGuard> no_modes;
  if (thread_state.capture != nullptr &&
      thread_state.capture->number() != last_capture) {
    no_modes.emplace();
  }
  options.refresh_tensors();
}

void Optimizer::Impl::step(size_t index, Group* read) {
  OptimizerParamGroup& group = groups[index];
  OptimizerOptions& options = group.options();
  const UpdateRule& rule = this->rule();
  const bool captured = thread_state.capture != nullptr;
  refresh(options);
  Plan& plan = plans[index];
  // Once they are tensors they stay: a captured step may write to them.
  const bool as_tensors =
      options.is_capturable() || captured || plan.as_tensors;
  if (!fits(plan, group, as_tensors)) make_plan(&plan, group, as_tensors);
  for (Members& m : plan.buckets) take_grads(index, &m.bucket);
  for (Members& m : plan.buckets) {
    Bucket& b = m.bucket;
    Number lr = options.get_lr();
    if (captured) lr = Number(options.lr_tensor(b.params[0].device()));
    Update u(b, std::move(lr));
    if (captured) u.take_inputs(&options, &read->inputs);
    rule.update(options, u);
    u.run();
    b.made = 0;
    b.grads.clear();
    m.numbers->values = b.numbers;
    if (!b.differentiable) continue;
    for (size_t k = 0; k < b.states.size(); ++k) {
      for (size_t i = 0; i < b.states[k].size(); ++i) {
        m.states[i]->tensors[k] = b.states[k][i];
      }
    }
  }
}

}  // namespace sy::optim
