#include <algorithm>
#include <set>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/export/program.h"
#include "frontend/export/program_plan.h"
#include "frontend/export/run.h"

namespace sy {

namespace {

using Storages = std::set<const StorageImpl*>;

void add_storages(const std::vector<Value>& values, Storages* out) {
  for (const Value& v : values) {
    if (v.is_tensor() && v.to_tensor().defined()) {
      out->insert(v.to_tensor().storage().get());
    }
  }
}

class PeakBytes : public exporting::RunObserver {
 public:
  explicit PeakBytes(Storages outside) : outside_(std::move(outside)) {}

  void after_step(const std::vector<Value>& values) override {
    Storages held;
    for (const Storages& around : around_) {
      held.insert(around.begin(), around.end());
    }
    add_storages(values, &held);
    int64_t bytes = 0;
    for (const StorageImpl* s : held) {
      if (!outside_.contains(s)) bytes += static_cast<int64_t>(s->nbytes());
    }
    most_ = std::max(most_, bytes);
  }
  void enter_graph(const std::vector<Value>& values) override {
    add_storages(values, &around_.emplace_back());
  }
  void leave_graph() override { around_.pop_back(); }

  int64_t most() const { return most_; }

 private:
  const Storages outside_;
  std::vector<Storages> around_;  // of graphs whose steps are graphs
  int64_t most_ = 0;
};

}  // namespace

int64_t ProgramImpl::peak_bytes(const std::vector<ArchiveValue>& inputs) const {
  const NoGradGuard no_grad;
  const std::vector<Value> user = plan().inputs.of_leaves(inputs);
  Storages outside;
  add_storages(user, &outside);
  for (const Tensor& t : held_) outside.insert(t.storage().get());
  PeakBytes peak(std::move(outside));
  run(user, &peak);
  return peak.most();
}

}  // namespace sy
