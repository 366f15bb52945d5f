#include <gtest/gtest.h>
#include <sy/export.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <filesystem>
#include <limits>
#include <map>
#include <thread>

#include "test/frontend/export/exported.h"

// Modules with fixed sizes, and a dynamic batch where it is cheap. The same
// files go through Python by check_exported.py.

namespace sy::test {
namespace {

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;
using nn::Linear;
using One = std::tuple<Tensor>;
using Two = std::tuple<Tensor, Tensor>;

class ExportProgram : public testing::Test {
 protected:
  void SetUp() override { manual_seed(7); }
};

ExportOptions batch(size_t inputs = 1) {
  ExportOptions options;
  for (size_t i = 0; i < inputs; ++i) options.dynamic(i, 0, "batch", 1, 64);
  return options;
}

std::vector<One> of_batches(std::vector<int64_t> rest) {
  std::vector<One> out;
  for (const int64_t n : {4, 1, 7, 64}) {
    std::vector<int64_t> sizes = rest;
    sizes.insert(sizes.begin(), n);
    out.emplace_back(randn(sizes));
  }
  return out;
}

TEST_F(ExportProgram, Layers) {
  nn::Sequential net(
      Linear(6, 16), nn::ReLU(), Linear(16, 16), nn::GELU(), Linear(16, 8),
      nn::Tanh(), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::SiLU(), nn::ELU(), nn::Softplus(), Linear(8, 3), nn::LogSoftmax(1));
  check_exported("layers", net, of_batches({6}), batch().arguments({"x"}));
}

nn::Sequential convolutions() {
  return nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1).bias(false)),
      nn::BatchNorm2d(8), nn::ReLU(nn::ReLUOptions(true)), nn::MaxPool2d(2),
      nn::Conv2d(nn::Conv2dOptions(8, 4, 3).stride(2)), nn::BatchNorm2d(4),
      nn::AdaptiveAvgPool2d(2), nn::Flatten(), Linear(16, 5));
}

TEST_F(ExportProgram, Convolutions) {
  nn::Sequential net = convolutions();
  net(randn({6, 3, 12, 12}));  // statistics that are not 0 and 1
  net->eval();
  check_exported("convolutions_eval", net, of_batches({3, 12, 12}), batch());
}

TEST_F(ExportProgram, ConvolutionsThatTrain) {
  nn::Sequential net = convolutions();
  auto examples = of_batches({3, 12, 12});
  check_exported("convolutions_training", net, examples, batch());
}

class WordsImpl : public nn::Module {
 public:
  WordsImpl() {
    register_module("words", words);
    register_module("bag", bag);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) {
    return out(cat({words(x).mean(IntArrayRef({1})), bag(x)}, 1));
  }
  nn::Embedding words{nn::EmbeddingOptions(20, 6).padding_idx(0)};
  nn::EmbeddingBag bag{nn::EmbeddingBagOptions(20, 3).mode(kSum)};
  Linear out{9, 2};
};
SY_MODULE(Words);

TEST_F(ExportProgram, Embeddings) {
  check_exported("embeddings", Words(),
                 std::vector<One>{{randint(0, 20, {4, 5}, kLong)},
                                  {randint(0, 20, {9, 5}, kLong)}},
                 batch());
}

template <class Holder, class Options>
void check_network(const std::string& name, Options options) {
  Holder net(options.num_layers(2).bidirectional(true).batch_first(true));
  check_exported(name, net, of_batches({5, 4}), batch());
}

TEST_F(ExportProgram, RecurrentNetworks) {
  check_network<nn::RNN>("rnn", nn::RNNOptions(4, 3));
  check_network<nn::GRU>("gru", nn::GRUOptions(4, 3));
  check_network<nn::LSTM>("lstm", nn::LSTMOptions(4, 3));
}

TEST_F(ExportProgram, StatesOfANetwork) {
  using States = std::tuple<Tensor, Tensor>;
  nn::LSTM lstm(4, 3);
  std::vector<std::tuple<Tensor, std::optional<States>>> examples;
  for (const int64_t n : {2, 5}) {
    examples.emplace_back(randn({6, n, 4}),
                          States(randn({1, n, 3}), randn({1, n, 3})));
  }
  ExportOptions options;
  for (size_t i = 0; i < 3; ++i) options.dynamic(i, 1, "batch");
  check_exported("lstm_states", lstm, examples,
                 options.arguments({"x", "state"}));
}

