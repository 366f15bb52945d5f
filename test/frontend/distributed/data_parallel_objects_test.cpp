#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "autograd/api.h"
#include "frontend/nn/modules/batchnorm.h"
#include "test/frontend/distributed/trained_models.h"

namespace sy::distributed {
namespace {

TEST(DataParallelObjects, TakesHoldersPointersAndModules) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    const auto check = [&](auto& ddp, nn::LinearImpl& model) {
      model.zero_grad();
      ddp(filled({1, 1}, rank)).sum().backward();
      EXPECT_EQ(numbers(model.weight.grad()), Numbers{0.5});
      EXPECT_EQ(&*ddp, &model);
      EXPECT_EQ(&ddp->weight, &model.weight);
      EXPECT_EQ(ddp.module().get(), &model);
      EXPECT_EQ(ddp.group()->size(), 2);
    };
    {
      nn::Linear holder(1, 1);
      DistributedDataParallel ddp(holder);
      check(ddp, *holder);
    }
    {
      const auto pointer = std::make_shared<nn::LinearImpl>(1, 1);
      DistributedDataParallel ddp(pointer);
      check(ddp, *pointer);
    }
    nn::LinearImpl on_the_stack(1, 1);
    DistributedDataParallel ddp(on_the_stack);
    check(ddp, on_the_stack);
  });
}

TEST(DataParallelObjects, MayBeMoved) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear a(1, 1), b(1, 1);
    using Ddp = DistributedDataParallel<nn::LinearImpl>;
    Ddp first(a);
    Ddp moved(std::move(first));
    moved(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(a->weight.grad()), Numbers{0.5});
    // The assignment ends the object that was there.
    moved = Ddp(b);
    a->zero_grad();
    a(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(a->weight.grad()), Numbers{double(rank)});
    moved(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(b->weight.grad()), Numbers{0.5});
  });
}

TEST(DataParallelObjects, ModelsTrainAloneWithoutIt) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear model(1, 1);
    model->register_buffer("seen", zeros({1}));
    {
      DistributedDataParallel ddp(model);
      model(filled({1, 1}, rank)).sum().backward();
    }
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{0.5});
    model->get_buffer("seen").fill_(rank);
    model(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{0.5 + rank});
    EXPECT_EQ(numbers(model->get_buffer("seen")), Numbers{double(rank)});
  });
}

TEST(DataParallelObjects, OutlivesTheModel) {
  Ranks ranks(2);
  ranks.run([](int) {
    auto on_the_stack = std::make_optional<nn::LinearImpl>(1, 1);
    on_the_stack->register_buffer("seen", zeros({1}));
    const DistributedDataParallel ddp(*on_the_stack);
    on_the_stack.reset();
  });
}

TEST(DataParallelObjects, BuffersAreRankZeros) {
  for (const bool broadcast : {true, false}) {
    Ranks ranks(2);
    ranks.run([&](int rank) {
      nn::Linear model(1, 1);
      const Tensor seen = model->register_buffer("seen", zeros({1}));
      DistributedDataParallel ddp(model, {.broadcast_buffers = broadcast});
      const double other = broadcast ? 5 : 5 + rank;
      seen.fill_(5 + rank);
      model->eval();
      model(ones({1, 1}));
      EXPECT_EQ(numbers(seen), Numbers{5.0 + rank});
      model->train();
      {
        const NoGradGuard no_grad;
        model(ones({1, 1}));
      }
      EXPECT_EQ(numbers(seen), Numbers{5.0 + rank});
      {
        const auto guard = ddp.no_sync();
        model(ones({1, 1}));
      }
      EXPECT_EQ(numbers(seen), Numbers{5.0 + rank});
      model(ones({1, 1}));
      EXPECT_EQ(numbers(seen), Numbers{other});
    });
  }
}

TEST(DataParallelObjects, ClonesAreNotPartOfIt) {
  Ranks ranks(2);
  ranks.run([&](int rank) {
    nn::Linear model(1, 1);
    model->register_buffer("seen", zeros({1}));
    std::shared_ptr<nn::Module> clone;
    const auto use = [&] {
      clone->get_buffer("seen").fill_(rank);
      auto& m = *clone->as<nn::Linear>();
      m.zero_grad();
      const int64_t before = ranks.threads.begun(rank);
      nn::call_module(m, filled({1, 1}, rank)).sum().backward();
      EXPECT_EQ(ranks.threads.begun(rank), before);
      EXPECT_EQ(numbers(clone->get_buffer("seen")), Numbers{double(rank)});
      EXPECT_EQ(numbers(m.weight.grad()), Numbers{double(rank)});
    };
    {
      DistributedDataParallel ddp(model);
      clone = model->clone();
      use();
    }
    use();
  });
}

