#include "frontend/distributed/training/comm_hooks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "frontend/distributed/training/data_parallel.h"
#include "test/frontend/distributed/trained_models.h"

namespace sy::distributed {
namespace {

std::vector<Trained> train_with(int size, const Training& how,
                                const std::function<CommHook()>& hook,
                                const DataParallelOptions& options = {
                                    .bucket_bytes = 300}) {
  std::vector<Trained> all(static_cast<size_t>(size));
  Ranks ranks(size);
  ranks.run([&](int rank) {
    const auto model = known(std::make_shared<Mlp>());
    DistributedDataParallel ddp(model, options);
    ddp.set_comm_hook(hook());
    all[static_cast<size_t>(rank)] = train(*model, how, rank, size);
  });
  return all;
}

TEST(CommHooks, AHookOfAllReduceChangesNothing) {
  const auto one = known(std::make_shared<Mlp>());
  for (const bool none : {true, false}) {
    Training how;
    how.set_to_none = none;
    const auto model = known(std::make_shared<Mlp>());
    const Trained alone = train(*model, how);
    for (const int size : {1, 2, 3}) {
      expect_equal_to_one(train_with(size, how, allreduce_hook), alone);
    }
    expect_equal_to_one(train_with(2, how, [] { return CommHook(); }), alone);
  }
}

TEST(CommHooks, FewerBitsAreCloseAndTheSameOnAllRanks) {
  Training how;
  how.steps = 10;
  const auto model = known(std::make_shared<Mlp>());
  const Trained alone = train(*model, how);
  for (const auto& [hook, tolerance] :
       {std::pair{&bf16_compress_hook, 2e-2}, {&fp16_compress_hook, 2e-3}}) {
    const auto all = train_with(3, how, hook);
    expect_equal_to_one(all, alone, tolerance);
    // It is not sent in full.
    EXPECT_NE(all[0].parameters,
              train_with(3, how, allreduce_hook)[0].parameters);
  }
}

TEST(CommHooks, DividesBeforeItAdds) {
  // In half, 4 times 40,000 would be infinite.
  Ranks ranks(4);
  ranks.run([](int) {
    nn::Linear model(1, 1);
    DistributedDataParallel ddp(model);
    ddp.set_comm_hook(fp16_compress_hook());
    model(filled({1, 1}, 40'000)).sum().backward();
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{40'000});
  });
}

TEST(CommHooks, SeesBuckets) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    Mlp model;
    DistributedDataParallel ddp(model, {.bucket_bytes = 1});
    std::vector<std::string> names;
    std::vector<size_t> indices;
    ddp.register_comm_hook([&](GradBucket& b) {
      EXPECT_EQ(b.count(), 6u);
      EXPECT_EQ(b.is_last(), b.index() == 5);
      EXPECT_EQ(b.names().size(), b.gradients().size());
      EXPECT_EQ(&b.group(), ddp.group().get());
      EXPECT_TRUE(b.gradients()[0].is_alias_of(b.buffer()));
      EXPECT_GE(b.buffer().numel(), b.gradients()[0].numel());
      EXPECT_FALSE(GradMode::is_enabled());
      names.push_back(b.names()[0]);
      indices.push_back(b.index());
      // Nothing is sent: what is there is the result.
      b.gradients()[0].fill_(7);
    });
    nn::call_module(model, filled({2, 6}, rank)).sum().backward();
    for (const Numbers& g : gradients(model)) {
      EXPECT_EQ(g, Numbers(g.size(), 7));
    }
    EXPECT_EQ(indices, (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{
                         "first.bias", "first.weight", "last.bias",
                         "last.weight", "middle.bias", "middle.weight"}));
  });
}

TEST(CommHooks, UnusedParametersAndJoinedErrorsAreKnownWithHooks) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    Mlp model;
    DistributedDataParallel ddp(model, {.bucket_bytes = 1});
    ddp.set_comm_hook(bf16_compress_hook());
    const std::string error = error_of([&] {
      const Tensor x = ones({2, 6});
      (rank == 0 ? nn::call_module(model, x) : model.first(x)).sum().backward();
    });
    EXPECT_NE(error.find("got none for middle.weight, middle.bias, "
                         "last.weight, last.bias on rank 1"),
              std::string::npos)
        << error;
    nn::call_module(model, ones({2, 6})).sum().backward();
  });
}

