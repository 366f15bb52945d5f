#include <algorithm>
#include <map>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/copy_cast.h"
#include "aten/ops/factory.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/distributed/training/reducer.h"

// The end of a step: Note [One step of the reducer].

namespace sy::distributed {

void Reducer::finish() {
  struct Reset {
    Reducer& r;
    ~Reset() { r.reset_step(); }
  } const reset{*this};
  const NoGradGuard no_grad;
  for (size_t i = 0; i < slots_.size() && !shadows_; ++i) {
    if (slots_[i].ready) continue;
    if (slots_[i].hooks == 0 && !threw_) take_unused(i);
    ready(i);
  }
  std::exception_ptr error;
  while (next_ < sendings_.size()) {
    try {
      send_complete();
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
  }
  const Trouble own = own_trouble();
  try {
    wait_for_all();
  } catch (...) {
    if (error == nullptr) error = std::current_exception();
  }
  // All ranks agree on whether the last bucket came.
  if (!tail_sent_ || !sendings_.back().work.is_success()) {
    // An exception from before the end is under way already.
    if (error != nullptr) std::rethrow_exception(error);
    return;
  }

  const std::vector<float> tail = read_tail();
  std::vector<bool> used(slots_.size(), true);
  Reports reports;
  if (tail[0] > 0) {
    tail_dirty_ = true;
    reports = exchange_reports(own);
    for (size_t i = 0; i < used.size(); ++i) {
      used[i] = std::any_of(reports.begin(), reports.end(),
                            [&](const auto& r) { return r[1 + i] == kUsed; });
    }
  } else if (allows_unused()) {
    for (size_t i = 0; i < used.size(); ++i) used[i] = tail[1 + i] > 0;
  }
  if (!shadows_ || keeps_) keep_gradients(used);
  for (Slot& s : slots_) s.used = false;
  // The other ranks learn, so this one does, whatever went wrong here.
  if (reports.empty() && !learned_) {
    try {
      learn();
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
  }
  if (error != nullptr) std::rethrow_exception(error);
  if (!reports.empty()) throw_trouble(reports);
}

void Reducer::abort() noexcept {
  threw_ = true;
  try {
    finish();
  } catch (...) {
    // The exception that is under way says what happened on this rank.
  }
}

// Throws the first error, when all have ended.
void Reducer::wait_for_all() {
  std::exception_ptr error;
  const auto note = [&](const auto& f) {
    try {
      f();
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
  };
  for (Sending& s : sendings_) {
    note([&] {
      if (s.end) s.end();
    });
    // Waits for the tail, whatever became of the hook.
    note([&] {
      s.work.wait();
      if (scale_ != 1) s.bucket.gradients().mul_(scale_);
    });
  }
  if (error != nullptr) std::rethrow_exception(error);
}

std::vector<float> Reducer::read_tail() const {
  const Tensor t = sendings_.back().bucket.tail().cpu().to(kFloat);
  const auto* const v = static_cast<const float*>(t.data_ptr());
  return {v, v + t.numel()};
}

Reducer::Trouble Reducer::own_trouble() const {
  if (threw_) return kThrew;
  if (shadows_) return kNone;
  if (options_.static_graph) {
    const bool changed =
        learned_ &&
        std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) {
          return s.hooks != s.expected && !s.used;
        });
    return changed ? kChanged : kNone;
  }
  if (options_.find_unused_parameters) return kNone;
  const bool all = std::all_of(slots_.begin(), slots_.end(),
                               [](const Slot& s) { return s.used; });
  return all ? kNone : kUnused;
}

Reducer::Reports Reducer::exchange_reports(Trouble own) {
  const auto n = static_cast<int64_t>(1 + slots_.size());
  const Tensor mine = empty({n}, kChar);
  auto* const m = static_cast<int8_t*>(mine.data_ptr());
  m[0] = own;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& s = slots_[i];
    m[1 + i] = shadows_ ? kNotAsked
               : s.used ? kUsed
               : options_.static_graph && learned_ && s.expected == 0
                   ? kNotAsked
                   : kNotUsed;
  }
  const Tensor all = empty({group_->size() * n}, kChar);
  const CallLabel label("which gradients came in a backward");
  group_->allgather_into_tensor(all, mine);
  const auto* const a = static_cast<const int8_t*>(all.data_ptr());
  Reports reports;
  for (int r = 0; r < group_->size(); ++r) {
    reports.emplace_back(a + r * n, a + (r + 1) * n);
  }
  return reports;
}

namespace {

std::string ranks_text(const std::vector<int>& ranks, int size) {
  if (ranks.size() == static_cast<size_t>(size)) {
    return size == 1 ? "" : " on all ranks";
  }
  std::string s = ranks.size() == 1 ? " on rank " : " on ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) s += ", ";
    s += std::to_string(ranks[i]);
  }
  return s;
}

}  // namespace

