#include "frontend/distributed/training/data_parallel.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/distributed/context.h"
#include "frontend/distributed/training/data_parallel_state.h"
#include "frontend/distributed/training/model_check.h"
#include "frontend/distributed/training/sync_batch_norm.h"
#include "frontend/nn/modules/batchnorm.h"

namespace sy::distributed {

namespace {

// Gradients have groups of their own, so that their calls, whose place in
// backward depends on which gradients come, do not mix with calls of the model,
// or of other models.
constexpr int kGroups = 8;
constexpr const char* kGroupName = "gradients";

// Counts the models of this rank; the same on all ranks.
int next_model(const std::shared_ptr<Context::State>& context) {
  struct Counts {
    std::mutex mutex;
    std::vector<std::pair<std::weak_ptr<Context::State>, int>> all;
  };
  static auto* const counts = new Counts;  // leaked: for models of statics
  const std::lock_guard guard(counts->mutex);
  std::erase_if(counts->all, [](const auto& c) { return c.first.expired(); });
  for (auto& [of, n] : counts->all) {
    if (of.lock() == context) return ++n;
  }
  counts->all.emplace_back(context, 0);
  return 0;
}

std::shared_ptr<ProcessGroup> group_named(const std::string& name) {
  const std::shared_ptr<ProcessGroup> whole = world();
  Context& context = whole->context();
  try {
    return context.group(name);
  } catch (const ValueError&) {
    return context.new_group(whole->ranks(), name, whole->timeout());
  }
}

std::shared_ptr<ProcessGroup> group_of_model(bool deterministic) {
  const int n = next_model(world()->context().state()) % kGroups;
  std::string name = kGroupName;
  if (n > 0) name += " of model " + std::to_string(n + 1);
  if (deterministic) name += ", deterministic";
  return group_named(name);
}

std::string line_of(const char* kind, const std::string& name,
                    const Tensor& t) {
  std::string s =
      str("{} {} {}{}", kind, name, dtype_name(t.scalar_type()), t.sizes());
  // Buckets are laid out as the parameters.
  if (!t.is_contiguous()) s += str(" with strides {}", t.strides());
  return s;
}

// The lines on which all ranks must agree.
std::vector<std::string> lines_of(const nn::Module* module,
                                  const DataParallelOptions& o) {
  std::vector<std::string> lines{
      str("bucket_bytes = {}", o.bucket_bytes),
      str("first_bucket_bytes = {}", o.first_bucket_bytes),
      str("find_unused_parameters = {}", o.find_unused_parameters),
      str("static_graph = {}", o.static_graph),
      str("broadcast_buffers = {}", o.broadcast_buffers),
      str("init_sync = {}", o.init_sync),
      str("deterministic = {}", o.deterministic),
      str("sync_batch_norm = {}", o.sync_batch_norm)};
  if (module == nullptr) {
    lines.push_back("no module");
    return lines;
  }
  for (const auto& p : module->named_parameters()) {
    lines.push_back(line_of("parameter", p.key(), p.value()));
    if (!p.value().requires_grad()) lines.back() += " without gradient";
  }
  for (const auto& b : module->named_buffers()) {
    lines.push_back(line_of("buffer", b.key(), b.value()));
  }
  return lines;
}

std::vector<Tensor> detached(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) all.push_back(t.detach());
  return all;
}

using Storages = std::unordered_set<const StorageImpl*>;

void add_statistics(const nn::Module& m, Storages* to) {
  if (!m.is_training()) return;
  const auto add = [&](const auto* layer) {
    if (layer == nullptr || !layer->running_mean.defined()) return;
    to->insert(layer->running_mean.storage().get());
    to->insert(layer->running_var.storage().get());
  };
  add(m.as<nn::NormImplBase<nn::BatchNormOptions>>());
  add(m.as<nn::SyncBatchNormImpl>());
}

// Running statistics of layers that train. No gradient reads them, though
// graphs have saved them: as each forward does, one writes them without a new
// version.
Storages trained_statistics(const nn::Module& module) {
  Storages found;
  add_statistics(module, &found);
  for (const auto& m : module.modules(false)) add_statistics(*m, &found);
  return found;
}

}  // namespace

void DataParallelBase::State::prepare_forward() const {
  const bool trains = module->is_training() && GradMode::is_enabled();
  if (trains && !joining && reducer->is_between_steps()) send_buffers(0);
}

