#pragma once

#include <sy/sy.h>

#include <vector>

// Small networks on a device, with plain gradient descent. A step is forward,
// backward and the update.

namespace sy::bench {

class Parameters {
 public:
  explicit Parameters(Device device) : device_(device) {}
  Tensor normal(IntArrayRef sizes, double scale) {
    return keep(randn(sizes) * scale);
  }
  Tensor full(IntArrayRef sizes, double value) {
    return keep(sy::full(sizes, value));
  }
  Tensor constant(const Tensor& t) const { return t.to(device_); }
  void update(const Tensor& loss) {
    for (Tensor& t : all_) t.mutable_grad().reset();
    loss.backward();
    const NoGradGuard no_grad;
    for (Tensor& t : all_) t.add_(t.grad(), -0.01);
  }

 private:
  Tensor keep(const Tensor& t) {
    Tensor on = t.to(device_);
    on.requires_grad_(true);
    all_.push_back(on);
    return on;
  }
  Device device_;
  std::vector<Tensor> all_;
};

struct Linear {
  Linear(Parameters& p, int64_t in, int64_t out)
      : weight(p.normal({out, in}, 0.05)), bias(p.full({out}, 0)) {}
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
  Tensor weight, bias;
};

struct LayerNorm {
  LayerNorm(Parameters& p, int64_t n)
      : size(n), weight(p.full({n}, 1)), bias(p.full({n}, 0)) {}
  Tensor operator()(const Tensor& x) const {
    return layer_norm(x, {size}, weight, bias);
  }
  int64_t size;
  Tensor weight, bias;
};

// Attention and two layers, each after a norm and added to what came in.
struct Block {
  Block(Parameters& p, int64_t width, int64_t n)
      : heads(n),
        before(p, width),
        between(p, width),
        in(p, width, 3 * width),
        out(p, width, width),
        up(p, width, 4 * width),
        down(p, 4 * width, width) {}

  Tensor operator()(const Tensor& x) const {
    const int64_t n = x.size(0), length = x.size(1), width = x.size(2);
    const Tensor qkv = in(before(x))
                           .view({n, length, 3, heads, width / heads})
                           .permute({2, 0, 3, 1, 4});
    const Tensor a = scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
                         .transpose(1, 2)
                         .reshape({n, length, width});
    const Tensor y = x + out(a);
    return y + down(gelu(up(between(y))));
  }

  int64_t heads;
  LayerNorm before, between;
  Linear in, out, up, down;
};

class Transformer {
 public:
  explicit Transformer(Device device) : p_(device) {
    for (int i = 0; i < 4; ++i) blocks_.emplace_back(p_, kWidth, kHeads);
    norm_.emplace_back(p_, kWidth);
    head_.emplace_back(p_, kWidth, 64);
    x_ = p_.constant(randn({kBatch, kLength, kWidth}));
    y_ = p_.constant(randint(64, {kBatch * kLength}, kLong));
  }
  Tensor step() {
    Tensor t = x_;
    for (const Block& b : blocks_) t = b(t);
    const Tensor loss =
        cross_entropy_loss(head_[0](norm_[0](t)).view({-1, 64}), y_);
    p_.update(loss);
    return loss;
  }

 private:
  static constexpr int64_t kBatch = 8, kLength = 128, kWidth = 256, kHeads = 4;
  Parameters p_;
  std::vector<Block> blocks_;
  std::vector<LayerNorm> norm_;
  std::vector<Linear> head_;
  Tensor x_, y_;
};

struct ConvNorm {
  ConvNorm(Parameters& p, int64_t in, int64_t out)
      : filter(p.normal({out, in, 3, 3}, 0.05)),
        weight(p.full({out}, 1)),
        bias(p.full({out}, 0)),
        mean(p.constant(zeros({out}))),
        variance(p.constant(ones({out}))) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor y = conv2d(x, filter, {}, 1, 1);
    return relu(
        batch_norm(y, weight, bias, mean, variance, true, 0.1, 1e-5, false));
  }
  Tensor filter, weight, bias, mean, variance;
};

class Convnet {
 public:
  explicit Convnet(Device device)
      : p_(device),
        first_(p_, 3, 32),
        second_(p_, 32, 64),
        third_(p_, 64, 128),
        head_(p_, 128, 10) {
    x_ = p_.constant(randn({kBatch, 3, 32, 32}));
    y_ = p_.constant(randint(10, {kBatch}, kLong));
  }
  Tensor step() {
    const Tensor a = max_pool2d(first_(x_), {2, 2});
    const Tensor b = max_pool2d(second_(a), {2, 2});
    const Tensor c = adaptive_avg_pool2d(third_(b), {1, 1});
    const Tensor loss = cross_entropy_loss(head_(c.flatten(1)), y_);
    p_.update(loss);
    return loss;
  }

 private:
  static constexpr int64_t kBatch = 32;
  Parameters p_;
  ConvNorm first_, second_, third_;
  Linear head_;
  Tensor x_, y_;
};

class Mlp {
 public:
  explicit Mlp(Device device)
      : p_(device), in_(p_, 64, 128), out_(p_, 128, 10) {
    x_ = p_.constant(randn({32, 64}));
    y_ = p_.constant(randint(10, {32}, kLong));
  }
  Tensor step() {
    const Tensor loss = cross_entropy_loss(out_(relu(in_(x_))), y_);
    p_.update(loss);
    return loss;
  }

 private:
  Parameters p_;
  Linear in_, out_;
  Tensor x_, y_;
};

}  // namespace sy::bench
