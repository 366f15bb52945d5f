#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "autograd/api.h"
#include "autograd/checkpoint.h"
#include "autograd/function.h"
#include "test/frontend/distributed/trained_models.h"

namespace sy::distributed {
namespace {

// Uses `extra` only where it is told to.
struct Branches : nn::Module {
  Branches() {
    always = register_module("always", nn::Linear(1, 1));
    extra = register_module("extra", nn::Linear(1, 1));
    never = register_module("never", nn::Linear(1, 1));
  }
  Tensor forward(const Tensor& x, bool uses_extra) {
    return uses_extra ? always(x) + extra(x) * 2 : always(x);
  }
  nn::Linear always{nullptr}, extra{nullptr}, never{nullptr};
};

TEST(DataParallelParameters, FindsUnusedParameters) {
  Ranks ranks(3);
  ranks.run([](int rank) {
    Branches model;
    DistributedDataParallel ddp(
        model, {.bucket_bytes = 1, .find_unused_parameters = true});
    const auto step = [&](bool uses_extra) {
      nn::call_module(model, filled({1, 1}, rank + 1), uses_extra)
          .sum()
          .backward();
    };
    step(rank == 1);
    EXPECT_EQ(numbers(model.always->weight.grad()), Numbers{2});
    expect_near({numbers(model.extra->weight.grad())}, {{4 / 3.0}}, 1e-6);
    expect_near({numbers(model.extra->bias.grad())}, {{2 / 3.0}}, 1e-6);
    EXPECT_FALSE(model.never->weight.grad().defined());

    // Gradients of before stay where nobody uses the parameter, and come
    // together with the new ones where somebody does.
    model.never->weight.mutable_grad() = filled({1, 1}, 0.1);
    const Numbers before = numbers(model.extra->weight.grad());
    step(false);
    EXPECT_EQ(numbers(model.always->weight.grad()), Numbers{4});
    EXPECT_EQ(numbers(model.extra->weight.grad()), before);
    EXPECT_EQ(numbers(model.never->weight.grad()),
              numbers(filled({1, 1}, 0.1)));
    step(rank != 0);
    expect_near({numbers(model.extra->weight.grad())}, {{14 / 3.0}}, 1e-5);

    // A parameter that was used in no_sync alone is not unused.
    model.zero_grad();
    {
      const auto guard = ddp.no_sync();
      step(rank == 2);
    }
    step(false);
    expect_near({numbers(model.extra->weight.grad())}, {{2}}, 1e-6);
    EXPECT_EQ(numbers(model.always->weight.grad()), Numbers{4});
  });
}

TEST(DataParallelParameters, FindsUnusedParametersEarly) {
  // A parameter that is not reached does not hold its bucket back.
  Ranks ranks(2);
  ranks.run([&](int rank) {
    Branches model;
    DistributedDataParallel ddp(
        model, {.bucket_bytes = 1, .find_unused_parameters = true});
    int64_t at_last = 0;
    const int64_t before = ranks.threads.begun(rank);
    const auto handle = model.always->bias.register_hook(
        autograd::TensorHook([&](const Tensor&) {
          for (int i = 0; i < 1000 && at_last <= before; ++i) {
            at_last = ranks.threads.begun(rank);
            std::this_thread::sleep_for(Milliseconds(1));
          }
        }));
    nn::call_module(model, ones({1, 1}), false).sum().backward();
    EXPECT_GT(at_last, before);
  });
}

// The gradient of a square, computed by a run of backward of its own.
struct ByARun : autograd::Function<ByARun> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x,
                        const Tensor& w) {
    ctx->save_for_backward({x, w});
    return x * w;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const AutoGradMode on(true);
    const Tensor x = saved[0].detach().requires_grad_();
    (x * saved[1]).backward(grads[0]);
    return {x.grad(), Tensor()};
  }
};

struct Reentrant : nn::Module {
  Reentrant() {
    w = register_parameter("w", filled({2}, 3));
    v = register_parameter("v", filled({2}, 2));
    unused = register_parameter("unused", ones({2}));
  }
  Tensor forward(const Tensor& x) {
    return ByARun::apply(ByARun::apply(x * v, w), w).sum();
  }
  Tensor w, v, unused;
};

TEST(DataParallelParameters, StaticGraphsMayReachParametersSeveralTimes) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    Reentrant model;
    DistributedDataParallel ddp(model,
                                {.bucket_bytes = 1, .static_graph = true});
    for (int step = 0; step < 3; ++step) {
      model.zero_grad();
      nn::call_module(model, filled({2}, rank + 1)).backward();
      // x v w w
      EXPECT_EQ(numbers(model.v.grad()), (Numbers{13.5, 13.5})) << step;
      EXPECT_EQ(numbers(model.w.grad()), (Numbers{18, 18})) << step;
      EXPECT_FALSE(model.unused.grad().defined());
    }
  });
}

struct Checkpointed : Mlp {
  Tensor forward(const Tensor& x) {
    const Tensor h = autograd::checkpoint(
        [this](const std::vector<Tensor>& in) {
          return middle(in[0].tanh()).tanh();
        },
        {first(x)});
    return last(h);
  }
};