class AttentionImpl : public nn::Module {
 public:
  AttentionImpl() { register_module("attention", attention); }
  std::tuple<Tensor, Tensor> forward(const Tensor& x, const Tensor& padding) {
    return attention(x, x, x, padding);
  }
  nn::MultiheadAttention attention{8, 2};
};
SY_MODULE(Attention);

Tensor padding_of(int64_t batch, int64_t length) {
  return arange(length).unsqueeze(0).ge(arange(batch).unsqueeze(1) + 2);
}

TEST_F(ExportProgram, Attention) {
  std::vector<Two> examples;
  for (const int64_t n : {4, 3, 6}) {
    examples.emplace_back(randn({6, n, 8}), padding_of(n, 6));
  }
  check_exported("attention", Attention(), examples,
                 ExportOptions().dynamic(0, 1, "batch").dynamic(1, 0, "batch"));
}

TEST_F(ExportProgram, Transformers) {
  nn::TransformerEncoderLayer layer(
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0));
  check_exported("encoder_layer", layer, std::vector<One>{{randn({5, 2, 8})}});
  nn::TransformerEncoder encoder(layer, 2);
  encoder->reset_parameters();
  encoder->eval();
  check_exported("encoder", encoder,
                 std::vector<One>{{randn({5, 2, 8})}, {randn({5, 3, 8})}},
                 ExportOptions().dynamic(0, 1, "batch"));
  nn::Transformer both(nn::TransformerOptions(8, 2, 1, 1).dim_feedforward(16));
  both->eval();
  check_exported("transformer", both,
                 std::vector<Two>{{randn({5, 2, 8}), randn({3, 2, 8})}});
}

class NormsImpl : public nn::Module {
 public:
  NormsImpl() {
    register_module("layer", layer);
    register_module("group", group);
    register_module("instance", instance);
  }
  Tensor forward(const Tensor& x) { return layer(instance(group(x))); }
  nn::LayerNorm layer{nn::LayerNormOptions({6, 6})};
  nn::GroupNorm group{nn::GroupNormOptions(2, 4)};
  nn::InstanceNorm2d instance{nn::InstanceNorm2dOptions(4).affine(true)};
};
SY_MODULE(Norms);

TEST_F(ExportProgram, Norms) {
  check_exported("norms", Norms(), of_batches({4, 6, 6}), batch());
}

class PoolsImpl : public nn::Module {
 public:
  std::vector<Tensor> forward(const Tensor& x) {
    namespace F = nn::functional;
    return {F::max_pool2d(x, F::MaxPool2dFuncOptions(3).stride(2).padding(1)),
            F::avg_pool2d(x, F::AvgPool2dFuncOptions(2).ceil_mode(true)),
            F::adaptive_max_pool2d(x, F::AdaptiveMaxPool2dFuncOptions(3)),
            F::lp_pool2d(x.abs(), F::LPPool2dFuncOptions(2, 3)),
            F::interpolate(x, F::InterpolateFuncOptions()
                                  .size(std::vector<int64_t>{5, 9})
                                  .mode(kBilinear)
                                  .align_corners(false)),
            F::pad(x, F::PadFuncOptions({1, 2, 0, 1}).mode(kReflect)),
            F::unfold(x, F::UnfoldFuncOptions(2))};
  }
};
SY_MODULE(Pools);

TEST_F(ExportProgram, Pools) {
  check_exported("pools", Pools(), of_batches({2, 7, 7}), batch());
}

TEST_F(ExportProgram, DropoutThatIsOff) {
  nn::Sequential net(Linear(4, 4), nn::Dropout(0.5), nn::AlphaDropout(0.3));
  net->eval();
  check_exported("dropout", net, of_batches({4}), batch());
}

using Results = std::map<std::string, std::tuple<Tensor, std::vector<Tensor>>>;

