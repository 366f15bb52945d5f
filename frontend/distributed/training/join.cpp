#include "frontend/distributed/training/join.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "frontend/distributed/training/data_parallel_state.h"

namespace sy::distributed {

Join::Join(std::vector<DataParallelBase*> models, const JoinOptions& options)
    : models_(std::move(models)),
      options_(options),
      exceptions_(std::uncaught_exceptions()) {
  SY_CHECK(!models_.empty(), Value, "[Join] models: expected at least one");
  for (DataParallelBase* m : models_) {
    SY_CHECK(
        m != nullptr && m->group()->ranks() == models_[0]->group()->ranks(),
        Value, "[Join] models: expected models of the same ranks");
  }
  for (DataParallelBase* m : models_) m->state_->joining = true;
}

Join::~Join() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_) {
    restore();
    return;
  }
  finish();
}

void Join::restore() noexcept {
  ended_ = true;
  for (DataParallelBase* m : models_) {
    m->state_->joining = false;
    m->state_->reducer->set_active(0, 1);
  }
}

std::vector<bool> Join::exchange(bool have_inputs) {
  ProcessGroup& group = *models_[0]->group();
  const Tensor mine = full({1}, have_inputs ? 1 : 0, kByte);
  const Tensor all = empty({group.size()}, kByte);
  const CallLabel label("which ranks have inputs left");
  group.allgather_into_tensor(all, mine);
  const auto* const a = static_cast<const uint8_t*>(all.data_ptr());
  return std::vector<bool>(a, a + group.size());
}

// Makes the first rank with inputs the source of all that comes from one rank.
void Join::prepare(const std::vector<bool>& active) {
  root_ = static_cast<int>(std::find(active.begin(), active.end(), true) -
                           active.begin());
  const auto left = std::count(active.begin(), active.end(), true);
  const double scale =
      options_.divide_by_initial_world_size
          ? 1
          : static_cast<double>(active.size()) / static_cast<double>(left);
  for (DataParallelBase* m : models_) {
    m->state_->reducer->set_active(root_, scale);
    if (m->state_->options.broadcast_buffers) m->state_->send_buffers(root_);
  }
}

void Join::step() {
  SY_CHECK(!ended_, Error, "[Join] step() after finish()");
  const std::vector<bool> active = exchange(true);
  const auto gone = std::find(active.begin(), active.end(), false);
  if (options_.throw_on_early_termination && gone != active.end()) {
    restore();
    fail(ErrorKind::Error,
         "[Join] rank {} has no more inputs (throw_on_early_termination)",
         gone - active.begin());
  }
  prepare(active);
}

void Join::finish() {
  if (std::exchange(ended_, true)) return;
  struct Restore {
    Join& join;
    ~Restore() { join.restore(); }
  } const restore{*this};
  // As long as others have inputs, those that were in the last step are ahead.
  for (;;) {
    const std::vector<bool> active = exchange(false);
    if (std::find(active.begin(), active.end(), true) == active.end()) break;
    if (options_.throw_on_early_termination) return;
    prepare(active);
    const bool keep = options_.shadow_step != nullptr;
    for (DataParallelBase* m : models_) m->state_->reducer->shadow(keep);
    if (keep) options_.shadow_step();
  }
  for (DataParallelBase* m : models_) m->state_->send_state(root_);
}

}  // namespace sy::distributed