TEST(DataParallelParameters, PartsMayBeCheckpointed) {
  const auto one = known(std::make_shared<Mlp>());
  const Trained alone = train(*one, {});
  std::vector<Trained> all(2);
  Ranks ranks(2);
  ranks.run([&](int rank) {
    const auto model = known(std::make_shared<Checkpointed>());
    DistributedDataParallel ddp(model, {.bucket_bytes = 1});
    all[static_cast<size_t>(rank)] = train(*model, {}, rank, 2);
  });
  expect_equal_to_one(all, alone);
}

struct Tied : nn::Module {
  Tied() {
    encoder = register_module("encoder", nn::Linear(3, 3));
    decoder = register_module("decoder", nn::Linear(3, 3));
    decoder->set_parameter("weight", encoder->weight);
    decoder->weight = encoder->weight;
    frozen = register_module("frozen", nn::Linear(3, 3));
    frozen->requires_grad_(false);
  }
  Tensor forward(const Tensor& x) { return frozen(decoder(encoder(x).tanh())); }
  nn::Linear encoder{nullptr}, decoder{nullptr}, frozen{nullptr};
};

TEST(DataParallelParameters, SharedParametersGoOnceAndFrozenOnesNot) {
  Tied one;
  one.to(kDouble);
  const Tensor x = random({6, 3}, 1);
  std::vector<Numbers> want;
  const nn::StateDict state = [&] {
    nn::call_module(one, x).square().mean().backward();
    want = gradients(one);
    return one.state_dict();
  }();
  Ranks ranks(3);
  ranks.run([&](int rank) {
    Tied model;
    model.to(kDouble);
    if (rank == 0) model.load_state_dict(state);
    DistributedDataParallel ddp(model);
    size_t names = 0;
    for (const auto& bucket : ddp.buckets()) names += bucket.size();
    EXPECT_EQ(names, 3u);
    EXPECT_EQ(numbers(model.frozen->weight), numbers(one.frozen->weight));
    nn::call_module(model, part(x, rank, 3)).square().mean().backward();
    expect_near(gradients(model), want, 1e-12);
    EXPECT_FALSE(model.frozen->weight.grad().defined());
  });
}

struct Mixed : nn::Module {
  Mixed() {
    for (const ScalarType t : {kFloat, kDouble, kBFloat16, kHalf}) {
      all.push_back(
          register_parameter(str("p{}", all.size()), full({3}, 2, t)));
      all.push_back(
          register_parameter(str("p{}", all.size()), full({0, 2}, 2, t)));
    }
    // Not dense, and dense but not row by row.
    all.push_back(register_parameter("t", ones({2, 3}).t().contiguous().t()));
    all.push_back(register_parameter("s", zeros({4, 4}).detach()));
  }
  Tensor forward(const Tensor& x) {
    Tensor sum;
    for (const Tensor& t : all) {
      const Tensor y = (t.to(kDouble) * x).sum();
      sum = sum.defined() ? sum + y : y;
    }
    return sum;
  }
  std::vector<Tensor> all;
};

TEST(DataParallelParameters, TakesAllFloatingDtypesAndLayouts) {
  for (const size_t bytes : {size_t{1}, size_t{0}}) {
    Ranks ranks(2);
    if (bytes == 0) ranks.threads.set_support(ThreadSupport::kNoReducedFloats);
    ranks.run([&](int rank) {
      Mixed model;
      DistributedDataParallel ddp(
          model, {.bucket_bytes = bytes, .find_unused_parameters = true});
      for (int step = 0; step < 2; ++step) {
        model.zero_grad();
        nn::call_module(model, full({1}, 1 + 2 * rank, kDouble)).backward();
        for (const Tensor& p : model.all) {
          EXPECT_EQ(numbers(p.grad()),
                    Numbers(static_cast<size_t>(p.numel()), 2));
          EXPECT_EQ(p.grad().scalar_type(), p.scalar_type());
          EXPECT_EQ(p.grad().strides().vec(), p.strides().vec());
        }
      }
    });
  }
}

TEST(DataParallelParameters, KeepsTheLayoutOfParameters) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    const auto model = known(std::make_shared<ConvNet>());
    const Tensor& w = model->conv->weight;
    model->conv->weight = model->conv->set_parameter(
        "weight",
        w.detach().permute({3, 2, 1, 0}).contiguous().permute({3, 2, 1, 0}));
    ASSERT_FALSE(w.is_contiguous());
    DistributedDataParallel ddp(model);
    const Tensor x = random({4, 6}, 3);
    nn::call_module(*model, part(x, rank, 2)).square().mean().backward();
    EXPECT_EQ(w.grad().strides().vec(), w.strides().vec());
    const auto one = known(std::make_shared<ConvNet>());
    nn::call_module(*one, x).square().mean().backward();
    expect_near(gradients(*model), gradients(*one), 1e-12);
  });
}

}  // namespace
}  // namespace sy::distributed
