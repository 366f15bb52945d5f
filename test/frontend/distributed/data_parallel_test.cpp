#include "frontend/distributed/training/data_parallel.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "autograd/hooks.h"
#include "frontend/nn/container/sequential.h"
#include "test/frontend/distributed/trained_models.h"

namespace sy::distributed {
namespace {

template <class M>
void expect_same_training(int size, const Training& how,
                          const DataParallelOptions& options = {}) {
  const auto one = known(std::make_shared<M>());
  const Trained alone = train(*one, how);
  ASSERT_NE(alone.losses.front(), alone.losses.back());
  std::vector<Trained> all(static_cast<size_t>(size));
  Ranks ranks(size);
  ranks.run([&](int rank) {
    auto model = std::make_shared<M>();
    model->to(kDouble);
    // Others get rank 0's.
    if (rank == 0) known(model);
    DistributedDataParallel ddp(model, options);
    all[static_cast<size_t>(rank)] = train(*model, how, rank, size);
  });
  expect_equal_to_one(all, alone);
}

TEST(DataParallel, EqualsOneProcessOnTheJoinedBatch) {
  for (const int size : {1, 2, 3, 4}) {
    for (const Optimizer o : {Optimizer::kSgd, Optimizer::kAdam}) {
      for (const bool none : {true, false}) {
        Training how;
        how.optimizer = o;
        how.set_to_none = none;
        expect_same_training<Mlp>(size, how);
        expect_same_training<ConvNet>(size, how);
      }
    }
  }
}

TEST(DataParallel, EqualsOneProcessWithEachOption) {
  std::vector<DataParallelOptions> all;
  for (const size_t bytes : {size_t{1}, size_t{300}, size_t{1} << 20}) {
    DataParallelOptions o;
    o.bucket_bytes = bytes;
    o.first_bucket_bytes = bytes / 2 + 1;
    all.push_back(o);
    o.find_unused_parameters = true;
    all.push_back(o);
    o.static_graph = true;
    all.push_back(o);
    o.find_unused_parameters = false;
    o.deterministic = true;
    o.broadcast_buffers = false;
    all.push_back(o);
  }
  for (const DataParallelOptions& o : all) {
    Training how;
    expect_same_training<Mlp>(3, how, o);
    how.set_to_none = false;
    expect_same_training<ConvNet>(2, how, o);
  }
}

TEST(DataParallel, EqualsOneProcessOnEachKindOfEngine) {
  const auto one = known(std::make_shared<Mlp>());
  const Trained alone = train(*one, {});
  for (const ThreadSupport support :
       {ThreadSupport::kBytes, ThreadSupport::kNoReducedFloats}) {
    for (const bool late : {false, true}) {
      std::vector<Trained> all(3);
      Ranks ranks(3);
      ranks.threads.set_support(support);
      if (late) ranks.threads.delay(1, Milliseconds(3));
      ranks.run([&](int rank) {
        const auto model = known(std::make_shared<Mlp>());
        DistributedDataParallel ddp(model, {.bucket_bytes = 300});
        all[static_cast<size_t>(rank)] = train(*model, {}, rank, 3);
      });
      expect_equal_to_one(all, alone);
    }
  }
}

TEST(DataParallel, InitSyncIsAnOption) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    nn::Linear model(1, 1);
    const NoGradGuard no_grad;
    model->weight.fill_(rank);
    DataParallelOptions o;
    o.init_sync = false;
    DistributedDataParallel own(model, o);
    EXPECT_EQ(numbers(model->weight), Numbers{double(rank)});
    DistributedDataParallel same(model);
    EXPECT_EQ(numbers(model->weight), Numbers{0});
  });
}