TEST(DataParallelObjects, SeveralModelsInOneProgram) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear a(1, 1), b(1, 1), c(1, 1);
    DistributedDataParallel first(a);
    DistributedDataParallel second(b, {.find_unused_parameters = true});
    DistributedDataParallel third(c, {.deterministic = true});
    EXPECT_NE(first.group(), second.group());
    EXPECT_TRUE(third.group()->deterministic());
    EXPECT_FALSE(first.group()->deterministic());
    const Tensor x = filled({1, 1}, 2 * rank);
    for (int step = 0; step < 3; ++step) {
      for (auto& m : {a, b, c}) m->zero_grad();
      (a(x) + b(x) + c(x)).sum().backward();
      for (auto& m : {a, b, c}) {
        EXPECT_EQ(numbers(m->weight.grad()), Numbers{1});
      }
      b(x).sum().backward();
      EXPECT_EQ(numbers(a->weight.grad()), Numbers{1});
      EXPECT_EQ(numbers(b->weight.grad()), Numbers{2});
    }
  });
}

TEST(DataParallelObjects, ModelsOfOneBackwardDoNotWaitForEachOther) {
  // The buckets of the models go in another order on each rank.
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear a(1, 1), b(1, 1);
    DistributedDataParallel first(a), second(b);
    for (int step = 0; step < 3; ++step) {
      a->zero_grad();
      b->zero_grad();
      const Tensor x = filled({1, 1}, 2 * rank);
      const Tensor y = rank == 0 ? a(x) : b(x), z = rank == 0 ? b(x) : a(x);
      (y + z).sum().backward();
      EXPECT_EQ(numbers(a->weight.grad()), Numbers{1});
      EXPECT_EQ(numbers(b->weight.grad()), Numbers{1});
    }
  });
}

TEST(DataParallelObjects, ManyModels) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    std::vector<nn::Linear> models;
    std::vector<DistributedDataParallel<nn::LinearImpl>> all;
    for (int i = 0; i < 20; ++i) all.emplace_back(models.emplace_back(1, 1));
    const Tensor x = filled({1, 1}, 2 * rank);
    Tensor sum = zeros({1, 1});
    for (auto& m : models) sum = sum + m(x);
    sum.sum().backward();
    for (auto& m : models) EXPECT_EQ(numbers(m->weight.grad()), Numbers{1});
  });
}

TEST(DataParallelObjects, BackwardMayRunTwiceOnOneGraph) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear model(1, 1);
    DistributedDataParallel ddp(model);
    const Tensor loss = model(filled({1, 1}, 2 * rank)).sum();
    loss.backward({}, /*retain_graph=*/true);
    loss.backward();
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{2});
    // grad() is not averaged.
    const Tensor other = model(filled({1, 1}, 2 * rank)).sum();
    EXPECT_EQ(numbers(autograd::grad({other}, {model->weight})[0]),
              Numbers{2.0 * rank});
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{2});
  });
}

TEST(DataParallelObjects, TrainsWithinAGroup) {
  Ranks ranks(4);
  ranks.run([](int rank) {
    const auto even = new_group({0, 2}), odd = new_group({1, 3});
    nn::Linear model(1, 1);
    DataParallelOptions o;
    o.group = rank % 2 == 0 ? even : odd;
    DistributedDataParallel ddp(model, o);
    model(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(model->weight.grad()), Numbers{1.0 + rank % 2});
    EXPECT_EQ(ddp.group(), o.group);
  });
}

struct Normalized : nn::Module {
  Normalized() {
    conv = register_module("conv", nn::Conv2d(1, 4, 2));
    norm = register_module("norm", nn::BatchNorm2d(4));
    out = register_module("out", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = norm(conv(x.view({x.size(0), 1, 2, 3}))).relu();
    return out(y.view({x.size(0), 8}));
  }
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear out{nullptr};
};

TEST(DataParallelObjects, SyncBatchNormEqualsOneProcess) {
  const auto one = known(std::make_shared<Normalized>());
  const Trained alone = train(*one, {});
  for (const bool in_group : {false, true}) {
    std::vector<Trained> all(3);
    Ranks ranks(3);
    ranks.run([&](int rank) {
      const auto model = known(std::make_shared<Normalized>());
      DataParallelOptions o;
      o.sync_batch_norm = true;
      if (in_group) o.group = new_group({0, 1, 2});
      DistributedDataParallel ddp(model, o);
      all[static_cast<size_t>(rank)] = train(*model, {}, rank, 3);
      expect_near(numbers(model->buffers()), numbers(one->buffers()), 1e-11);
    });
    expect_equal_to_one(all, alone);
  }
  // A root that is one itself.
  Ranks ranks(2);
  ranks.run([&](int rank) {
    nn::BatchNorm1d model(nn::BatchNormOptions(1).momentum(1));
    DistributedDataParallel ddp(model, {.sync_batch_norm = true});
    model(filled({2, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(model->running_mean), Numbers{0.5});
  });
}

TEST(DataParallelObjects, CallsInitWhereNobodyHas) {
  if (Context::current() != nullptr) GTEST_SKIP() << "once in a process";
  nn::Linear model(1, 1);
  DistributedDataParallel ddp(model);
  EXPECT_TRUE(is_initialized());
  EXPECT_EQ(get_world_size(), 1);
  model(filled({1, 1}, 3)).sum().backward();
  EXPECT_EQ(numbers(model->weight.grad()), Numbers{3});
  destroy_process_group();
  nn::Linear another(1, 1);
  EXPECT_NE(error_of([&] { DistributedDataParallel late(another); }), "");
}

}  // namespace
}  // namespace sy::distributed
