#include <gtest/gtest.h>
#include <sy/export.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <cmath>

#include "test/c10/expect_error.h"
#include "test/frontend/export/exported.h"

// Programs whose sizes follow those of the inputs. check_exported.py runs the
// same files in Python.

namespace sy::test {
namespace {

using One = std::tuple<Tensor>;
using Two = std::tuple<Tensor, Tensor>;

class ExportSizes : public testing::Test {
 protected:
  void SetUp() override { manual_seed(11); }
};

class ReshapesImpl : public nn::Module {
 public:
  std::vector<Tensor> forward(const Tensor& x) {
    const int64_t n = x.size(0), steps = x.size(1);
    const Tensor y = x.reshape({n * steps, 2, 2}).sum(2);
    return {x.view({n, -1}),
            y.view({n, steps * 2}).t(),
            x.permute({1, 0, 2}).reshape({steps, n / 1, 4}),
            zeros({n + 1, steps - 1}) + steps,
            arange(n * steps).reshape({n, steps}) * n,
            x.new_ones({steps, 2 * n + 3}).triu(1),
            x.expand({3, n, steps, 4}).reshape({3 * n, -1}),
            x.sum() / double(n * steps),
            x.mul(1.0 / double(n)),
            full({2}, double(steps))};
  }
};
SY_MODULE(Reshapes);

TEST_F(ExportSizes, OfReshapes) {
  std::vector<One> examples;
  for (const auto& [n, steps] : {std::pair{3, 5}, {1, 3}, {7, 4}, {20, 33}}) {
    examples.emplace_back(randn({n, steps, 4}));
  }
  check_exported("reshapes", Reshapes(), examples,
                 ExportOptions()
                     .dynamic(0, 0, "batch", 1, 64)
                     .dynamic(0, 1, "steps", 3, 128));
}

class TaggerImpl : public nn::Module {
 public:
  TaggerImpl() {
    register_module("words", words);
    register_module("encoder", encoder);
    register_module("out", out);
    places = register_buffer("places", randn({64, 8}));
  }
  std::map<std::string, Tensor> forward(const Tensor& x) {
    const int64_t length = x.size(1);
    Tensor y = words(x) * std::sqrt(8.0) + places.slice(0, 0, length);
    const Tensor mask =
        full({length, length}, -std::numeric_limits<double>::infinity())
            .triu(1);
    y = encoder(y.transpose(0, 1), mask).transpose(0, 1);
    const Tensor scores = out(y);
    return {{"scores", scores},
            {"last", scores.select(1, length - 1)},
            {"mean", scores.sum(1) / double(length)}};
  }
  nn::Embedding words{30, 8};
  nn::TransformerEncoder encoder{
      nn::TransformerEncoderLayer(
          nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(12).dropout(
              0)),
      1};
  nn::Linear out{8, 5};
  Tensor places;
};
SY_MODULE(Tagger);

TEST_F(ExportSizes, OfSequences) {
  std::vector<One> examples;
  for (const auto& [n, length] : {std::pair{2, 7}, {1, 1}, {5, 30}, {3, 64}}) {
    examples.emplace_back(randint(0, 30, {n, length}, kLong));
  }
  check_exported("tagger", Tagger(), examples,
                 ExportOptions()
                     .dynamic(0, 0, "batch", 1, 16)
                     .dynamic(0, 1, "length", 1, 64)
                     .arguments({"words"}));
}

// Python exports no such networks, and runs these. It takes the length for
// fixed when it decomposes them.
TEST_F(ExportSizes, OfRecurrentNetworks) {
  nn::LSTM lstm(nn::LSTMOptions(3, 4).batch_first(true).bidirectional(true));
  std::vector<One> examples;
  for (const auto& [n, length] : {std::pair{2, 7}, {1, 1}, {5, 30}}) {
    examples.emplace_back(randn({n, length, 3}));
  }
  check_exported(
      "lstm_lengths", lstm, examples,
      ExportOptions().dynamic(0, 0, "batch").dynamic(0, 1, "length"));
}

class PyramidImpl : public nn::Module {
 public:
  PyramidImpl() {
    register_module("down", down);
    register_module("up", up);
  }
  std::vector<Tensor> forward(const Tensor& x) {
    namespace F = nn::functional;
    const Tensor y = down(x);
    const Tensor z = F::max_pool2d(y, F::MaxPool2dFuncOptions(3).stride(2));
    const Tensor wide = up(z);
    return {
        y,
        z,
        wide,
        F::pad(x, F::PadFuncOptions({1, 2, 3, 0})),
        F::interpolate(z, F::InterpolateFuncOptions()
                              .size(std::vector<int64_t>{y.size(2), y.size(3)})
                              .mode(kNearest)),
        x.flatten(2).transpose(1, 2)};
  }
  nn::Sequential down{nn::Conv2d(nn::Conv2dOptions(2, 3, 3).stride(2)),
                      nn::ReLU(),
                      nn::Conv2d(nn::Conv2dOptions(3, 4, 5).padding(2))};
  nn::ConvTranspose2d up{nn::ConvTranspose2dOptions(4, 2, 2).stride(2)};
};
SY_MODULE(Pyramid);

TEST_F(ExportSizes, OfPictures) {
  std::vector<One> examples;
  for (const auto& [h, w] : {std::pair{17, 20}, {18, 21}, {40, 11}, {61, 64}}) {
    examples.emplace_back(randn({2, 2, h, w}));
  }
  check_exported("pyramid", Pyramid(), examples,
                 ExportOptions()
                     .dynamic(0, 2, "height", 11, 64)
                     .dynamic(0, -1, "width", 11, 64));
}

// AOTInductor of PyTorch 2.15 takes the height for fixed, Python's export too.
TEST_F(ExportSizes, OfAdaptivePools) {
  std::vector<One> examples;
  for (const int64_t n : {8, 9, 33}) examples.emplace_back(randn({2, 2, n, 7}));
  check_exported("adaptive", nn::AdaptiveAvgPool2d(3), examples,
                 ExportOptions().dynamic(0, 2, "height", 3, 64));
}

// Python exports none such with dynamic sizes either.
TEST_F(ExportSizes, OfPoolsThatRoundUp) {
  nn::AvgPool2d pool(nn::AvgPool2dOptions(2).ceil_mode(true));
  std::vector<One> examples;
  for (const int64_t n : {8, 9, 33}) examples.emplace_back(randn({2, 2, n, 7}));
  check_exported("rounds_up", pool, examples,
                 ExportOptions().dynamic(0, 2, "height", 3, 64));
}

class PairsImpl : public nn::Module {
 public:
  std::vector<Tensor> forward(const Tensor& x, const Tensor& y) {
    const int64_t n = x.size(0), m = y.size(0);
    const Tensor both = cat({x, y});
    return {both,
            x.matmul(y.t()),
            cdist(x, y).amin(1),
            (x.unsqueeze(1) * y).reshape({n * m, 3}),
            both.slice(0, n).sub(y),
            both.roll(1, 0),
            stack({both.sum(0), x.sum(0)}),
            both.new_zeros({n * (n - 1) / 2})};
  }
};
SY_MODULE(Pairs);

TEST_F(ExportSizes, OfTwoInputs) {
  std::vector<Two> examples;
  for (const auto& [n, m] : {std::pair{4, 6}, {3, 3}, {9, 3}, {24, 23}}) {
    examples.emplace_back(randn({n, 3}), randn({m, 3}));
  }
  check_exported(
      "pairs", Pairs(), examples,
      ExportOptions().dynamic(0, 0, "n", 3, 24).dynamic(1, 0, "m", 3, 24));
}

class ManyImpl : public nn::Module {
 public:
  Tensor forward(const Tensor& x) {
    return x.flatten(1, 3).transpose(0, 1).reshape({-1, x.size(0) + 0}) +
           double(x.size(4) * x.size(5));
  }
};
SY_MODULE(Many);

TEST_F(ExportSizes, OfManySymbols) {
  ExportOptions options;
  for (int64_t d = 0; d < 6; ++d) {
    options.dynamic(0, d, str("d{}", d), 1, 5 + d);
  }
  check_exported("many_symbols", Many(),
                 std::vector<One>{{randn({3, 4, 2, 3, 2, 5})},
                                  {randn({1, 5, 6, 1, 4, 2})}},
                 options);
}

using Distance = nn::PairwiseDistance;

TEST_F(ExportSizes, AreChecked) {
  const std::string path = exported_path("checked");
  export_program(Distance(), {randn({4, 3}), randn({4, 3})}, path,
                 ExportOptions()
                     .dynamic(0, 0, "batch", 2, 8)
                     .dynamic(1, 0, "batch")
                     .arguments({"x", "y"}));
  const Program program = load_program(path);
  EXPECT_EQ(program(ones({8, 3}), ones({8, 3})).to_tensor().size(0), 8);
  SY_EXPECT_ERROR(program(ones({9, 3}), ones({9, 3})), ValueError,
                  "x: expected float32[s0, 3], s0 at most 8, got");
  SY_EXPECT_ERROR(program(ones({3, 3}), ones({4, 3})), ValueError,
                  "y: expected");
  SY_EXPECT_ERROR(program(ones({3, 4}), ones({3, 3})), ValueError, "dim 1");
  EXPECT_EQ(program->inputs(),
            (std::vector<std::string>{"x: float32[s0, 3], s0 at most 8",
                                      "y: float32[s0, 3], s0 at most 8"}));
}

}  // namespace
}  // namespace sy::test