TEST(DataParallel, AddsUpWithoutCallsInNoSync) {
  Training how;
  how.batches = 3;
  const auto one = known(std::make_shared<Mlp>());
  const Trained alone = train(*one, how);
  for (const bool none : {true, false}) {
    how.set_to_none = none;
    std::vector<Trained> all(2);
    Ranks ranks(2);
    ranks.run([&](int rank) {
      const auto model = known(std::make_shared<Mlp>());
      DistributedDataParallel ddp(model);
      all[static_cast<size_t>(rank)] =
          train(*model, how, rank, 2,
                [&](int batch, const std::function<void()>& backward) {
                  if (batch == 2) return backward();
                  const int64_t before = ranks.threads.begun(rank);
                  const auto guard = ddp.no_sync();
                  const auto another = ddp.no_sync();
                  backward();
                  EXPECT_EQ(ranks.threads.begun(rank), before);
                });
    });
    expect_equal_to_one(all, alone);
  }
}

TEST(DataParallel, NoSyncMayOutliveIt) {
  Ranks ranks(2);
  ranks.run([](int) {
    nn::Linear model(1, 1);
    std::optional<DistributedDataParallel<nn::LinearImpl>> ddp(model);
    const auto guard = ddp->no_sync();
    ddp.reset();
  });
}

TEST(DataParallel, GradientsAreViewsOfBuckets) {
  Ranks ranks(2);
  ranks.run([](int) {
    Mlp model;
    DistributedDataParallel ddp(model, {.bucket_bytes = size_t{1} << 20});
    const auto all_in_one = [&] {
      for (const Tensor& p : model.parameters()) {
        ASSERT_TRUE(p.grad().defined());
        // The first backward may still be of other buckets.
        ASSERT_TRUE(p.grad().is_alias_of(model.parameters()[0].grad()));
        ASSERT_EQ(p.grad().strides().vec(), p.strides().vec());
      }
    };
    for (int step = 0; step < 3; ++step) {
      nn::call_module(model, ones({2, 6})).sum().backward();
      ASSERT_EQ(ddp.buckets().size(), 1u);
      all_in_one();
      if (step == 0) model.zero_grad(false);
      if (step == 1) model.zero_grad();
    }
  });
}

// Registered in the order of use reversed.
struct Reversed : nn::Module {
  Reversed() {
    c = register_module("c", nn::Linear(8, 1));
    b = register_module("b", nn::Linear(8, 8));
    a = register_module("a", nn::Linear(6, 8));
  }
  Tensor forward(const Tensor& x) { return c(b(a(x))); }
  nn::Linear a{nullptr}, b{nullptr}, c{nullptr};
};

TEST(DataParallel, BucketsGoInTheOrderOfGradients) {
  Ranks ranks(2);
  ranks.run([&](int rank) {
    Reversed model;
    DistributedDataParallel ddp(model,
                                {.bucket_bytes = 1, .first_bucket_bytes = 1});
    EXPECT_EQ(ddp.buckets().size(), 6u);
    EXPECT_EQ(ddp.buckets().front(), std::vector<std::string>{"a.bias"});
    nn::call_module(model, ones({2, 6})).sum().backward();
    EXPECT_EQ(ddp.buckets().front().at(0)[0], 'c');
    EXPECT_EQ(ddp.buckets().back().at(0)[0], 'a');
    const std::vector<Numbers> first = gradients(model);

    // They go while others are still computed.
    int64_t at_last = 0;
    const int64_t before = ranks.threads.begun(rank);
    const auto handle =
        model.a->weight.register_hook(autograd::TensorHook([&](const Tensor&) {
          // The thread that moves them is another.
          for (int i = 0; i < 1000 && at_last <= before; ++i) {
            at_last = ranks.threads.begun(rank);
            std::this_thread::sleep_for(Milliseconds(1));
          }
        }));
    model.zero_grad();
    nn::call_module(model, ones({2, 6})).sum().backward();
    EXPECT_GT(at_last, before);
    EXPECT_EQ(gradients(model), first);
  });
}