void DataParallelBase::State::send_buffers(int root) const {
  const std::vector<Tensor> buffers = detached(module->buffers());
  if (buffers.empty()) return;
  const NoGradGuard no_grad;
  const CallLabel label("buffers of the model");
  if (group->rank() == root) {
    group->broadcast_coalesced(buffers, root);
    return;
  }
  // An earlier forward may have saved them. Buffers that do not change are not
  // written; where that cannot be seen at once, statistics alone go apart.
  const Storages statistics = trained_statistics(*module);
  std::vector<Tensor> sent;
  for (const Tensor& b : buffers) {
    const bool apart =
        b.device().is_cpu() || statistics.contains(b.storage().get());
    sent.push_back(apart ? empty_like(b) : b);
  }
  group->broadcast_coalesced(sent, root);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Tensor& b = buffers[i];
    if (sent[i].is_same(b)) continue;
    if (statistics.contains(b.storage().get())) {
      _copy_from(sent[i], b);
    } else if (!equal(b, sent[i])) {
      b.copy_(sent[i]);
    }
  }
}

void DataParallelBase::State::send_state(int root) const {
  const NoGradGuard no_grad;
  std::vector<Tensor> all = detached(module->parameters());
  for (Tensor& b : detached(module->buffers())) all.push_back(std::move(b));
  const CallLabel label("parameters and buffers of the model");
  group->broadcast_coalesced(all, root);
}

std::shared_ptr<nn::Module> DataParallelBase::pointer_to(nn::Module& module) {
  if (auto shared = module.weak_from_this().lock()) return shared;
  // One on the stack, or a member: the caller keeps it.
  return {std::shared_ptr<nn::Module>(), &module};
}

DataParallelBase::DataParallelBase(std::shared_ptr<nn::Module> module,
                                   const DataParallelOptions& options)
    : state_(std::make_shared<State>()) {
  State& s = *state_;
  s.options = options;
  s.group = options.group;
  if (s.group == nullptr) {
    if (Context::current() == nullptr) init();
    s.group = group_named(kGroupName);
  }
  // This check comes first, so that a mistake of one rank is an error on all.
  check_same_lines(
      *s.group,
      "[DistributedDataParallel] expected the same model and options on all "
      "ranks",
      lines_of(module.get(), options));
  SY_CHECK(module != nullptr, Value,
           "[DistributedDataParallel] module: expected a module, got nullptr");
  s.module = std::move(module);
  std::vector<TrainedParameter> trained;
  for (const auto& p : s.module->named_parameters()) {
    if (p.value().requires_grad()) trained.push_back({p.key(), p.value()});
  }
  SY_CHECK(!trained.empty(), Value,
           "[DistributedDataParallel] module: expected parameters that require "
           "a gradient, got a {} without any",
           s.module->name());
  if (options.group == nullptr) s.group = group_of_model(options.deterministic);
  if (options.deterministic) s.group->set_deterministic(true);
  if (options.sync_batch_norm) {
    nn::convert_sync_batchnorm(*s.module, options.group);
  }
  if (options.init_sync) s.send_state(0);
  s.reducer = std::make_shared<Reducer>(std::move(trained), s.group, options);
  s.reducer->start();
  if (!options.broadcast_buffers || s.module->buffers().empty()) return;
  s.sends_in_calls = s.module->weak_from_this().expired();
  if (s.sends_in_calls) return;
  // Clones of the module have the hook, too, and may live longer.
  s.before_forward = s.module->register_forward_pre_hook(
      [weak = std::weak_ptr<State>(state_)](nn::Module& m,
                                            std::vector<Tensor>&) {
        const auto state = weak.lock();
        if (state != nullptr && state->module.get() == &m) {
          state->prepare_forward();
        }
      });
}

DataParallelBase::DataParallelBase(DataParallelBase&&) noexcept = default;
DataParallelBase& DataParallelBase::operator=(DataParallelBase&&) noexcept =
    default;
DataParallelBase::~DataParallelBase() = default;

void DataParallelBase::prepare_call() const {
  if (state_->sends_in_calls) state_->prepare_forward();
}

void DataParallelBase::set_comm_hook(CommHook hook) {
  state_->reducer->set_hook(std::move(hook));
}

const std::shared_ptr<ProcessGroup>& DataParallelBase::group() const noexcept {
  return state_->group;
}

std::vector<std::vector<std::string>> DataParallelBase::buckets() const {
  return state_->reducer->buckets();
}

DataParallelBase::NoSync::NoSync(DataParallelBase& ddp)
    : reducer_(ddp.state_->reducer) {
  ddp.state_->reducer->pause();
}

DataParallelBase::NoSync::~NoSync() {
  if (const auto r = reducer_.lock()) r->go_on();
}

}  // namespace sy::distributed