// "fc1.weight, fc1.bias on rank 1; fc2.weight on all ranks".
std::string Reducer::unused_text(const Reports& reports) const {
  constexpr size_t kNamed = 20;
  std::map<std::vector<int>, std::vector<size_t>> by_ranks;
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::vector<int> ranks;
    for (size_t r = 0; r < reports.size(); ++r) {
      if (reports[r][1 + i] == kNotUsed) ranks.push_back(static_cast<int>(r));
    }
    if (!ranks.empty()) by_ranks[ranks].push_back(i);
  }
  std::string s;
  for (const auto& [ranks, which] : by_ranks) {
    if (!s.empty()) s += "; ";
    s += list_names(parameters_, which, kNamed);
    s += ranks_text(ranks, group_->size());
  }
  return s;
}

void Reducer::throw_trouble(const Reports& reports) const {
  const auto who = [&](Trouble t) {
    std::vector<int> ranks;
    for (size_t r = 0; r < reports.size(); ++r) {
      if (reports[r][0] == t) ranks.push_back(static_cast<int>(r));
    }
    return ranks;
  };
  const auto threw = who(kThrew), changed = who(kChanged);
  SY_CHECK(threw.empty(), Error,
           "[DistributedDataParallel] backward threw{}: the error there says "
           "why. The gradients of this step are of no use on any rank: drop "
           "them with zero_grad()",
           ranks_text(threw, group_->size()));
  SY_CHECK(changed.empty(), Error,
           "[DistributedDataParallel] static_graph: expected gradients of the "
           "same parameters as in the first backward; it differs{}. No "
           "gradient for {}",
           ranks_text(changed, group_->size()), unused_text(reports));
  fail(
      ErrorKind::Error,
      "[DistributedDataParallel] expected a gradient for each parameter in "
      "this backward, got none for {}. Zeros took their place in the averages; "
      "training may go on. Let the loss depend on all parameters on each rank, "
      "or set find_unused_parameters",
      unused_text(reports));
}

void Reducer::keep_gradients(const std::vector<bool>& used) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& s = slots_[i];
    Tensor& grad = s.tensor.mutable_grad();
    if (!used[i]) {
      if (s.before.defined()) view(s).copy_(s.before);
      if (shadows_) grad.reset();
      continue;
    }
    if (!is_the_view(grad, view(s))) grad = view(s);
  }
}

// Learns after the first step: buckets take the order in which gradients came
// at the root, and slots how often they come. A rank that had no inputs takes
// the root's numbers.
void Reducer::learn() {
  learned_ = true;
  const bool counts = options_.static_graph;
  if (options_.find_unused_parameters && !counts) return;
  const auto n = static_cast<int64_t>(slots_.size());
  const Tensor sent = zeros({2 * n}, kLong);
  auto* const order = static_cast<int64_t*>(sent.data_ptr());
  int64_t* const hooks = order + n;
  if (group_->rank() == root_) {
    // Gradients that did not come go last, as they were.
    std::vector<bool> stands(slots_.size(), false);
    for (const size_t i : order_) stands[i] = true;
    for (const Sending& s : sendings_) {
      for (const size_t m : s.bucket.members()) {
        if (!stands[m]) order_.push_back(m);
      }
    }
    std::copy(order_.begin(), order_.end(), order);
    for (size_t i = 0; i < slots_.size(); ++i) hooks[i] = slots_[i].hooks;
  }
  const CallLabel label("the order of gradients");
  group_->broadcast(sent, root_);
  for (size_t i = 0; counts && i < slots_.size(); ++i) {
    slots_[i].expected =
        shadows_ ? static_cast<uint32_t>(hooks[i]) : slots_[i].hooks;
  }
  build(std::vector<size_t>(order, order + n));
}

}  // namespace sy::distributed