// The bytes of the buckets of a model of such layers, n x n without a bias.
std::vector<int64_t> bucket_bytes(const std::vector<int64_t>& layers,
                                  const DataParallelOptions& options = {}) {
  std::vector<int64_t> bytes;
  Ranks ranks(1);
  ranks.run([&](int) {
    nn::Sequential model;
    for (const int64_t n : layers) {
      model->push_back(nn::Linear(nn::LinearOptions(n, n).bias(false)));
    }
    DistributedDataParallel ddp(model, options);
    for (const auto& bucket : ddp.buckets()) {
      bytes.push_back(0);
      for (const std::string& name : bucket) {
        bytes.back() +=
            static_cast<int64_t>(model->get_parameter(name).nbytes());
      }
    }
  });
  return bytes;
}

TEST(DataParallel, BucketsSuitTheModel) {
  using Bytes = std::vector<int64_t>;
  constexpr int64_t kKilo = 1024;
  // Layers of 64 KB, last ones first: 256 KB at least; a quarter of that for
  // the first and the last.
  EXPECT_EQ(bucket_bytes({128}), Bytes{64 * kKilo});
  EXPECT_EQ(bucket_bytes({128, 128, 128}), Bytes(3, 64 * kKilo));
  EXPECT_EQ(bucket_bytes({128, 128, 128, 128, 128, 128, 128, 128}),
            (Bytes{64 * kKilo, 256 * kKilo, 128 * kKilo, 64 * kKilo}));
  // A quarter of 32 layers.
  EXPECT_EQ(bucket_bytes(std::vector<int64_t>(32, 128)),
            (Bytes{128 * kKilo, 512 * kKilo, 512 * kKilo, 512 * kKilo,
                   256 * kKilo, 128 * kKilo}));
  // The last is cut: its end is what nothing overlaps with.
  DataParallelOptions o;
  o.bucket_bytes = 1024 * kKilo;
  o.first_bucket_bytes = 64 * kKilo;
  EXPECT_EQ(bucket_bytes({128, 128, 128, 128}, o),
            (Bytes{64 * kKilo, 128 * kKilo, 64 * kKilo}));
  EXPECT_EQ(bucket_bytes({64, 64, 64, 64, 64, 128, 128}, o),
            (Bytes{64 * kKilo, 80 * kKilo, 64 * kKilo}));
  // One that is larger goes alone.
  EXPECT_EQ(bucket_bytes({256, 128, 128}, o),
            (Bytes{64 * kKilo, 64 * kKilo, 256 * kKilo}));
  o.first_bucket_bytes = 0;
  EXPECT_EQ(bucket_bytes({128, 128, 128, 128}, o), Bytes{256 * kKilo});
  o.bucket_bytes = 1;
  EXPECT_EQ(bucket_bytes({16, 16}, o), Bytes(2, kKilo));
}

TEST(DataParallel, DeterministicDoesNotDependOnBuckets) {
  std::vector<Trained> first;
  for (const bool backwards : {false, true}) {
    for (const size_t bytes :
         {size_t{1}, size_t{64}, size_t{500}, size_t{0}, size_t{1} << 20}) {
      std::vector<Trained> all(3);
      Ranks ranks(3);
      ranks.threads.set_backwards(backwards);
      ranks.run([&](int rank) {
        const auto model = known(std::make_shared<Mlp>());
        model->to(kFloat);
        DataParallelOptions o;
        o.deterministic = true;
        o.bucket_bytes = o.first_bucket_bytes = bytes;
        DistributedDataParallel ddp(model, o);
        // Ranks' gradients differ much, so that order matters.
        const double scale = rank == 0 ? 1 : rank == 1 ? 1e4 : -1e4;
        for (int step = 0; step < 3; ++step) {
          model->zero_grad();
          const Tensor x = random({4, 6}, 10 * rank + step).to(kFloat);
          nn::call_module(*model, x).square().mean().mul(scale).backward();
          const NoGradGuard no_grad;
          for (const Tensor& p : model->parameters()) {
            p.sub_(p.grad() * 1e-4);
          }
        }
        all[static_cast<size_t>(rank)].parameters =
            numbers(model->parameters());
      });
      if (first.empty()) first = all;
      for (const Trained& t : all) {
        EXPECT_EQ(t.parameters, first[0].parameters) << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace sy::distributed
