#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/api.h"
#include "autograd/function.h"
#include "frontend/distributed/training/data_parallel.h"
#include "test/frontend/distributed/trained_models.h"

// Every error of a program reaches all ranks, names what is wrong, and leaves
// the group in use.

namespace sy::distributed {
namespace {

using Ddp = DistributedDataParallel<>;

// f(rank) throws on each rank an Error whose message contains `part`. Then the
// ranks can still average.
void expect_error(int size, const std::string& part,
                  const std::function<void(int rank)>& f) {
  std::vector<std::string> messages(static_cast<size_t>(size));
  Ranks ranks(size);
  ranks.run([&](int rank) {
    messages[static_cast<size_t>(rank)] = error_of([&] { f(rank); });
    nn::Linear after(1, 1);
    DistributedDataParallel ddp(after);
    after(filled({1, 1}, rank)).sum().backward();
    EXPECT_EQ(numbers(after->weight.grad()), Numbers{(size - 1) / 2.0});
  });
  for (const std::string& m : messages) {
    EXPECT_TRUE(has(m, part)) << "expected " << part << "\ngot " << m;
  }
}

// A module with these parameters.
struct Of : nn::Module {
  explicit Of(const std::vector<std::pair<std::string, Tensor>>& all) {
    for (const auto& [name, t] : all) {
      register_parameter(name, t.detach().clone());
    }
  }
};

void expect_different(const std::string& part,
                      const std::vector<std::pair<std::string, Tensor>>& zero,
                      const std::vector<std::pair<std::string, Tensor>>& two) {
  expect_error(3,
               "[DistributedDataParallel] expected the same model and options "
               "on all ranks, got " +
                   part,
               [&](int rank) {
                 Of model(rank == 2 ? two : zero);
                 Ddp ddp(model);
               });
}

TEST(DataParallelErrors, ModelsDiffer) {
  const Tensor t = ones({2, 3}), u = ones({4});
  expect_different(
      "parameter a float32[2, 3] on ranks 0, 1; parameter b float32[2, 3] on "
      "rank 2",
      {{"a", t}}, {{"b", t}});
  expect_different(
      "parameter b float32[4] on ranks 0, 1; parameter b float32[2, 3] on rank "
      "2",
      {{"a", t}, {"b", u}}, {{"a", t}, {"b", t}});
  expect_different(
      "parameter a float32[2, 3] on ranks 0, 1; parameter a float64[2, 3] on "
      "rank 2",
      {{"a", t}}, {{"a", t.to(kDouble)}});
  expect_different(
      "parameter a float32[2, 3] on ranks 0, 1; parameter b float32[4] on rank "
      "2",
      {{"a", t}, {"b", u}}, {{"b", u}, {"a", t}});
  expect_different("parameter b float32[4] on ranks 0, 1; nothing on rank 2",
                   {{"a", t}, {"b", u}}, {{"a", t}});
  expect_different("nothing on ranks 0, 1; parameter b float32[4] on rank 2",
                   {{"a", t}}, {{"a", t}, {"b", u}});
  expect_different("parameter a float32[2, 3] on ranks 0, 1; nothing on rank 2",
                   {{"a", t}}, {});
  expect_different(
      "parameter a float32[2, 3] on ranks 0, 1; parameter a float32[2, 3] with "
      "strides [1, 2] on rank 2",
      {{"a", t}}, {{"a", ones({3, 2}).t()}});
}

TEST(DataParallelErrors, WhatIsTrainedDiffers) {
  expect_error(2,
               "got parameter weight float32[1, 1] on rank 0; parameter weight "
               "float32[1, 1] without gradient on rank 1",
               [](int rank) {
                 nn::Linear model(1, 1);
                 if (rank == 1) model->requires_grad_(false);
                 DistributedDataParallel ddp(model);
               });
  expect_error(2, "got buffer seen float32[2] on rank 0; nothing on rank 1",
               [](int rank) {
                 nn::Linear model(1, 1);
                 if (rank == 0) model->register_buffer("seen", zeros({2}));
                 DistributedDataParallel ddp(model);
               });
  expect_error(2,
               "parameter weight float32[1, 1] on rank 0; no module on rank 1",
               [](int rank) {
                 const auto model = std::make_shared<nn::LinearImpl>(1, 1);
                 DistributedDataParallel ddp(rank == 0 ? model : nullptr);
               });
}

TEST(DataParallelErrors, OptionsDiffer) {
  const auto expect = [](const std::string& part, auto set) {
    expect_error(2, "on all ranks, got " + part, [&](int rank) {
      nn::Linear model(1, 1);
      DataParallelOptions o;
      if (rank == 1) set(o);
      DistributedDataParallel ddp(model, o);
    });
  };
  using O = DataParallelOptions;
  expect("bucket_bytes = 0 on rank 0; bucket_bytes = 7 on rank 1",
         [](O& o) { o.bucket_bytes = 7; });
  expect("first_bucket_bytes = 0 on rank 0; first_bucket_bytes = 7 on rank 1",
         [](O& o) { o.first_bucket_bytes = 7; });
  expect("find_unused_parameters = false on rank 0",
         [](O& o) { o.find_unused_parameters = true; });
  expect("static_graph = false on rank 0", [](O& o) { o.static_graph = true; });
  expect("broadcast_buffers = true on rank 0",
         [](O& o) { o.broadcast_buffers = false; });
  expect("init_sync = true on rank 0", [](O& o) { o.init_sync = false; });
  expect("deterministic = false on rank 0",
         [](O& o) { o.deterministic = true; });
  expect("sync_batch_norm = false on rank 0",
         [](O& o) { o.sync_batch_norm = true; });
}

TEST(DataParallelErrors, NothingToTrain) {
  expect_error(2, "expected parameters that require a gradient, got a ",
               [](int) {
                 nn::Linear model(1, 1);
                 model->requires_grad_(false);
                 DistributedDataParallel ddp(model);
               });
  expect_error(2, "module: expected a module, got nullptr", [](int) {
    DistributedDataParallel ddp(std::shared_ptr<nn::LinearImpl>{});
  });
}

TEST(DataParallelErrors, UnusedParametersAreNamedAndTrainingGoesOn) {
  for (const size_t bytes : {size_t{1}, size_t{0}}) {
    Ranks ranks(3);
    ranks.run([&](int rank) {
      Parts model(3);
      DistributedDataParallel ddp(model, {.bucket_bytes = bytes});
      const auto step = [&](std::vector<bool> uses) {
        nn::call_module(model, filled({1, 1}, rank + 1), uses).backward();
      };
      for (int round = 0; round < 3; ++round) {
        model.zero_grad();
        const std::string error = error_of([&] {
          step({true, rank != 1, false});
        });
        EXPECT_TRUE(has(error,
                        "expected a gradient for each parameter in this "
                        "backward, got none for"))
            << error;
        EXPECT_TRUE(has(error, "part1.weight, part1.bias on rank 1")) << error;
        EXPECT_TRUE(has(error, "part2.weight, part2.bias on all ranks"))
            << error;
        EXPECT_FALSE(has(error, "part0")) << error;
        // Averages with zeros.
        EXPECT_EQ(numbers(model.parts[0]->weight.grad()), Numbers{2});
        expect_near({numbers(model.parts[1]->weight.grad())}, {{4 / 3.0}},
                    1e-6);
        EXPECT_FALSE(model.parts[2]->weight.grad().defined());
        if (round == 0) continue;

        model.zero_grad(round == 1);
        step({true, true, true});
        for (const auto& p : model.parts) {
          EXPECT_EQ(numbers(p->weight.grad()), Numbers{2});
          EXPECT_EQ(numbers(p->bias.grad()), Numbers{1});
        }
      }
    });
  }
}

TEST(DataParallelErrors, UnusedParametersOfOneOfSeveralModels) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    Parts a(2), b(1);
    DistributedDataParallel first(a, {.bucket_bytes = 1}), second(b);
    const auto step = [&](bool all) {
      const Tensor x = filled({1, 1}, 2 * rank);
      a.zero_grad();
      b.zero_grad();
      (nn::call_module(a, x, std::vector<bool>{true, all}) +
       nn::call_module(b, x, std::vector<bool>{true}))
          .backward();
    };
    const std::string error = error_of([&] { step(rank == 0); });
    EXPECT_TRUE(has(error, "got none for part1.weight, part1.bias on rank 1"))
        << error;
    step(true);
    EXPECT_EQ(numbers(a.parts[1]->weight.grad()), Numbers{1});
    EXPECT_EQ(numbers(b.parts[0]->weight.grad()), Numbers{1});
  });
}