class NestedImpl : public nn::Module {
 public:
  NestedImpl() { register_module("fc", fc); }
  Results forward(const Tensor& x, const std::map<std::string, Tensor>& more,
                  double scale, const std::string& mode) {
    const Tensor y = fc(x) * scale;
    const Tensor z = mode == "sum" ? y + more.at("a") : y * more.at("a");
    return {{"first", {y, {z, more.at("b").exp()}}},
            {"second", {z.sum(), {x}}}};
  }
  Linear fc{3, 3};
};
SY_MODULE(Nested);

TEST_F(ExportProgram, NestedArgumentsAndResults) {
  using Inputs =
      std::tuple<Tensor, std::map<std::string, Tensor>, double, std::string>;
  std::vector<Inputs> examples;
  for (const int64_t n : {3, 5}) {
    examples.emplace_back(
        randn({n, 3}),
        std::map<std::string, Tensor>{{"a", randn({n, 3})}, {"b", randn({2})}},
        1.5, "sum");
  }
  check_exported("nested_results", Nested(), examples,
                 batch(2).arguments({"x", "more", "scale", "mode"}, 3));
}

class ViewsImpl : public nn::Module {
 public:
  ViewsImpl() { weight = register_parameter("weight", randn({4, 6})); }
  std::vector<Tensor> forward(const Tensor& x) {
    const Tensor y = (x.transpose(0, 1) * 2).permute({1, 0});
    return {y.view({2, 3, 4}).flatten(1),
            weight.t().select(0, 1).expand({3, 4}),
            x.unfold(0, 3, 2).squeeze(-1),
            weight.diagonal().unsqueeze(0),
            as_strided(x, {2, 2}, {1, 4}, 1),
            x.contiguous().view_as(x).narrow(1, 1, 2).movedim(0, 1)};
  }
  Tensor weight;
};
SY_MODULE(Views);

TEST_F(ExportProgram, Views) {
  check_exported("views", Views(), std::vector<One>{{randn({6, 4})}});
}

class WritesImpl : public nn::Module {
 public:
  WritesImpl() { register_module("fc", fc); }
  std::tuple<Tensor, Tensor> forward(const Tensor& x, Tensor state) {
    Tensor y = fc(x);
    y.mul_(2).select(1, 0).add_(1);
    y.index_put_({Slice(), 2}, x.select(1, 0));
    Tensor z = zeros_like(y);
    z.slice(1, 0, 2).copy_(y.slice(1, 1, 3));
    z[0].fill_(0.5);
    z.masked_fill_(z.gt(1), 1.0);
    state.add_(y.detach().sum(0));  // an argument
    Tensor out = empty({0});
    {
      const NoGradGuard no_grad;
      add_out(out, z, state);
    }
    return {out + z, y.relu_()};
  }
  Linear fc{3, 3};
};
SY_MODULE(Writes);

TEST_F(ExportProgram, Writes) {
  check_exported("writes_in_place", Writes(),
                 std::vector<Two>{{randn({4, 3}), randn({3})},
                                  {randn({2, 3}), randn({3})}},
                 batch());
}

class CounterImpl : public nn::Module {
 public:
  CounterImpl() {
    calls = register_buffer("calls", zeros({}, kLong));
    mean = register_buffer("mean", zeros({3}));
    hidden = register_buffer("hidden", ones({3}), false);
    unused = register_buffer("unused", ones({2}));
  }
  Tensor forward(const Tensor& x) {
    calls.add_(1);
    {
      const NoGradGuard no_grad;
      mean.mul_(0.9).add_(x.mean(IntArrayRef({0})), 0.1);
      hidden.copy_(mean * 2);
    }
    return (x - mean) * hidden / calls;
  }
  Tensor calls, mean, hidden, unused;
};
SY_MODULE(Counter);

TEST_F(ExportProgram, BuffersThatAreWritten) {
  check_exported("counter", Counter(), of_batches({3}), batch());
}

