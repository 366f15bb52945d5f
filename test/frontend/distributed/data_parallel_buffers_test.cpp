#include <gtest/gtest.h>

#include "frontend/nn/modules/batchnorm.h"
#include "frontend/nn/modules/instancenorm.h"
#include "test/frontend/distributed/trained_models.h"

// Several forward passes, which bring the buffers of rank 0 to the others,
// before one backward pass. Varies the kind of buffers, whether the layers
// train, how many passes there are, and the ranks; never the device.

namespace sy::distributed {
namespace {

// Its layer has buffers, which a gradient may read.
struct Layered : nn::Module {
  explicit Layered(const std::string& kind) : kind(kind) {
    first = register_module("first", nn::Linear(6, 4));
    if (kind.starts_with("batch")) {
      batch = register_module("batch", nn::BatchNorm1d(4));
    } else if (kind == "instance") {
      instance = register_module(
          "instance",
          nn::InstanceNorm1d(
              nn::InstanceNormOptions(4).affine(true).track_running_stats(
                  true)));
    } else {
      scale = register_buffer("scale", full({4}, 1.5, kDouble));
    }
    if (kind == "batch, frozen") batch->eval();
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = first(x);
    if (kind.starts_with("batch")) return batch(y);
    if (kind == "instance") {
      return instance(y.view({2, x.size(0) / 2, 4}).transpose(1, 2));
    }
    return y * scale * y;
  }
  std::string kind;
  nn::Linear first{nullptr};
  nn::BatchNorm1d batch{nullptr};
  nn::InstanceNorm1d instance{nullptr};
  Tensor scale;
};

template <class M>
Tensor loss_of(const M& model, const Tensor& x, int passes) {
  Tensor sum;
  for (int k = 1; k <= passes; ++k) {
    const Tensor y = model(x * k).square().sum();
    sum = sum.defined() ? sum + y : y;
  }
  return sum;
}

TEST(DataParallelBuffers, MayBeSavedByAnEarlierForward) {
  for (const char* kind : {"batch", "batch, frozen", "instance", "plain"}) {
    for (const int passes : {1, 2, 3}) {
      for (const int size : {1, 2, 3}) {
        SCOPED_TRACE(str("{}, {} passes, {} ranks", kind, passes, size));
        const auto all = static_cast<size_t>(size);
        std::vector<std::vector<Numbers>> alone(all), together(all);
        Ranks ranks(size);
        ranks.run([&](int rank) {
          const auto i = static_cast<size_t>(rank);
          const auto model = known(std::make_shared<Layered>(kind));
          const Tensor x = random({8, 6}, rank);
          const auto own = known(std::make_shared<Layered>(kind));
          loss_of([&](const Tensor& t) { return own->forward(t); }, x, passes)
              .backward();
          alone[i] = gradients(*own);
          DistributedDataParallel ddp(model);
          loss_of([&](const Tensor& t) { return ddp(t); }, x, passes)
              .backward();
          together[i] = gradients(*model);
        });
        std::vector<Numbers> mean = alone[0];
        for (size_t p = 0; p < mean.size(); ++p) {
          for (size_t k = 0; k < mean[p].size(); ++k) {
            for (size_t i = 1; i < all; ++i) mean[p][k] += alone[i][p][k];
            mean[p][k] /= static_cast<double>(all);
          }
        }
        for (const auto& one : together) expect_near(one, mean, 1e-9);
      }
    }
  }
}

// They throw rather than that the gradient is another.
TEST(DataParallelBuffers, ThatChangeAreNoticedWhereAGradientReadsThem) {
  Ranks ranks(2);
  std::vector<std::string> errors(2);
  ranks.run([&](int rank) {
    const auto model = known(std::make_shared<Layered>("plain"));
    DistributedDataParallel ddp(model);
    const Tensor x = random({4, 6}, rank);
    const Tensor first = ddp(x).sum();
    if (rank == 0) {
      const NoGradGuard no_grad;
      model->scale.fill_(2);
    }
    const Tensor second = ddp(x).sum();
    errors[static_cast<size_t>(rank)] =
        error_of([&] { (first + second).backward(); });
  });
  for (const std::string& e : errors) {
    EXPECT_TRUE(has(e, "a saved tensor was changed in place")) << e;
  }
}

}  // namespace
}  // namespace sy::distributed