TEST(CommHooks, ErrorsOfAHookAreThoseOfBackward) {
  for (const bool at_end : {false, true}) {
    Ranks ranks(2);
    ranks.run([&](int) {
      nn::Linear model(1, 1);
      DistributedDataParallel ddp(model);
      bool throws = true;
      ddp.set_comm_hook([&](GradBucket& b) -> std::function<void()> {
        if (throws && !at_end) throw std::runtime_error("hook");
        const Work work =
            b.group().allreduce(b.buffer(), ReduceOp::AVG, kAsync);
        return [&, work] {
          work.wait();
          if (throws) throw std::runtime_error("hook");
        };
      });
      try {
        model(ones({1, 1})).sum().backward();
        ADD_FAILURE() << "no error";
      } catch (const std::exception& e) {
        EXPECT_NE(std::string(e.what()).find("hook"), std::string::npos);
      }
      throws = false;
      model->zero_grad();
      model(ones({1, 1})).sum().backward();
      EXPECT_EQ(numbers(model->weight.grad()), Numbers{1});
    });
  }
}

TEST(CommHooks, HooksThatDifferAreAnErrorOnAllRanks) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear model(1, 1);
    DistributedDataParallel ddp(model);
    ddp.set_comm_hook(rank == 0 ? bf16_compress_hook() : allreduce_hook());
    const std::string error = error_of([&] {
      model(ones({1, 1})).sum().backward();
    });
    EXPECT_NE(error.find("the ranks disagree"), std::string::npos) << error;
    EXPECT_NE(error.find("bfloat16"), std::string::npos) << error;
    EXPECT_NE(error.find("weight"), std::string::npos) << error;
  });
}

// A regression with a matrix of `rank`: x w = y, with another part of the rows
// on each rank.
struct Regression {
  Regression(int64_t n, int64_t m, int64_t rank)
      : x(random({24, n}, 1)),
        y(x.matmul(random({n, rank}, 2)).matmul(random({rank, m}, 3))) {}
  Tensor x, y;
};

double loss_after(const Regression& r, int steps,
                  const PowerSGDOptions& options, int size = 2) {
  double loss = 0;
  std::vector<std::vector<Numbers>> parameters(static_cast<size_t>(size));
  Ranks ranks(size);
  ranks.run([&](int rank) {
    nn::Linear model(r.x.size(1), r.y.size(1));
    model->to(kDouble);
    DistributedDataParallel ddp(model, {.bucket_bytes = 1});
    ddp.set_comm_hook(powersgd_hook(options));
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.2));
    for (int step = 0; step < steps; ++step) {
      optimizer.zero_grad();
      const Tensor x = part(r.x, rank, size), y = part(r.y, rank, size);
      (model(x) - y).square().mean().mul(10).backward();
      optimizer.step();
    }
    parameters[static_cast<size_t>(rank)] = numbers(model->parameters());
    const NoGradGuard no_grad;
    if (rank == 0) loss = (model(r.x) - r.y).square().mean().item<double>();
  });
  for (const auto& p : parameters) EXPECT_EQ(p, parameters[0]);
  return loss;
}

TEST(PowerSGD, ConvergesOnARegression) {
  const Regression r(10, 12, 3);
  PowerSGDOptions exact;
  exact.start_after = 1'000'000;
  const double start = loss_after(r, 0, exact);
  const double full = loss_after(r, 300, exact);
  EXPECT_LT(full, start / 20);
  for (const int64_t rank : {1, 2, 4}) {
    PowerSGDOptions o;
    o.rank = rank;
    o.start_after = 2;
    o.least_compression = 1;
    EXPECT_LT(loss_after(r, 300, o), 2 * full + start / 100) << rank;
    EXPECT_LT(loss_after(r, 300, o, 3), 2 * full + start / 100) << rank;
    o.warm_start = false;
    EXPECT_LT(loss_after(r, 300, o), start / 10) << rank;
  }
}

