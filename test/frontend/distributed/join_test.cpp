#include "frontend/distributed/training/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "autograd/hooks.h"
#include "test/frontend/distributed/trained_models.h"

namespace sy::distributed {
namespace {

using Counts = std::vector<int>;

double total(const Counts& inputs, int step) {
  return static_cast<double>(std::count_if(inputs.begin(), inputs.end(),
                                           [&](int n) { return n > step; }));
}

Tensor input(int rank, int step) { return random({4, 6}, 100 * rank + step); }
Tensor target(int rank, int step) {
  return random({4, 3}, 5000 + 100 * rank + step);
}

// Trains in one process with the inputs that are left in each step.
std::vector<Numbers> alone(const Counts& inputs, bool by_all, bool momentum) {
  const auto model = known(std::make_shared<Mlp>());
  optim::SGD optimizer(model->parameters(),
                       optim::SGDOptions(0.1).momentum(momentum ? 0.9 : 0));
  const int steps = *std::max_element(inputs.begin(), inputs.end());
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const double ranks =
        by_all ? static_cast<double>(inputs.size()) : total(inputs, step);
    for (size_t r = 0; r < inputs.size(); ++r) {
      if (step >= inputs[r]) continue;
      const int rank = static_cast<int>(r);
      (nn::call_module(*model, input(rank, step)) - target(rank, step))
          .square()
          .mean()
          .div(ranks)
          .backward();
    }
    optimizer.step();
  }
  return numbers(model->parameters());
}

TEST(Join, TrainsWithUnevenInputs) {
  for (const Counts& inputs :
       std::vector<Counts>{{3}, {3, 3}, {4, 2}, {0, 3}, {1, 4, 2}, {0, 0}}) {
    for (const bool by_all : {true, false}) {
      const auto want = alone(inputs, by_all, false);
      const int size = static_cast<int>(inputs.size());
      Ranks ranks(size);
      ranks.run([&](int rank) {
        const auto model = known(std::make_shared<Mlp>());
        DistributedDataParallel ddp(model, {.bucket_bytes = 300});
        optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1));
        {
          Join join({&ddp}, {.divide_by_initial_world_size = by_all});
          for (int step = 0; step < inputs[static_cast<size_t>(rank)]; ++step) {
            join.step();
            optimizer.zero_grad();
            (nn::call_module(*model, input(rank, step)) - target(rank, step))
                .square()
                .mean()
                .backward();
            optimizer.step();
          }
        }
        expect_near(numbers(model->parameters()), want, 1e-11);

        // And goes on without.
        model->zero_grad();
        nn::call_module(*model, input(0, 0)).sum().mul(rank).backward();
        const auto averages = gradients(*model);
        const auto one = known(std::make_shared<Mlp>());
        one->load_state_dict(model->state_dict());
        nn::call_module(*one, input(0, 0))
            .sum()
            .mul((size - 1) / 2.0)
            .backward();
        expect_near(averages, gradients(*one), 1e-11);
      });
    }
  }
}

TEST(Join, AShadowStepKeepsOptimizersAlike) {
  const Counts inputs{2, 5, 0};
  const auto want = alone(inputs, false, true);
  Ranks ranks(3);
  ranks.run([&](int rank) {
    const auto model = known(std::make_shared<Mlp>());
    DistributedDataParallel ddp(model, {.bucket_bytes = 300});
    optim::SGD optimizer(model->parameters(),
                         optim::SGDOptions(0.1).momentum(0.9));
    const auto epoch = [&] {
      Join join({&ddp}, {.divide_by_initial_world_size = false,
                         .shadow_step = [&] { optimizer.step(); }});
      for (int step = 0; step < inputs[static_cast<size_t>(rank)]; ++step) {
        join.step();
        optimizer.zero_grad();
        (nn::call_module(*model, input(rank, step)) - target(rank, step))
            .square()
            .mean()
            .backward();
        optimizer.step();
      }
      join.finish();
      join.finish();
    };
    epoch();
    expect_near(numbers(model->parameters()), want, 1e-11);
    // Velocities are the same, so a second epoch ends the same without a
    // broadcast.
    epoch();
    const NoGradGuard no_grad;
    for (const Tensor& p : model->parameters()) {
      const Tensor zero = p.detach().clone();
      ddp.group()->broadcast(zero);
      EXPECT_EQ(numbers(p), numbers(zero));
    }
  });
}

struct WithSeen : nn::Module {
  WithSeen() {
    fc = register_module("fc", nn::Linear(1, 1));
    seen = register_buffer("seen", zeros({1}));
  }
  Tensor forward(const Tensor& x) {
    const NoGradGuard no_grad;
    seen.add_(x.sum());
    const AutoGradMode on(true);
    return fc(x);
  }
  nn::Linear fc{nullptr};
  Tensor seen;
};

