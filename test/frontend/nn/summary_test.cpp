#include "frontend/nn/summary.h"

#include <gtest/gtest.h>

#include "frontend/nn/container/sequential.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

// As a module: what one call of f takes.
template <class F>
int64_t flops_of(F f) {
  return nn::summary(nn::Functional([f](Tensor x) {
                       f();
                       return x;
                     }),
                     ones({1}))
      .rows[0]
      .flops;
}

TEST(Summary, SaysWhatTheModulesDo) {
  const auto net = std::make_shared<Net>();
  net->second->bias.requires_grad_(false);
  const nn::Summary s = nn::summary(net, randn({5, 4}));
  ASSERT_EQ(s.rows.size(), 3u);
  EXPECT_EQ(s.rows[0].parameters, 4 * 3 + 3 + 3 * 2 + 2);
  EXPECT_EQ(s.rows[0].trained, 4 * 3 + 3 + 3 * 2);
  EXPECT_EQ(s.rows[0].bytes, 4 * (23 + 2 + 3));
  EXPECT_EQ(s.rows[0].flops, 2 * 5 * (4 * 3 + 3 * 2));
  EXPECT_EQ(s.rows[1].path, "first");
  EXPECT_EQ(s.rows[1].outputs, (std::vector<std::string>{"[5, 3]"}));
  EXPECT_EQ(s.rows[1].flops, 2 * 5 * 4 * 3);
  EXPECT_EQ(s.table(),
            "module            output  parameters  bytes  FLOPs\n"
            "Net               [5, 2]          23    112    180\n"
            "  first (Layer)   [5, 3]          15     60    120\n"
            "  second (Layer)  [5, 2]           8     32     60\n"
            "21 of 23 parameters require a gradient\n");
}

TEST(Summary, LeavesTheModelAsItWas) {
  const auto net = std::make_shared<Net>();
  nn::summary(net, randn({5, 4}));
  SY_EXPECT_ERROR(nn::summary(net, randn({5, 5})), ValueError, "in Net");
  EXPECT_TRUE(net->forward(randn({5, 4})).requires_grad());
}

TEST(Summary, CountsCallsOfSharedModules) {
  struct Twice : nn::Module {
    Twice() {
      layer = register_module("layer", Layer(3, 3));
      unused = register_module("unused", Layer(3, 3));
    }
    Tensor forward(const Tensor& x) { return layer(layer(x)); }
    Layer layer{nullptr}, unused{nullptr};
  };
  const nn::Summary s = nn::summary(std::make_shared<Twice>(), randn({2, 3}));
  EXPECT_EQ(s.rows[1].calls, 2);
  EXPECT_EQ(s.rows[1].flops, 2 * 2 * 2 * 9);
  EXPECT_EQ(s.rows[2].calls, 0);
  EXPECT_NE(s.table().find("2 x [2, 3]"), std::string::npos);
}

TEST(Summary, WorksOnMeta) {
  const auto net = std::make_shared<Net>();
  net->to(Device(kMeta));
  EXPECT_EQ(nn::summary(net, empty({5, 4}, Device(kMeta))).rows[0].flops, 180);
}

TEST(Flops, OfProducts) {
  EXPECT_EQ(flops_of([] { mm(ones({2, 3}), ones({3, 5})); }), 2 * 2 * 3 * 5);
  EXPECT_EQ(flops_of([] {
              bmm(ones({7, 2, 3}), ones({7, 3, 5}));
            }),
            7 * 2 * 2 * 3 * 5);
  EXPECT_EQ(flops_of([] { mv(ones({2, 3}), ones({3})); }), 12);
  EXPECT_EQ(flops_of([] { dot(ones({3}), ones({3})); }), 6);
  EXPECT_EQ(flops_of([] {
              linear(ones({4, 2, 3}), ones({5, 3}));
            }),
            2 * 8 * 3 * 5);
  EXPECT_EQ(flops_of([] { ones({3}).add(ones({3})).tanh(); }), 0);
}

TEST(Flops, OfConvolutions) {
  const Tensor x = ones({2, 4, 8, 8});
  EXPECT_EQ(flops_of([&] {
              conv2d(x, ones({6, 4, 3, 3}));
            }),
            2 * (2 * 6 * 6 * 6) * (4 * 3 * 3));
  EXPECT_EQ(flops_of([&] {
              conv2d(x, ones({6, 2, 3, 3}), {}, 1, 1, 1, 2);
            }),
            2 * (2 * 6 * 8 * 8) * (2 * 3 * 3));
  EXPECT_EQ(flops_of([&] {
              conv_transpose2d(x, ones({4, 6, 3, 3}));
            }),
            2 * (2 * 4 * 8 * 8) * (6 * 3 * 3));
}

TEST(Flops, OfAttention) {
  const Tensor q = randn({2, 3, 5, 4}), k = randn({2, 3, 7, 4});
  EXPECT_EQ(flops_of([&] { scaled_dot_product_attention(q, k, k); }),
            2 * (2 * 3) * 5 * 7 * (4 + 4));
}

TEST(Flops, OfRecurrentLayers) {
  const Tensor x = randn({6, 2, 3}), h = zeros({1, 2, 4});
  const std::vector<Tensor> w{randn({16, 3}), randn({16, 4}), randn({16}),
                              randn({16})};
  EXPECT_EQ(flops_of([&] {
              lstm(x, {h, h}, w, true, 1, 0.0, false, false, false);
            }),
            2 * 12 * (16 * 3 + 16 * 4));
  EXPECT_EQ(
      flops_of([&] {
        lstm_cell(randn({2, 3}), {zeros({2, 4}), zeros({2, 4})}, w[0], w[1]);
      }),
      2 * 2 * (16 * 3 + 16 * 4));
}

}  // namespace
}  // namespace sy::test