// Averages of gradients that were given, step by step.
std::vector<Numbers> averages(
    const PowerSGDOptions& options, int size, int steps,
    const std::function<Tensor(int rank, int step)>& gradient) {
  std::vector<Numbers> got;
  Ranks ranks(size);
  ranks.run([&](int rank) {
    nn::Linear model(nn::LinearOptions(8, 6).bias(false));
    model->to(kDouble);
    DistributedDataParallel ddp(model);
    ddp.set_comm_hook(powersgd_hook(options));
    for (int step = 0; step < steps; ++step) {
      model->zero_grad();
      (model->weight * gradient(rank, step)).sum().backward();
      if (rank == 0) got.push_back(numbers(model->weight.grad()));
    }
  });
  return got;
}

TEST(PowerSGD, IsExactWhereTheRankIsEnough) {
  // The mean of two matrices of rank 1 has rank 2, with a bit less in float32.
  const auto gradient = [](int rank, int step) {
    return random({6, 1}, rank).matmul(random({1, 8}, 10 + rank)).mul(step + 1);
  };
  PowerSGDOptions o;
  o.start_after = 0;
  o.rank = 2;
  o.least_compression = 0;
  const auto got = averages(o, 2, 4, gradient);
  for (int step = 0; step < 4; ++step) {
    const Numbers want =
        numbers((gradient(0, step) + gradient(1, step)).mul(0.5));
    expect_near({got[static_cast<size_t>(step)]}, {want}, 1e-5);
  }
  // More columns than the rank: the rest must add nothing.
  o.rank = 5;
  const auto more = averages(o, 2, 4, gradient);
  for (int step = 0; step < 4; ++step) {
    const Numbers want =
        numbers((gradient(0, step) + gradient(1, step)).mul(0.5));
    expect_near({more[static_cast<size_t>(step)]}, {want}, 1e-5);
  }
}

TEST(PowerSGD, ColumnsComeBackAfterGradientsOfLowRank) {
  // Zeros, then rank 1, then rank 2.
  const auto gradient = [](int, int step) {
    Tensor g = zeros({6, 8}, kDouble);
    for (int k = 0; k < std::min(step, 2); ++k) {
      g = g + random({6, 1}, k).matmul(random({1, 8}, 10 + k));
    }
    return g;
  };
  PowerSGDOptions o;
  o.start_after = 0;
  o.rank = 2;
  o.least_compression = 0;
  const auto got = averages(o, 2, 4, gradient);
  for (int step = 0; step < 4; ++step) {
    expect_near({got[static_cast<size_t>(step)]}, {numbers(gradient(0, step))},
                1e-5);
  }
}

TEST(PowerSGD, KeepsWhatWasLost) {
  // With error feedback the sum over steps approaches that of the gradients.
  const auto gradient = [](int rank, int) { return random({6, 8}, rank); };
  const auto missing = [&](bool feedback) {
    PowerSGDOptions o;
    o.start_after = 0;
    o.least_compression = 0;
    o.error_feedback = feedback;
    const auto got = averages(o, 2, 60, gradient);
    const Numbers want =
        numbers((gradient(0, 0) + gradient(1, 0)).mul(0.5 * 60));
    double worst = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      double sum = 0;
      for (const Numbers& g : got) sum += g[i];
      worst = std::max(worst, std::abs(sum - want[i]));
    }
    return worst;
  };
  EXPECT_GT(missing(false), 10);
  EXPECT_LT(missing(true), 8);
}

TEST(PowerSGD, StateStaysWhenBucketsAreMadeAnew) {
  // Buckets are rebuilt after the first step: results must not depend on that.
  Training how;
  how.steps = 6;
  how.set_to_none = false;
  PowerSGDOptions o;
  o.start_after = 0;
  o.least_compression = 1;
  const auto hook = [&] { return powersgd_hook(o); };
  const auto small = train_with(2, how, hook, {.bucket_bytes = 1});
  const auto large =
      train_with(2, how, hook, {.bucket_bytes = size_t{1} << 20});
  for (const Trained& t : small) EXPECT_EQ(t.parameters, small[0].parameters);
  expect_near(small[0].parameters, large[0].parameters, 1e-5);
  EXPECT_LT(small[0].losses.back(), small[0].losses.front());
}

TEST(PowerSGD, OptionsAreChecked) {
  EXPECT_EQ(error_of([] { powersgd_hook({.rank = 0}); }),
            "[powersgd_hook] rank: expected at least 1, got 0");
}

}  // namespace
}  // namespace sy::distributed
