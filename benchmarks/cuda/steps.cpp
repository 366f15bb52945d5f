#include <sy/nn.h>
#include <sy/optim.h>

#include "benchmarks/cuda/measure.h"

// Whole steps of training: forward, backward, update. The time from the first
// to the last of several steps, as a program sees it.

namespace bench {
namespace {

namespace nn = sy::nn;
using sy::Tensor;

double step_time(const Options& o, const std::function<void()>& step) {
  const int steps = o.smoke ? 1 : 20, turns = o.smoke ? 1 : 5;
  for (int i = 0; i < (o.smoke ? 1 : 5); ++i) step();
  std::vector<double> times;
  for (int turn = 0; turn < turns; ++turn) {
    wait();
    const auto begin = Clock::now();
    for (int i = 0; i < steps; ++i) step();
    wait();
    times.push_back(since(begin) / steps);
  }
  return median(times);
}

// Attention and two layers, each after a norm and added to what came in.
struct Block : nn::Module {
  Block(int64_t width, int64_t heads) : heads(heads) {
    const auto norm = [&] {
      return nn::LayerNorm(nn::LayerNormOptions({width}));
    };
    before = register_module("before", norm());
    in = register_module("in", nn::Linear(width, 3 * width));
    out = register_module("out", nn::Linear(width, width));
    between = register_module("between", norm());
    up = register_module("up", nn::Linear(width, 4 * width));
    down = register_module("down", nn::Linear(4 * width, width));
  }
  Tensor attend(const Tensor& x) const {
    const int64_t n = x.size(0), length = x.size(1), width = x.size(2) / 3;
    const Tensor qkv =
        x.view({n, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    return sy::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        .transpose(1, 2)
        .reshape({n, length, width});
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = x + out(attend(in(before(x))));
    return y + down(sy::gelu(up(between(y))));
  }

  int64_t heads;
  nn::LayerNorm before{nullptr}, between{nullptr};
  nn::Linear in{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
};

struct Transformer : nn::Module {
  Transformer(int64_t width, int64_t blocks) {
    for (int64_t i = 0; i < blocks; ++i) {
      all.push_back(
          register_module("block" + std::to_string(i),
                          std::make_shared<Block>(width, width / 64)));
    }
    head = register_module("head", nn::Linear(width, 64));
  }
  Tensor forward(Tensor x) {
    for (const auto& b : all) x = b->forward(x);
    return head(x).flatten(0, 1);
  }
  std::vector<std::shared_ptr<Block>> all;
  nn::Linear head{nullptr};
};

nn::Sequential make_convnet() {
  const auto filter = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
  };
  return nn::Sequential(
      filter(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
      filter(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2),
      filter(64, 128), nn::BatchNorm2d(128), nn::ReLU(),
      nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(128, 10));
}

template <class Forward>
void train(const Options& o, const std::string& name, nn::Module& model,
           const Tensor& x, const Tensor& y, const Forward& forward) {
  model.to(device());
  sy::optim::SGD optimizer(model.parameters(),
                           sy::optim::SGDOptions(1e-4).momentum(0.9));
  report(name, step_time(o, [&] {
           const Tensor loss = sy::cross_entropy_loss(forward(x), y);
           optimizer.zero_grad();
           loss.backward();
           optimizer.step();
         }));
}

void train_transformer(const Options& o, const std::string& name, int64_t batch,
                       int64_t length, int64_t width, int64_t blocks) {
  const auto model = std::make_shared<Transformer>(width, blocks);
  train(o, name, *model, sy::randn({batch, length, width}).to(device()),
        sy::randint(64, {batch * length}, sy::kLong).to(device()),
        [&](const Tensor& x) { return model->forward(x); });
}

}  // namespace

void run_steps(const Options& o) {
  const sy::AutoGradMode with_gradients(true);
  if (o.smoke) {
    train_transformer(o, "step_transformer_256", 1, 4, 64, 1);
  } else {
    train_transformer(o, "step_transformer_256", 8, 128, 256, 4);
    train_transformer(o, "step_transformer_1024", 16, 512, 1024, 4);
  }
  const int64_t images = o.smoke ? 1 : 32, side = o.smoke ? 8 : 32;
  const nn::Sequential convnet = make_convnet();
  train(o, "step_convnet", *convnet,
        sy::randn({images, 3, side, side}).to(device()),
        sy::randint(10, {images}, sy::kLong).to(device()),
        [&](const Tensor& x) { return convnet->forward(x); });
}

}  // namespace bench
