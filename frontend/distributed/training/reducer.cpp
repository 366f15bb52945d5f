#include "frontend/distributed/training/reducer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "c10/dispatch/thread_state.h"

namespace sy::distributed {

// The end of the outermost run calls end(). A run that throws drops it.
class Reducer::Step {
 public:
  explicit Step(std::weak_ptr<Reducer> reducer)
      : reducer_(std::move(reducer)) {}
  ~Step() {
    if (ended_) return;
    if (const auto r = reducer_.lock()) r->abort();
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  void end() {
    ended_ = true;
    if (const auto r = reducer_.lock()) r->finish();
  }

 private:
  std::weak_ptr<Reducer> reducer_;
  bool ended_ = false;
};

Reducer::Reducer(std::vector<TrainedParameter> parameters,
                 std::shared_ptr<ProcessGroup> group,
                 const DataParallelOptions& options)
    : parameters_(std::move(parameters)),
      group_(std::move(group)),
      options_(options),
      sizes_(choose_sizes(parameters_, options.first_bucket_bytes,
                          options.bucket_bytes)),
      slots_(parameters_.size()) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].tensor = parameters_[i].tensor;
  }
  // Gradients come in about the reverse order of use.
  std::vector<size_t> order(slots_.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  build(order);
}

Reducer::~Reducer() {
  for (Slot& s : slots_) s.hook.remove();
}

void Reducer::start() {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < slots_.size(); ++i) {
    leaves.push_back(slots_[i].tensor);
    slots_[i].hook = slots_[i].tensor.register_post_accumulate_grad_hook(
        autograd::LeafHook([weak = weak_from_this(), i](const Tensor&) {
          if (const auto r = weak.lock()) r->on_gradient(i);
        }));
  }
  watch_ = autograd::watch_leaves(
      std::move(leaves),
      [weak = weak_from_this()](const std::vector<size_t>& unreached) {
        if (const auto r = weak.lock()) r->begin(unreached);
      });
}

void Reducer::build(const std::vector<size_t>& order) {
  constexpr size_t kNamed = 3;
  const BucketPlan plan = plan_buckets(parameters_, order, sizes_);
  std::vector<Sending> made;
  for (size_t b = 0; b < plan.size(); ++b) {
    size_t tail = 0;
    if (b + 1 == plan.size()) tail = 1 + (allows_unused() ? slots_.size() : 0);
    std::vector<std::string> names;
    for (const size_t m : plan[b]) names.push_back(parameters_[m].name);
    made.push_back(
        {Bucket(parameters_, plan[b], tail),
         std::move(names),
         str("gradients of {} (bucket {} of {})",
             list_names(parameters_, plan[b], kNamed), b + 1, plan.size()),
         plan[b].size(),
         {},
         {}});
  }
  // Gradients that are views move along.
  const NoGradGuard no_grad;
  for (size_t b = 0; b < made.size(); ++b) {
    const Bucket& bucket = made[b].bucket;
    for (size_t i = 0; i < bucket.members().size(); ++i) {
      Slot& s = slots_[bucket.members()[i]];
      if (!sendings_.empty() && is_the_view(s.tensor.grad(), view(s))) {
        bucket.view(i).copy_(view(s));
        s.tensor.mutable_grad() = bucket.view(i);
      }
      s.bucket = b;
      s.index = i;
    }
  }
  sendings_ = std::move(made);
  tail_dirty_ = false;
}

void Reducer::set_active(int root, double scale) noexcept {
  root_ = root;
  scale_ = scale;
}

std::vector<std::vector<std::string>> Reducer::buckets() const {
  std::vector<std::vector<std::string>> all;
  for (const Sending& s : sendings_) all.push_back(s.names);
  return all;
}

void Reducer::reset_step() {
  running_ = threw_ = shadows_ = keeps_ = tail_sent_ = false;
  next_ = 0;
  order_.clear();
  for (Slot& s : slots_) {
    s.ready = false;
    s.hooks = 0;
    s.before.reset();
  }
  for (Sending& s : sendings_) {
    s.missing = s.bucket.members().size();
    s.work = Work();
    s.end = {};
  }
}

void Reducer::begin(const std::vector<size_t>& unreached) {
  if (!is_between_steps()) return;  // perhaps a run within the step
  running_ = true;
  const auto step = std::make_shared<Step>(weak_from_this());
  autograd::queue_callback([step] { step->end(); });
  // This check comes after queue_callback(), so that other ranks hear of it.
  SY_CHECK(!GradMode::is_enabled(), NotImplemented,
           "[DistributedDataParallel] backward: create_graph is not supported, "
           "as averages over ranks are not recorded; use autograd::grad() and "
           "all_reduce the results");
  if (options_.static_graph) {
    if (!learned_) return;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].expected == 0) {
        take_unused(i);
        ready(i);
      }
    }
  } else if (options_.find_unused_parameters) {
    for (const size_t i : unreached) {
      take_unused(i);
      ready(i);
    }
  }
  send_complete();
}

