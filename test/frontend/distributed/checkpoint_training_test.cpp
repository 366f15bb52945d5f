#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/distributed/training/data_parallel.h"
#include "frontend/distributed/training/sampler.h"
#include "frontend/nn/modules/linear.h"
#include "frontend/optim/adam.h"
#include "test/frontend/distributed/checkpoint_samples.h"
#include "test/frontend/distributed/ranks.h"

// Training by several ranks that stops, and goes on with other numbers of them.

namespace sy::distributed {
namespace {

constexpr int64_t kBatch = 12;  // of all ranks together

struct Net : nn::Module {
  Net() {
    hidden = register_module("hidden", nn::Linear(3, 8));
    out = register_module("out", nn::Linear(8, 1));
    to(kDouble);
    // The same on all ranks, whose threads share the default generator.
    const NoGradGuard no_grad;
    for (const Tensor& p : parameters()) {
      p.copy_(arange(p.numel()).to(kDouble).sin().view(p.sizes()));
    }
  }
  Tensor forward(const Tensor& x) { return out(hidden(x).tanh()); }
  nn::Linear hidden{nullptr}, out{nullptr};
};

// One rank's part of it.
struct Training {
  explicit Training(int64_t samples)
      : x(arange(3.0 * static_cast<double>(samples))
              .to(kDouble)
              .cos()
              .view({samples, 3})),
        y(x.sum(1, true).square()),
        adam(net->named_parameters(), optim::AdamOptions(0.01)),
        sampler(samples, {.seed = 3}) {
    sampler.set_epoch(2);
  }

  // The samples of a step of this rank; none at the end of the epoch.
  std::vector<size_t> step() {
    const auto batch =
        sampler.next(static_cast<size_t>(kBatch / get_world_size()));
    if (!batch) return {};
    const std::vector<int64_t> indices(batch->begin(), batch->end());
    const Tensor i = tensor(indices);
    adam.zero_grad();
    const Tensor noise = randn({1}, generator, kDouble);
    const Tensor error =
        ddp(x.index_select(0, i)) - y.index_select(0, i) + noise;
    error.square().mean().backward();
    adam.step();
    return *batch;
  }

  CheckpointState state() const {
    CheckpointState s;
    s.add("model", net->state_dict());
    s.add("adam", adam.state_dict());
    s.add("sampler", sampler.state());
    s.add("generator", generator_state(generator));
    return s;
  }
  void set_state(const CheckpointState& s) {
    net->load_state_dict(s.get("model"));
    adam.load_state_dict(s.get("adam"));
    sampler.set_state(s.get("sampler"));
    set_generator_state(s.get("generator"), generator);
  }

  std::vector<double> parameters() const {
    std::vector<double> all;
    for (const Tensor& p : net->parameters()) {
      const auto* const v = p.const_data_ptr<double>();
      all.insert(all.end(), v, v + p.numel());
    }
    return all;
  }

  Tensor x, y;
  std::shared_ptr<Net> net = std::make_shared<Net>();
  DistributedDataParallel<Net> ddp{net};
  optim::Adam adam;
  DistributedSampler sampler;
  Generator generator = make_generator(11);
};

// The training that ranks did together.
struct Course {
  std::vector<int> seen;           // how often each sample came
  std::vector<double> parameters;  // at the end, of all ranks
  std::vector<double> loaded;      // those that were in the checkpoint
};

// Loads, if there is a checkpoint; trains, and saves after `steps`. -1: to the
// end of the epoch.
Course train(int ranks, int64_t samples, int steps, const std::string& folder) {
  Course run;
  run.seen.resize(static_cast<size_t>(samples));
  std::mutex lock;
  Ranks(ranks).run([&](int rank) {
    Training t(samples);
    if (!checkpoints(folder).empty()) t.set_state(load_checkpoint(folder));
    const std::vector<double> loaded = t.parameters();
    // Until all have read.
    barrier();
    for (int s = 0; s != steps; ++s) {
      const std::vector<size_t> had = t.step();
      if (had.empty()) break;
      const std::lock_guard guard(lock);
      for (const size_t i : had) ++run.seen[i];
    }
    if (steps >= 0) save_checkpoint(folder, t.state());
    const std::lock_guard guard(lock);
    if (run.parameters.empty()) {
      run.parameters = t.parameters();
      run.loaded = loaded;
    }
    EXPECT_EQ(t.parameters(), run.parameters) << "rank " << rank;
    EXPECT_EQ(loaded, run.loaded) << "rank " << rank;
  });
  return run;
}

TEST(CheckpointTraining, GoesOnWithAnyNumberOfRanks) {
  constexpr int64_t kSamples = 60;
  const Course whole = train(2, kSamples, -1, scratch("no_such"));
  EXPECT_EQ(whole.seen, std::vector<int>(kSamples, 1));
  for (const int ranks : {1, 2, 3, 4}) {
    const std::string folder = scratch("training");
    const Course before = train(2, kSamples, 2, folder);
    const Course after = train(ranks, kSamples, -1, folder);
    EXPECT_EQ(after.loaded, before.parameters);
    EXPECT_NE(after.parameters, before.parameters);
    // Each sample of the epoch once.
    for (size_t i = 0; i < kSamples; ++i) {
      EXPECT_EQ(before.seen[i] + after.seen[i], 1) << i;
    }
    // Steps are made of the same samples, whoever has them: all goes on as if
    // it had not stopped, but for the order of additions.
    for (size_t i = 0; i < whole.parameters.size(); ++i) {
      EXPECT_NEAR(after.parameters[i], whole.parameters[i], 1e-9) << i;
    }
    if (ranks == 2) {
      EXPECT_EQ(after.parameters, whole.parameters);
    }
    std::filesystem::remove_all(folder);
  }
}

TEST(CheckpointTraining, ChangesTheNumberOfRanksTwice) {
  constexpr int64_t kSamples = 61;
  const std::string folder = scratch("training_twice");
  std::vector<int> seen(kSamples);
  int64_t drawn = 0;
  for (const auto& [ranks, steps] :
       {std::pair(2, 1), std::pair(3, 2), std::pair(4, -1)}) {
    const Course run = train(ranks, kSamples, steps, folder);
    for (size_t i = 0; i < kSamples; ++i) {
      seen[i] += run.seen[i];
      drawn += run.seen[i];
    }
  }
  // The last shares are filled up to be equal: 25 were left, for 4 ranks.
  EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), 1);
  EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 2);
  EXPECT_EQ(drawn, 36 + 28);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sy::distributed
