#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "autograd/hooks.h"
#include "test/frontend/distributed/trained_models.h"

// Ranks that throw, do not come or are gone, and engines that fail: never a
// hang, never a wrong number.

namespace sy::distributed {
namespace {

TEST(DataParallelFaults, ARankWhoseBackwardThrows) {
  for (const size_t bytes : {size_t{1}, size_t{0}}) {
    for (size_t at = 0; at < 3; ++at) {
      Ranks ranks(3);
      ranks.run([&](int rank) {
        Parts model(3);
        DistributedDataParallel ddp(model, {.bucket_bytes = bytes});
        for (int round = 0; round < 3; ++round) {
          model.zero_grad(round == 0);
          autograd::HookHandle handle;
          if (rank == 1) {
            handle = model.parts[at]->weight.register_hook(
                autograd::TensorHook([](const Tensor&) {
                  throw std::runtime_error("of the user");
                }));
          }
          const auto step = [&] {
            nn::call_module(model, filled({1, 1}, rank + 1),
                            std::vector<bool>{true, true, true})
                .backward();
          };
          if (rank == 1) {
            EXPECT_THROW(step(), std::exception);
          } else {
            const std::string error = error_of(step);
            EXPECT_TRUE(has(error,
                            "[DistributedDataParallel] backward threw on rank "
                            "1: the error there says why"))
                << error;
          }
          handle.remove();
          model.zero_grad();
          step();
          for (const auto& p : model.parts) {
            EXPECT_EQ(numbers(p->weight.grad()), Numbers{2});
          }
        }
      });
    }
  }
}

TEST(DataParallelFaults, SeveralModelsInABackwardThatThrows) {
  Ranks ranks(2);
  ranks.run([&](int rank) {
    nn::Linear a(1, 1), b(1, 1);
    DistributedDataParallel first(a), second(b);
    const Tensor x = filled({1, 1}, 2 * rank);
    const auto step = [&] { (a(x) + b(x)).sum().backward(); };
    step();
    const auto handle =
        a->weight.register_hook(autograd::TensorHook([&](const Tensor&) {
          if (rank == 0) throw std::runtime_error("of the user");
        }));
    EXPECT_THROW(step(), std::exception);
    autograd::HookHandle(handle).remove();
    a->zero_grad();
    b->zero_grad();
    step();
    EXPECT_EQ(numbers(a->weight.grad()), Numbers{1});
    EXPECT_EQ(numbers(b->weight.grad()), Numbers{1});
  });
}

TEST(DataParallelFaults, ARankThatDoesNotCome) {
  std::vector<std::string> errors(3);
  Ranks ranks(3, Milliseconds(300));
  ranks.run([&](int rank) {
    Parts model(1);
    DistributedDataParallel ddp(model);
    errors[static_cast<size_t>(rank)] = error_of([&] {
      if (rank == 1) std::this_thread::sleep_for(Milliseconds(1500));
      for (int step = 0; step < 3; ++step) {
        nn::call_module(model, ones({1, 1}), std::vector<bool>{true})
            .backward();
      }
    });
  });
  for (const int rank : {0, 2}) {
    const std::string& e = errors[static_cast<size_t>(rank)];
    EXPECT_TRUE(has(e, "gradients of part0.weight, part0.bias") ||
                has(e, "gradients of part0.bias, part0.weight"))
        << e;
    EXPECT_TRUE(has(e, "rank 1")) << e;
  }
  EXPECT_NE(errors[1], "");
}

TEST(DataParallelFaults, ARankThatIsGone) {
  std::vector<std::string> errors(2);
  Ranks ranks(2, Milliseconds(60'000));
  ranks.run([&](int rank) {
    Parts model(1);
    DistributedDataParallel ddp(model);
    if (rank == 1) return;
    errors[0] = error_of([&] {
      nn::call_module(model, ones({1, 1}), std::vector<bool>{true}).backward();
    });
  });
  EXPECT_TRUE(has(errors[0], "rank 1 is gone")) << errors[0];
}

TEST(DataParallelFaults, AnEngineThatFailsAnywhereIsNeverAWrongNumber) {
  const auto one = known(std::make_shared<Mlp>());
  Training how;
  how.steps = 2;
  const Trained alone = train(*one, how);
  const auto run = [&](const std::function<void(ThreadWorld&)>& fault) {
    int ended = 0;
    std::vector<Trained> all(2);
    Ranks ranks(2, Milliseconds(150));
    fault(ranks.threads);
    try {
      ranks.run([&](int rank) {
        const auto r = static_cast<size_t>(rank);
        const auto model = known(std::make_shared<Mlp>());
        DistributedDataParallel ddp(model, {.bucket_bytes = 300});
        all[r] = train(*model, how, rank, 2);
      });
    } catch (const Error&) {
    }
    for (const Trained& t : all) {
      if (t.parameters.empty()) continue;
      ++ended;
      expect_near(t.parameters, alone.parameters, 1e-11);
    }
    return ended;
  };
  int64_t calls = 0;
  EXPECT_EQ(run([](ThreadWorld&) {}), 2);
  {
    Ranks ranks(2);
    ranks.run([&](int rank) {
      const auto model = known(std::make_shared<Mlp>());
      DistributedDataParallel ddp(model, {.bucket_bytes = 300});
      train(*model, how, rank, 2);
      if (rank == 1) calls = ranks.threads.begun(1);
    });
  }
  ASSERT_GT(calls, 10);
  int failed = 0;
  for (int64_t n = 1; n <= calls; n += 7) {
    failed += run([&](ThreadWorld& w) { w.fail_begin(1, n); }) < 2;
    failed += run([&](ThreadWorld& w) { w.fail_test(1, n + 1); }) < 2;
    failed += run([&](ThreadWorld& w) { w.vanish(1, n + 2); }) < 2;
  }
  EXPECT_GT(failed, calls / 5);
}

TEST(DataParallelFaults, UseAfterTheEnd) {
  Ranks ranks(2);
  ranks.run([](int) {
    nn::Linear model(1, 1);
    model->register_buffer("seen", zeros({1}));
    DistributedDataParallel ddp(model);
    const Tensor y = model(ones({1, 1})).sum();
    destroy_process_group();
    for (const auto& f : std::vector<std::function<void()>>{
             [&] { y.backward({}, true); }, [&] { y.backward({}, true); },
             [&] {
               model(ones({1, 1}));
             },
             [&] { DistributedDataParallel another(model); }}) {
      const std::string error = error_of(f);
      EXPECT_TRUE(has(error, "destroy_process_group() was called")) << error;
    }
    // Without calls it can be used.
    const auto guard = ddp.no_sync();
    model(ones({1, 1})).sum().backward();
  });
}

TEST(DataParallelFaults, OutlivesTheContext) {
  std::optional<DistributedDataParallel<nn::LinearImpl>> ddp;
  nn::Linear model(1, 1);
  Ranks ranks(1);
  ranks.run([&](int) { ddp.emplace(model); });
  EXPECT_NE(error_of([&] { model(ones({1, 1})).sum().backward(); }), "");
  ddp.reset();
  model(ones({1, 1})).sum().backward();
}

}  // namespace
}  // namespace sy::distributed