TEST(Join, BuffersComeFromTheFirstRankThatHasInputs) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    WithSeen model;
    DistributedDataParallel ddp(model);
    Join join({&ddp});
    for (int step = 0; step < 1 + 2 * rank; ++step) {
      join.step();
      model.zero_grad();
      ddp(filled({1, 1}, rank == 0 ? 10 : 1)).sum().backward();
    }
    join.finish();
    // Rank 0 first: 10. Then rank 1 goes on alone from its own 1.
    EXPECT_EQ(numbers(model.seen), Numbers{3});
  });
}

TEST(Join, ThrowsOnEarlyTermination) {
  std::vector<std::string> errors(3);
  std::vector<int> steps(3, 0);
  Ranks ranks(3);
  ranks.run([&](int rank) {
    const auto r = static_cast<size_t>(rank);
    nn::Linear model(1, 1);
    DistributedDataParallel ddp(model);
    errors[r] = error_of([&] {
      Join join({&ddp}, {.throw_on_early_termination = true});
      for (int step = 0; step < (rank == 1 ? 2 : 5); ++step) {
        join.step();
        model(ones({1, 1})).sum().backward();
        ++steps[r];
      }
    });
    // The group goes on.
    model->zero_grad();
    model(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{1});
  });
  EXPECT_EQ(errors[1], "");
  EXPECT_EQ(errors[0],
            "[Join] rank 1 has no more inputs (throw_on_early_termination)");
  EXPECT_EQ(errors[2], errors[0]);
  EXPECT_EQ(steps, (std::vector<int>{2, 2, 2}));
}

TEST(Join, ErrorsOfBackwardReachRanksWithoutInputs) {
  std::vector<std::string> errors(2);
  Ranks ranks(2);
  ranks.run([&](int rank) {
    Mlp model;
    DistributedDataParallel ddp(model);
    errors[static_cast<size_t>(rank)] = error_of([&] {
      Join join({&ddp});
      for (int step = 0; step < rank; ++step) {
        join.step();
        model.first(ones({1, 6})).sum().backward();
      }
    });
    model.zero_grad();
    nn::call_module(model, ones({1, 6})).sum().backward();
  });
  for (const std::string& e : errors) {
    EXPECT_NE(e.find("got none for middle.weight, middle.bias, last.weight, "
                     "last.bias on rank 1"),
              std::string::npos)
        << e;
  }
}

TEST(Join, ABackwardThatThrowsEndsAll) {
  std::vector<std::string> errors(3);
  Ranks ranks(3);
  ranks.run([&](int rank) {
    nn::Linear model(1, 1);
    DistributedDataParallel ddp(model);
    try {
      Join join({&ddp});
      // Rank 2 has no inputs.
      for (int step = 0; step < 2 - rank; ++step) {
        join.step();
        const auto handle = model->weight.register_hook(
            autograd::TensorHook([&](const Tensor&) {
              if (rank == 1) throw std::runtime_error("of the user");
            }));
        model(ones({1, 1})).sum().backward();
      }
    } catch (const std::exception& e) {
      errors[static_cast<size_t>(rank)] = e.what();
    }
  });
  EXPECT_NE(errors[1].find("of the user"), std::string::npos) << errors[1];
  for (const size_t r : {0u, 2u}) {
    EXPECT_NE(errors[r].find("backward threw on rank 1"), std::string::npos)
        << errors[r];
  }
}

TEST(Join, SeveralModelsWithStaticGraphsAndHooks) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear a(1, 1), b(1, 1);
    DistributedDataParallel first(a, {.static_graph = true});
    DistributedDataParallel second(b, {.find_unused_parameters = true});
    first.set_comm_hook(allreduce_hook());
    for (int epoch = 0; epoch < 3; ++epoch) {
      Join join({&first, &second}, {.divide_by_initial_world_size = false});
      // Rank 0 has no inputs in the first epoch.
      for (int step = 0; step < (epoch == 0 ? 2 * rank : 2); ++step) {
        join.step();
        a->zero_grad();
        b->zero_grad();
        (a(ones({1, 1})) + b(ones({1, 1}))).sum().backward();
        EXPECT_EQ(numbers(a->weight.grad()), Numbers{1}) << epoch;
        EXPECT_EQ(numbers(b->weight.grad()), Numbers{1}) << epoch;
      }
    }
  });
}

TEST(Join, ArgumentsAreChecked) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear a(1, 1), b(1, 1);
    const auto zero = new_group({0}), one = new_group({1});
    DistributedDataParallel first(a);
    DistributedDataParallel second(b, {.group = rank == 0 ? zero : one});
    const auto text = [](std::vector<DataParallelBase*> models) {
      return error_of([&] { const Join join(std::move(models)); });
    };
    EXPECT_EQ(text({}), "[Join] models: expected at least one");
    EXPECT_EQ(text({nullptr}),
              "[Join] models: expected models of the same ranks");
    EXPECT_EQ(text({&first, &second}),
              "[Join] models: expected models of the same ranks");
    Join join({&first});
    join.finish();
    EXPECT_EQ(error_of([&] { join.step(); }), "[Join] step() after finish()");
  });
}

}  // namespace
}  // namespace sy::distributed