TEST(DataParallelErrors, RanksWithOtherNumbersOfModels) {
  std::vector<std::string> errors(2);
  Ranks ranks(2, Milliseconds(60'000));
  ranks.run([&](int rank) {
    nn::Linear a(1, 1), b(1, 1);
    DistributedDataParallel first(a);
    errors[static_cast<size_t>(rank)] = error_of([&] {
      if (rank == 1) DistributedDataParallel second(b);
      a(ones({1, 1})).sum().backward();
    });
  });
  for (const std::string& e : errors) {
    EXPECT_TRUE(has(e, "the ranks disagree")) << e;
    EXPECT_TRUE(has(e, "gradients of")) << e;
  }
}

TEST(DataParallelErrors, UnusedEverywhereIsAnErrorInAWorldOfOne) {
  Ranks ranks(1);
  ranks.run([](int) {
    Parts model(2);
    DistributedDataParallel ddp(model);
    const std::string error = error_of([&] {
      nn::call_module(model, ones({1, 1}), std::vector<bool>{true}).backward();
    });
    EXPECT_TRUE(has(error, "got none for part1.weight, part1.bias. Zeros"))
        << error;
  });
}

TEST(DataParallelErrors, CreateGraph) {
  for (const bool all : {true, false}) {
    Ranks ranks(2);
    ranks.run([&](int rank) {
      nn::Linear model(1, 1);
      DistributedDataParallel ddp(model);
      const bool create = all || rank == 1;
      const std::string error = error_of([&] {
        model(ones({1, 1})).square().sum().backward({}, create, create);
      });
      EXPECT_TRUE(has(error, create ? "create_graph is not supported"
                                    : "backward threw on rank 1"))
          << error;
      model->zero_grad();
      model(filled({1, 1}, rank)).sum().backward();
      EXPECT_EQ(numbers(model->weight.grad()), Numbers{0.5});
    });
  }
}

// The gradient by a run of backward of its own, which reaches w; the outer run
// does, too, if w is an argument as well.
struct ByARun : autograd::Function<ByARun> {
  struct Of {
    Tensor w;
  };
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x,
                        const Of& of, const Tensor&) {
    ctx->save_for_backward({x});
    ctx->saved_data["w"] = of.w;
    return x * of.w.detach();
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const AutoGradMode on(true);
    const Tensor x = saved[0].detach().requires_grad_();
    (x * Tensor(ctx->saved_data["w"].to_tensor())).backward(grads[0]);
    return {x.grad(), Tensor(), Tensor()};
  }
};

TEST(DataParallelErrors, SeveralRunsWithinABackwardWantAStaticGraph) {
  for (const bool find_unused : {false, true}) {
    Ranks ranks(2);
    ranks.run([&](int) {
      const Tensor w = ones({1});
      Of model({{"v", ones({1})}, {"w", w}});
      DistributedDataParallel ddp(
          model, {.bucket_bytes = 1, .find_unused_parameters = find_unused});
      const Tensor v = model.get_parameter("v"), p = model.get_parameter("w");
      const std::string error = error_of([&] {
        const Tensor argument = find_unused ? v : p;
        const Tensor y = ByARun::apply(v * 2, ByARun::Of{p}, argument);
        ByARun::apply(y, ByARun::Of{p}, argument).sum().backward();
      });
      EXPECT_TRUE(has(error,
                      "[DistributedDataParallel] w: got a gradient in "
                      "this backward after "))
          << error;
      EXPECT_TRUE(has(error, find_unused
                                 ? "it was taken for unused and zeros were sent"
                                 : "its first one was sent"))
          << error;
      EXPECT_TRUE(has(error, "set static_graph")) << error;
      model.zero_grad();
      (v * p).sum().backward();
      EXPECT_EQ(numbers(p.grad()), Numbers{1});
    });
  }
}

TEST(DataParallelErrors, AStaticGraphThatChanges) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    Parts model(3);
    DistributedDataParallel ddp(model,
                                {.bucket_bytes = 1, .static_graph = true});
    const auto step = [&](std::vector<bool> uses) {
      model.zero_grad();
      nn::call_module(model, filled({1, 1}, 2 * rank), uses).backward();
    };
    step({true, true, false});
    step({true, true, false});
    std::string error = error_of([&] { step({true, rank == 0, false}); });
    EXPECT_TRUE(has(error,
                    "static_graph: expected gradients of the same "
                    "parameters as in the first backward; it differs on "
                    "rank 1. No gradient for part1.weight, part1.bias "
                    "on rank 1"))
        << error;
    EXPECT_FALSE(has(error, "part2")) << error;
    error = error_of([&] { step({true, true, rank == 1}); });
    EXPECT_TRUE(has(error, rank == 1
                               ? "expected 0 gradients in a backward, as in "
                                 "the first one (static_graph), "
                                 "got one more"
                               : "backward threw on rank 1"))
        << error;
    step({true, true, false});
    EXPECT_EQ(numbers(model.parts[1]->weight.grad()), Numbers{1});
  });
}

TEST(DataParallelErrors, AParameterThatChanges) {
  Ranks ranks(2);
  ranks.run([](int) {
    nn::Linear model(1, 1);
    DistributedDataParallel ddp(model);
    model->to(kDouble);
    const std::string error = error_of([&] {
      model(ones({1, 1}, kDouble)).sum().backward();
    });
    EXPECT_TRUE(has(error, "expected a gradient like")) << error;
    EXPECT_TRUE(has(error, "weight") || has(error, "bias")) << error;
  });
}

}  // namespace
}  // namespace sy::distributed
