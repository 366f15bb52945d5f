#include "frontend/nn/modules/transformer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "sy/sy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::test {
namespace {

using Tensors = std::vector<Tensor>;
using LayerOptions = nn::TransformerEncoderLayerOptions;

LayerOptions plain() {
  return LayerOptions(4, 2).dim_feedforward(3).dropout(0);
}
LayerOptions other() {
  return LayerOptions(4, 2)
      .dim_feedforward(3)
      .dropout(0.9)
      .layer_norm_eps(0.1)
      .batch_first(true)
      .norm_first(true);
}
Tensor tanh_of(const Tensor& x) { return sy::tanh(x); }
Tensor keys_out() {
  return tensor({{false, false, true}, {false, false, false}});
}
Tensor causal() {
  return nn::TransformerImpl::generate_square_subsequent_mask(3);
}

template <class Holder, class Options>
NnCase encoder(Options options, bool masks) {
  return {[options] { return Holder(options).ptr(); },
          [masks](nn::Module* m, const Tensors& in) {
            auto& e = *m->as<Holder>();
            return Tensors{masks ? e.forward(in[0], causal(), keys_out())
                                 : e.forward(in[0])};
          }};
}
// Masks: the third input is memory_mask.
template <class Holder, class Options>
NnCase decoder(Options options) {
  return {[options] { return Holder(options).ptr(); },
          [](nn::Module* m, const Tensors& in) {
            auto& d = *m->as<Holder>();
            return Tensors{in.size() == 2
                               ? d.forward(in[0], in[1])
                               : d.forward(in[0], in[1], {}, in[2], keys_out(),
                                           keys_out(), true)};
          }};
}

TEST(Transformer, MatchesPyTorch) {
  NnCases cases;
  cases["EncoderLayer"] = encoder<nn::TransformerEncoderLayer>(plain(), true);
  cases["EncoderLayer_options_eval"] =
      encoder<nn::TransformerEncoderLayer>(other().activation(kGELU), false);
  cases["EncoderLayer_no_bias"] = encoder<nn::TransformerEncoderLayer>(
      plain().bias(false).activation(tanh_of), false);
  cases["DecoderLayer"] = decoder<nn::TransformerDecoderLayer>(plain());
  cases["DecoderLayer_options_eval"] = decoder<nn::TransformerDecoderLayer>(
      other().activation(kGELU).bias(false));
  cases["Encoder"] = encoder<nn::TransformerEncoder>(
      nn::TransformerEncoderOptions(plain().bias(false), 1)
          .norm(nn::AnyModule(nn::LayerNorm(std::vector<int64_t>{4}))),
      true);
  cases["Decoder"] = decoder<nn::TransformerDecoder>(
      nn::TransformerDecoderOptions(plain().bias(false), 1));
  cases["Transformer"] = {
      [] {
        return nn::Transformer(nn::TransformerOptions(4, 2, 1, 1)
                                   .dim_feedforward(3)
                                   .dropout(0)
                                   .activation(kGELU))
            .ptr();
      },
      [](nn::Module* m, const Tensors& in) {
        return Tensors{m->as<nn::Transformer>()->forward(
            in[0], in[1], causal(), {}, in[2], keys_out(), keys_out(),
            keys_out(), false, /*tgt_is_causal=*/true)};
      }};
  cases["Transformer_options_eval"] = {
      [] {
        return nn::Transformer(nn::TransformerOptions(4, 2, 1, 1)
                                   .dim_feedforward(3)
                                   .dropout(0.9)
                                   .activation(tanh_of)
                                   .layer_norm_eps(0.1)
                                   .batch_first(true)
                                   .norm_first(true)
                                   .bias(false))
            .ptr();
      },
      [](nn::Module* m, const Tensors& in) {
        return Tensors{m->as<nn::Transformer>()->forward(in[0], in[1])};
      }};
  cases["generate_square_subsequent_mask"] =
      function_case([](const Tensors&) { return causal(); });
  check_recorded("transformer.safetensors", cases);
}

TEST(Transformer, DefaultsArePyTorchs) {
  const nn::TransformerOptions o;
  EXPECT_EQ(o.d_model(), 512);
  EXPECT_EQ(o.nhead(), 8);
  EXPECT_EQ(o.num_encoder_layers(), 6);
  EXPECT_EQ(o.num_decoder_layers(), 6);
  EXPECT_EQ(o.dim_feedforward(), 2048);
  EXPECT_EQ(o.dropout(), 0.1);
  EXPECT_EQ(o.activation().index(), 0u);
  EXPECT_EQ(LayerOptions(4, 2).dim_feedforward(), 2048);
  EXPECT_EQ(LayerOptions(4, 2).dropout(), 0.1);
  const nn::TransformerDecoderOptions two(LayerOptions(4, 2), 2);
  EXPECT_TRUE(two.norm().is_empty());
}

TEST(Transformer, CausalFlagsAreCausalMasks) {
  nn::Transformer m(nn::TransformerOptions(4, 2, 1, 2).dropout(0));
  const Tensor x = randn({3, 2, 4}), y = randn({3, 2, 4}), none;
  const Tensor wanted = m(x, y, causal(), causal(), causal());
  EXPECT_TRUE(
      allclose(m(x, y, none, none, none, none, none, none, true, true, true),
               wanted, 1e-4, 1e-5));
  EXPECT_FALSE(
      allclose(m(x, y, none, none, none, none, none, none, false, true, true),
               wanted, 1e-4, 1e-5));
  EXPECT_FALSE(
      allclose(m(x, y, none, none, none, none, none, none, true, false, true),
               wanted, 1e-4, 1e-5));
  EXPECT_FALSE(
      allclose(m(x, y, none, none, none, none, none, none, true, true, false),
               wanted, 1e-4, 1e-5));
}

TEST(Transformer, IsTheEncoderThenTheDecoder) {
  nn::Transformer m(nn::TransformerOptions(4, 2, 1, 1).dropout(0));
  const Tensor x = randn({3, 2, 4}), y = randn({3, 2, 4});
  std::vector<Tensor> masks;
  for (const int64_t rows : {3, 3, 3, 2, 2, 2}) {
    masks.push_back(randn({rows, 3}));
  }
  const Tensor memory = m->encoder.forward(x, masks[0], masks[3]);
  const Tensor wanted =
      m->decoder.forward(y, memory, masks[1], masks[2], masks[4], masks[5]);
  const auto run = [&] {
    return m(x, y, masks[0], masks[1], masks[2], masks[3], masks[4], masks[5]);
  };
  EXPECT_TRUE(equal(run(), wanted));
  for (Tensor& mask : masks) {
    const Tensor before = mask;
    mask = randn(mask.sizes());
    EXPECT_FALSE(allclose(run(), wanted));
    mask = before;
  }
}

// Each dropout alone changes the result with p = 1, and none does in eval mode.
TEST(Transformer, DropoutsActWhileTraining) {
  const Tensor x = randn({3, 2, 4}), memory = randn({2, 2, 4});
  for (const bool norm_first : {false, true}) {
    const auto options = LayerOptions(4, 2).dropout(0).norm_first(norm_first);
    nn::TransformerDecoderLayer m(options);
    const Tensor decoded = m(x, memory);
    for (const nn::Dropout& d :
         {m->dropout, m->dropout1, m->dropout2, m->dropout3}) {
      d->options.p(1);
      EXPECT_FALSE(allclose(m(x, memory), decoded));
      m->eval();
      EXPECT_TRUE(equal(m(x, memory), decoded));
      m->train();
      d->options.p(0);
    }
    nn::TransformerEncoderLayer e(options);
    const Tensor encoded = e(x);
    for (const nn::Dropout& d : {e->dropout, e->dropout1, e->dropout2}) {
      d->options.p(1);
      EXPECT_FALSE(allclose(e(x), encoded));
      d->options.p(0);
    }
  }
  nn::TransformerDecoderLayer made(LayerOptions(4, 2).dropout(0.3));
  for (const nn::Dropout& d :
       {made->dropout, made->dropout1, made->dropout2, made->dropout3}) {
    EXPECT_EQ(d->options.p(), 0.3);
  }
  EXPECT_EQ(made->self_attn->options.dropout(), 0.3);
  EXPECT_EQ(made->multihead_attn->options.dropout(), 0.3);
}

TEST(Transformer, LayersOfAStackAreCopies) {
  nn::TransformerEncoderLayer layer(plain());
  nn::TransformerEncoder m(layer, 2);
  auto& first = m->layers->at<nn::TransformerEncoderLayerImpl>(0);
  auto& second = m->layers->at<nn::TransformerEncoderLayerImpl>(1);
  EXPECT_TRUE(equal(first.linear1->weight, layer->linear1->weight));
  EXPECT_TRUE(equal(second.linear1->weight, layer->linear1->weight));
  EXPECT_FALSE(first.linear1->weight.is_same(layer->linear1->weight));
  EXPECT_FALSE(first.linear1->weight.is_same(second.linear1->weight));
  m->reset_parameters();
  EXPECT_FALSE(equal(first.linear1->weight, second.linear1->weight));
  EXPECT_FALSE(
      equal(first.self_attn->in_proj_weight, second.self_attn->in_proj_weight));
  const Tensor x = randn({3, 2, 4});
  EXPECT_TRUE(equal(m(x), second.forward(first.forward(x))));
}

TEST(Transformer, HasAsManyLayersAsAsked) {
  nn::Transformer m(nn::TransformerOptions(4, 2, 3, 2).dim_feedforward(3));
  const auto count = [&](const char* path) {
    return m->get_submodule(path)->children().size();
  };
  EXPECT_EQ(count("encoder.layers"), 3u);
  EXPECT_EQ(count("decoder.layers"), 2u);
}

TEST(Transformer, WeightsStartByGlorot) {
  nn::Transformer m(nn::TransformerOptions(16, 2, 1, 1).dim_feedforward(32));
  // Within sqrt(6 / (16 + 32)); Linear's own bound is 0.25.
  const float most = m->get_parameter("encoder.layers.0.linear1.weight")
                         .abs()
                         .max()
                         .item<float>();
  EXPECT_LE(most, 0.3536f);
  EXPECT_GT(most, 0.3f);
}

TEST(Transformer, CloneAndResetKeepTheShape) {
  nn::Transformer m(nn::TransformerOptions(4, 2, 1, 1)
                        .dim_feedforward(3)
                        .dropout(0)
                        .activation(tanh_of));
  const Tensor x = randn({3, 2, 4}), y = randn({2, 2, 4});
  const auto copy = std::static_pointer_cast<nn::TransformerImpl>(m->clone());
  const Tensor before = m(x, y);
  EXPECT_TRUE(equal(copy->forward(x, y), before));
  const size_t count = m->parameters().size();
  m->reset();
  EXPECT_EQ(m->parameters().size(), count);
  EXPECT_FALSE(allclose(m(x, y), before));
  EXPECT_TRUE(equal(copy->forward(x, y), before));
  EXPECT_NO_THROW(m->load_state_dict(copy->state_dict()));
  EXPECT_TRUE(equal(m(x, y), before));
}

struct Twice : nn::Module {
  Tensor forward(const Tensor& src, const Tensor& mask, const Tensor&) {
    return mask.defined() ? src : src * 2;
  }
};

TEST(Transformer, TakesOtherCoders) {
  const auto twice = std::make_shared<Twice>();
  nn::Transformer m(nn::TransformerOptions(4, 2, 1, 1)
                        .dropout(0)
                        .custom_encoder(nn::AnyModule(twice)));
  const Tensor x = randn({3, 2, 4}), y = randn({2, 2, 4}), none;
  EXPECT_EQ(m->get_submodule("encoder"), twice);
  EXPECT_TRUE(equal(m(x, y), m(x * 2, y, causal())));
  SY_EXPECT_ERROR(
      m(x, y, none, none, none, none, none, none, /*src_is_causal=*/true),
      TypeError, "Twice: expected 3 arguments");
}

TEST(Transformer, Prints) {
  std::ostringstream stream;
  stream << nn::TransformerEncoder(
      nn::TransformerEncoderOptions(plain().bias(false), 1));
  EXPECT_EQ(stream.str(), R"(TransformerEncoder(
  (layers): ModuleList(
    (0): TransformerEncoderLayer(
      (self_attn): MultiheadAttention(
        (out_proj): Linear(in_features=4, out_features=4, bias=False)
      )
      (linear1): Linear(in_features=4, out_features=3, bias=False)
      (dropout): Dropout(p=0.0, inplace=False)
      (linear2): Linear(in_features=3, out_features=4, bias=False)
      (norm1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=False)
      (norm2): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=False)
      (dropout1): Dropout(p=0.0, inplace=False)
      (dropout2): Dropout(p=0.0, inplace=False)
    )
  )
))");
}