class TiedImpl : public nn::Module {
 public:
  TiedImpl() {
    register_module("table", table);
    register_module("again", again);
    register_module("same", same);
    again->weight = again->set_parameter("weight", table->weight);
    shared = register_buffer("shared", ones({4}));
    register_buffer("shared_too", shared);
    part = register_buffer("part", shared.slice(0, 0, 2));
  }
  Tensor forward(const Tensor& x) {
    return again(table(x) + shared) + same(table(x)) * part.sum();
  }
  nn::Embedding table{10, 4};
  Linear again{nn::LinearOptions(4, 10).bias(false)};
  Linear same = again;
  Tensor shared, part;
};
SY_MODULE(Tied);

TEST_F(ExportProgram, TiedWeights) {
  check_exported("tied", Tied(),
                 std::vector<One>{{randint(0, 10, {3}, kLong)},
                                  {randint(0, 10, {5}, kLong)}},
                 batch());
}

class ConstantsImpl : public nn::Module {
 public:
  Tensor forward(const Tensor& x) {
    const Tensor made = tensor({1.0f, 2.0f, 3.0f});
    const Tensor y = x * made + outer;
    Tensor written = tensor({0.0f, 0.0f, 0.0f});
    written.add_(1).mul_(made);
    const Tensor grid = linspace(0, 1, 3) + arange(3, kFloat) + eye(3)[1];
    return y + written + grid + full({3}, 0.25) +
           scalar_tensor(2.0) * (1.0 / x.size(1));
  }
  const Tensor outer = randn({3});
};
SY_MODULE(Constants);

TEST_F(ExportProgram, Constants) {
  check_exported("constants", Constants(), of_batches({3}), batch());
}

class MasksImpl : public nn::Module {
 public:
  std::vector<Tensor> forward(const Tensor& x, const Tensor& limit) {
    const Tensor mask = x.gt(0).logical_and(x.lt(limit));
    const double inf = std::numeric_limits<double>::infinity();
    return {where(mask, x, zeros_like(x)),
            x.masked_fill(mask, -inf).softmax(1),
            x.eq(x).logical_xor(mask),
            where(x.ge(limit), x, -1.0).clamp_min(-2),
            x.isnan().any(),
            mask.sum(1),
            x.argmax(1),
            x.sign().to(kInt),
            x.to(kDouble).floor_divide(0.25),
            x.masked_scatter(mask, x * 2)};
  }
};
SY_MODULE(Masks);

TEST_F(ExportProgram, Masks) {
  std::vector<Two> examples;
  for (const int64_t n : {4, 2})
    examples.emplace_back(randn({n, 5}), rand({5}));
  check_exported("masks", Masks(), examples, batch());
}

class IndexesImpl : public nn::Module {
 public:
  std::vector<Tensor> forward(const Tensor& x, const Tensor& rows) {
    Tensor y = x.clone();
    y.index_put_({rows, 0}, x.index({rows, 1}));
    const Tensor columns = tensor({3, 0, 1}, kLong);
    const auto [values, places] = x.topk(2, 1);
    return {x.index({rows}),
            x.index({Ellipsis, columns}),
            y,
            x.index({Slice(1, None, 2), None, rows.remainder(4)}),
            x.gather(1, rows.remainder(4).unsqueeze(1)),
            x.index_select(1, columns),
            x.index_add(0, rows, x * 2),
            x.scatter_add(1, rows.remainder(4).unsqueeze(1), x),
            values,
            places,
            std::get<0>(x.sort(0)),
            x.flip({1}).roll(1, 0),
            one_hot(rows, 8)};
  }
};
SY_MODULE(Indexes);

TEST_F(ExportProgram, Indexes) {
  std::vector<Two> examples;
  for (const int64_t n : {6, 5, 9}) {
    examples.emplace_back(randn({n, 4}), randint(0, 5, {n}, kLong));
  }
  ExportOptions options;
  options.dynamic(0, 0, "rows", 5, 100).dynamic(1, 0, "rows");
  check_exported("indexes", Indexes(), examples, options);
}

class PiecesImpl : public nn::Module {
 public:
  std::vector<Tensor> forward(const Tensor& x) {
    const std::vector<Tensor> halves = x.chunk(2, 1);
    const std::vector<Tensor> parts = x.split_with_sizes({1, 3, 2}, 1);
    const std::vector<Tensor> rows = x.unbind(1);
    return {cat({halves[1], x.slice(1, 1, 3)}, 1),
            stack({rows[0], rows[5]}),
            parts[1] * parts[0],
            x.index({Slice(), Slice(None, None, 2)}),
            hstack({x, x}),
            x.repeat({2, 1}),
            x.tile({1, 2}),
            cat({x.cumsum(0), parts[2]}, 1),
            x.split(4, 1)[1]};
  }
};
SY_MODULE(Pieces);