void Reducer::on_gradient(size_t i) {
  Slot& s = slots_[i];
  s.used = true;
  if (!running_) return;
  const bool waits = !options_.static_graph || learned_;
  if (++s.hooks == 1) order_.push_back(i);
  const bool one_more =
      options_.static_graph && learned_ && s.hooks > s.expected;
  if (one_more || s.bucket < next_) gradient_came_late(i);
  take_gradient(i);
  s.before.reset();
  if (!waits || s.ready || s.hooks < s.expected) return;
  ready(i);
  send_complete();
}

void Reducer::gradient_came_late(size_t i) const {
  const std::string& name = parameters_[i].name;
  SY_CHECK(!options_.static_graph, Error,
           "[DistributedDataParallel] {}: expected {} gradients in a backward, "
           "as in the first one (static_graph), got one more",
           name, slots_[i].expected);
  fail(
      ErrorKind::Error,
      "[DistributedDataParallel] {}: got a gradient in this backward after {}. "
      "It is used by several runs within one backward (a Function whose "
      "backward runs backward), so set static_graph, or let one run use it",
      name,
      slots_[i].hooks > 1 ? "its first one was sent"
                          : "it was taken for unused and zeros were sent");
}

void Reducer::take_gradient(size_t i) {
  Slot& s = slots_[i];
  const Tensor& to = view(s);
  Tensor& grad = s.tensor.mutable_grad();
  if (is_the_view(grad, to)) return;
  SY_CHECK(grad.sizes() == to.sizes() &&
               grad.scalar_type() == to.scalar_type() &&
               grad.device() == to.device(),
           Error,
           "[DistributedDataParallel] {}: expected a gradient like {}, as the "
           "parameter was when DistributedDataParallel was made, got {}",
           parameters_[i].name, describe(to), describe(grad));
  const NoGradGuard no_grad;
  to.copy_(grad);
  grad = to;
}

// A parameter without a gradient in this step may have one from before.
void Reducer::take_unused(size_t i) {
  Slot& s = slots_[i];
  const Tensor& to = view(s);
  const Tensor& grad = s.tensor.grad();
  const NoGradGuard no_grad;
  if (!grad.defined()) {
    to.zero_();
  } else if (!is_the_view(grad, to)) {
    to.copy_(grad);
  } else if (!s.used) {
    s.before = grad.clone();
  }
}

void Reducer::ready(size_t i) {
  Slot& s = slots_[i];
  s.ready = true;
  --sendings_[s.bucket].missing;
}

void Reducer::send_complete() {
  while (next_ < sendings_.size() && sendings_[next_].missing == 0) {
    Sending& s = sendings_[next_++];
    send(s, next_ == sendings_.size());
  }
}

void Reducer::send(Sending& s, bool last) {
  if (last) write_tail(s.bucket);
  const CallLabel label(s.label);
  if (!hook_) {
    s.work = group_->allreduce(s.bucket.everything(), ReduceOp::AVG, kAsync);
    tail_sent_ = last;
    return;
  }
  // The tail goes whatever becomes of the hook.
  const auto send_tail = [&] {
    if (!last) return;
    s.work = group_->allreduce(s.bucket.tail(), ReduceOp::AVG, kAsync);
    tail_sent_ = true;
  };
  const NoGradGuard no_grad;
  std::vector<Tensor> views;
  for (size_t i = 0; i < s.names.size(); ++i) {
    views.push_back(s.bucket.view(i));
  }
  GradBucket bucket(next_ - 1, sendings_.size(), s.bucket.gradients(),
                    std::move(views), s.names, *group_);
  try {
    s.end = hook_(bucket);
  } catch (...) {
    threw_ = true;
    if (last) {
      write_tail(s.bucket);
      send_tail();
    }
    throw;
  }
  send_tail();
}

void Reducer::write_tail(const Bucket& last) {
  const Trouble own = own_trouble();
  const int64_t n = last.tail().numel();
  if (n == 1 && own == kNone && !tail_dirty_) return;
  const Tensor values = zeros({n}, kFloat);
  auto* const v = static_cast<float*>(values.data_ptr());
  v[0] = own == kNone ? 0.0f : 1.0f;
  for (int64_t i = 1; i < n; ++i) {
    v[i] = slots_[static_cast<size_t>(i - 1)].used && !shadows_ ? 1.0f : 0.0f;
  }
  const NoGradGuard no_grad;
  last.tail().copy_(values);
  tail_dirty_ = own != kNone;
}

void Reducer::shadow(bool keep) {
  const NoGradGuard no_grad;
  running_ = shadows_ = true;
  keeps_ = keep;
  for (Sending& s : sendings_) {
    s.bucket.everything().zero_();
    s.missing = 0;
  }
  finish();
}

}  // namespace sy::distributed