TEST(Transformer, BadArgumentsAreNamed) {
  SY_EXPECT_ERROR(nn::TransformerEncoderLayer(4, 3), ValueError,
                  "[MultiheadAttention] num_heads: expected a divisor of "
                  "embed_dim, 4, got 3");
  SY_EXPECT_ERROR(
      nn::TransformerDecoderLayer(LayerOptions(4, 2).dim_feedforward(0)),
      ValueError, "dim_feedforward: expected at least 1, got 0");
  SY_EXPECT_ERROR(nn::TransformerEncoderLayer(LayerOptions(4, 2).activation(
                      std::function<Tensor(const Tensor&)>())),
                  ValueError, "activation: expected a function, got an empty");
  SY_EXPECT_ERROR(
      nn::TransformerEncoder(nn::TransformerEncoderOptions(plain(), 0)),
      ValueError,
      "[TransformerEncoder] num_layers: expected at least 1, got "
      "0");
  SY_EXPECT_ERROR(
      nn::TransformerDecoder(nn::TransformerDecoderLayer(nullptr), 1),
      ValueError,
      "[TransformerDecoder] decoder_layer: expected a layer, got an empty "
      "holder");
  nn::Transformer m(nn::TransformerOptions(4, 2, 1, 1).dim_feedforward(3));
  SY_EXPECT_ERROR(m(randn({3, 2, 5}), randn({3, 2, 4})), ValueError,
                  "[Transformer] src: expected 3 dims, or 2 without a batch, "
                  "the last of 4 (d_model), got");
  SY_EXPECT_ERROR(m(randn({3, 2, 4}), randn({4})), ValueError,
                  "[Transformer] tgt: expected 3 dims");
  SY_EXPECT_ERROR(m(randn({3, 2, 4}), randn({3, 1, 4})), ValueError,
                  "[Transformer] tgt: expected the batch of src, [3, 2, 4], "
                  "got");
  SY_EXPECT_ERROR(nn::TransformerImpl::generate_square_subsequent_mask(-1),
                  ValueError, "sz: expected at least 0, got -1");
}

}  // namespace
}  // namespace sy::test