TEST_F(ExportProgram, Pieces) {
  check_exported("pieces", Pieces(), of_batches({6}), batch());
}

class BlockImpl : public nn::Module {
 public:
  explicit BlockImpl(int64_t size) : fc(size, size), norm(IntList{size}) {
    register_module("fc", fc);
    register_module("norm", norm);
    gain = register_parameter("gain", ones({1}));
  }
  using IntList = std::vector<int64_t>;
  Tensor forward(const Tensor& x) { return x + gain * norm(fc(x).tanh()); }
  Linear fc;
  nn::LayerNorm norm;
  Tensor gain;
};
SY_MODULE(Block);

class ModelImpl : public nn::Module {
 public:
  ModelImpl() {
    register_module("blocks", blocks);
    register_module("head", head);
    for (int i = 0; i < 3; ++i) blocks->push_back(Block(4));
  }
  std::tuple<Tensor, int64_t> forward(Tensor x) {
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    return {head(x), int64_t(blocks->size())};
  }
  nn::ModuleList blocks;
  Block head{4};
};
SY_MODULE(Model);

TEST_F(ExportProgram, ModulesOfModules) {
  check_exported("modules", Model(), of_batches({4}), batch());
}

class TypesImpl : public nn::Module {
 public:
  TypesImpl() {
    fc->to(kDouble);
    register_module("fc", fc);
    fc->weight.requires_grad_(false);
    small = register_buffer("small", randn({3}).to(kBFloat16));
    flags = register_buffer("flags", tensor({1, 0, 1}, kBool));
  }
  std::vector<Tensor> forward(const Tensor& x) {
    const Tensor y = fc(x);
    return {y,
            y.to(kFloat) * small,
            y.to(kHalf),
            flags.logical_not().to(kByte) + x.gt(0),
            (x * 100).to(kShort).bitwise_and(255),
            x.round().to(kChar).to(kLong).add(1, 2)};
  }
  Linear fc{3, 3};
  Tensor small, flags;
};
SY_MODULE(Types);

TEST_F(ExportProgram, DtypesAndFrozenParameters) {
  std::vector<One> examples;
  for (const int64_t n : {4, 2}) examples.emplace_back(randn({n, 3}, kDouble));
  check_exported("dtypes", Types(), examples, batch());
}

TEST_F(ExportProgram, OfSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      nn::Sequential net(Linear(4, 5 + i), nn::ReLU(), Linear(5 + i, 2));
      const Tensor x = randn({3, 4});
      const std::string path = exported_path(str("thread_{}", i));
      export_program(net, {x}, path, batch());
      EXPECT_TRUE(allclose(load_program(path)(x).to_tensor(), net(x)));
      std::filesystem::remove(path);
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(ExportProgram, ALossThatTrains) {
  nn::BCEWithLogitsLoss loss;
  check_exported("loss", loss,
                 std::vector<Two>{{randn({4, 3}), rand({4, 3})},
                                  {randn({6, 3}), rand({6, 3})}},
                 batch(2));
}

// Each of the four values but the first lies where the one before it did.
TEST_F(ExportProgram, ValuesThatEndLendTheirMemory) {
  nn::Sequential net(nn::Linear(8, 64), nn::ReLU(), nn::Sigmoid(), nn::Tanh());
  const std::string path = ::testing::TempDir() + "lent.pt2";
  export_program(net, {rand({4, 8})}, path);
  const Program program = load_program(path);
  const Tensor x = rand({4, 8});
  const auto allocations = [&](bool gradients) {
    const AutoGradMode mode(gradients);
    program->tensors({x});
    const int64_t before = memory_stats().allocations;
    program->tensors({x});
    return memory_stats().allocations - before;
  };
  EXPECT_EQ(allocations(true), allocations(false) + 3);
}

}  // namespace
}  // namespace sy::test
