#include "frontend/nn/modules/attention.h"

#include <gtest/gtest.h>

#include <sstream>

#include "frontend/nn/functional/attention.h"
#include "sy/sy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::test {
namespace {

namespace F = nn::functional;
using nn::MultiheadAttention;
using nn::MultiheadAttentionOptions;
using Tensors = std::vector<Tensor>;

NnCase attention(const MultiheadAttentionOptions& options,
                 std::function<std::tuple<Tensor, Tensor>(
                     nn::MultiheadAttentionImpl&, const Tensors&)>
                     run) {
  return {
      [options] { return MultiheadAttention(options).ptr(); },
      [run](nn::Module* m, const Tensors& in) {
        const auto [output, weights] = run(*m->as<MultiheadAttention>(), in);
        return weights.defined() ? Tensors{output, weights} : Tensors{output};
      }};
}

MultiheadAttentionOptions heads(int64_t count = 2) { return {4, count}; }

Tensor keys_out() {
  return tensor({{false, false, true}, {false, false, false}});
}
Tensor causal() { return ones({3, 3}, kBool).triu(1); }

TEST(Attention, MatchesPyTorch) {
  using M = nn::MultiheadAttentionImpl;
  NnCases cases;
  cases["self"] = attention(heads(), [](M& m, const Tensors& in) {
    return m.forward(in[0], in[0], in[0]);
  });
  cases["self_fast_eval"] = attention(
      heads().dropout(0.9).batch_first(true), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[0], in[0], {}, false);
      });
  cases["causal"] = attention(heads(), [](M& m, const Tensors& in) {
    return m.forward(in[0], in[0], in[0], {}, false, {}, true, true);
  });
  cases["causal_weights"] = attention(heads(1), [](M& m, const Tensors& in) {
    return m.forward(in[0], in[0], in[0], {}, true, {}, true, true);
  });
  cases["causal_padded"] =
      attention(heads().bias(false), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[0], in[0], keys_out(), false, {}, true,
                         true);
      });
  cases["causal_bias_kv"] =
      attention(heads().add_bias_kv(true), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[0], in[0], {}, false, {}, true, true);
      });
  cases["shared"] = attention(heads().bias(false), [](M& m, const Tensors& in) {
    return m.forward(in[0], in[1], in[1], {}, false, in[2]);
  });
  cases["apart"] = attention(heads().bias(false), [](M& m, const Tensors& in) {
    return m.forward(in[0], in[1], in[2], in[3], true, {}, false);
  });
  cases["sizes"] = attention(heads().kdim(3).vdim(2).batch_first(true),
                             [](M& m, const Tensors& in) {
                               return m.forward(in[0], in[1], in[2], {}, false);
                             });
  cases["sizes_no_bias"] =
      attention(heads().kdim(3).bias(false), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[1], in[2], in[3]);
      });
  cases["added"] =
      attention(heads().add_bias_kv(true).add_zero_attn(true),
                [](M& m, const Tensors& in) {
                  return m.forward(in[0], in[1], in[1], in[2], true, in[3]);
                });
  cases["added_batch_first"] = attention(
      heads().add_bias_kv(true).batch_first(true), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[1], in[1], {}, false);
      });
  cases["zero"] = attention(
      heads().add_zero_attn(true).bias(false), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[1], in[1], {}, false, in[2]);
      });
  cases["floating_masks"] =
      attention(heads().bias(false), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[1], in[1], in[2], true, in[3]);
      });
  cases["mixed_masks"] =
      attention(heads().bias(false), [](M& m, const Tensors& in) {
        return m.forward(in[0], in[1], in[1], in[2], false, in[3]);
      });
  cases["static"] = {
      nullptr, [](nn::Module*, const Tensors& in) {
        const auto [output, weights] = F::multi_head_attention_forward(
            in[0], in[1], in[1],
            F::MultiheadAttentionForwardFuncOptions(4, 2, in[2], in[3], {}, {},
                                                    false, 0.9, in[4], in[5])
                .training(false)
                .static_k(in[6])
                .static_v(in[7]));
        return Tensors{output, weights};
      }};
  check_recorded("attention.safetensors", cases);
}

TEST(Attention, DropoutIsOfWeightsWhileTraining) {
  MultiheadAttention m(MultiheadAttentionOptions(4, 2).dropout(0.5));
  const Tensor x = randn({6, 3, 4});
  manual_seed(3);
  const auto [output, weights] = m(x, x, x, Tensor(), true, Tensor(), false);
  EXPECT_GT((weights == 0).sum().item<int64_t>(), 0);
  EXPECT_GT((weights != 0).sum().item<int64_t>(), 0);
  manual_seed(3);
  EXPECT_TRUE(equal(std::get<0>(m(x, x, x)), output));
  m->eval();
  const auto [all, kept] = m(x, x, x, Tensor(), true, Tensor(), false);
  EXPECT_EQ((kept == 0).sum().item<int64_t>(), 0);
  // Weights that are left are twice as large.
  EXPECT_TRUE(allclose(weights, where(weights != 0, kept * 2, weights)));
  EXPECT_TRUE(
      allclose(std::get<0>(m(x, x, x, Tensor(), false)), all, 1e-5, 1e-6));
}

TEST(Attention, QueriesThatMeetNothingGiveTheBias) {
  MultiheadAttention m(4, 2);
  const Tensor x = randn({2, 1, 4}), all_out = ones({2, 2}, kBool);
  for (const bool need_weights : {false, true}) {
    const Tensor output =
        std::get<0>(m(x, x, x, Tensor(), need_weights, all_out));
    EXPECT_TRUE(equal(output[0][0], m->out_proj->bias));
  }
}

TEST(Attention, CausalMeetsOtherMasks) {
  MultiheadAttention m(heads().add_zero_attn(true));
  const Tensor x = randn({3, 2, 4}), none;
  const Tensor other = tensor(
      {{false, false, false}, {true, false, false}, {false, true, false}});
  for (const bool need_weights : {false, true}) {
    EXPECT_TRUE(allclose(
        std::get<0>(m(x, x, x, none, need_weights, other, true, true)),
        std::get<0>(m(x, x, x, none, need_weights, other.logical_or(causal()))),
        1e-5, 1e-6));
  }
}

TEST(Attention, HasPythonsParametersAndFirstValues) {
  const auto names = [](const MultiheadAttention& m) {
    std::string all;
    for (const auto& [name, t] : m->named_parameters()) all += name + " ";
    return all;
  };
  MultiheadAttention m(MultiheadAttentionOptions(8, 2).add_bias_kv(true));
  EXPECT_EQ(names(m),
            "in_proj_weight in_proj_bias bias_k bias_v out_proj.weight "
            "out_proj.bias ");
  EXPECT_EQ(names(MultiheadAttention(MultiheadAttentionOptions(8, 2).kdim(3))),
            "q_proj_weight k_proj_weight v_proj_weight in_proj_bias "
            "out_proj.weight out_proj.bias ");
  EXPECT_EQ(
      names(MultiheadAttention(MultiheadAttentionOptions(8, 2).bias(false))),
      "in_proj_weight out_proj.weight ");
  EXPECT_EQ(m->in_proj_bias.abs().max().item<float>(), 0);
  EXPECT_EQ(m->out_proj->bias.abs().max().item<float>(), 0);
  // Glorot: within sqrt(6 / (24 + 8)).
  EXPECT_LE(m->in_proj_weight.abs().max().item<float>(), 0.4331f);
  EXPECT_GT(m->in_proj_weight.abs().max().item<float>(), 0.36f);
  EXPECT_GT(m->bias_k.abs().max().item<float>(), 0);
  EXPECT_EQ(m->head_dim, 4);
}

TEST(Attention, ClonesAndResets) {
  MultiheadAttention m(MultiheadAttentionOptions(4, 2).add_bias_kv(true));
  const auto copy =
      std::static_pointer_cast<nn::MultiheadAttentionImpl>(m->clone());
  const Tensor x = randn({3, 1, 4});
  const Tensor before = std::get<0>(m(x, x, x));
  EXPECT_TRUE(equal(std::get<0>(copy->forward(x, x, x)), before));
  m->reset();
  EXPECT_EQ(m->parameters().size(), 6u);
  EXPECT_FALSE(equal(std::get<0>(m(x, x, x)), before));
  EXPECT_TRUE(equal(std::get<0>(copy->forward(x, x, x)), before));
  std::ostringstream stream;
  stream << m;
  EXPECT_EQ(stream.str(),
            "MultiheadAttention(\n  (out_proj): Linear(in_features=4, "
            "out_features=4, bias=True)\n)");
}

TEST(Attention, BadOptionsAreNamed) {
  SY_EXPECT_ERROR(MultiheadAttention(4, 3), ValueError,
                  "[MultiheadAttention] num_heads: expected a divisor of "
                  "embed_dim, 4, got 3");
  SY_EXPECT_ERROR(MultiheadAttention(0, 1), ValueError,
                  "[MultiheadAttention] embed_dim: expected at least 1, got 0");
  SY_EXPECT_ERROR(MultiheadAttention(4, 0), ValueError,
                  "[MultiheadAttention] num_heads: expected at least 1, got 0");
  SY_EXPECT_ERROR(MultiheadAttention(heads().vdim(0)), ValueError,
                  "[MultiheadAttention] vdim: expected at least 1, got 0");
  SY_EXPECT_ERROR(MultiheadAttention(heads().dropout(-0.5)), ValueError,
                  "[MultiheadAttention] dropout: expected a probability, got "
                  "-0.5");
}

TEST(Attention, BadInputsAreNamed) {
  MultiheadAttention m(4, 2);
  const Tensor q = randn({2, 3, 4}), k = randn({5, 3, 4}), none;
  SY_EXPECT_ERROR(m(q[0][0], k, k), ValueError,
                  "query: expected 3 dims, or 2 without a batch, got");
  SY_EXPECT_ERROR(m(randn({2, 3, 6}), k, k), ValueError,
                  "query: expected 4 features (embed_dim), got");
  SY_EXPECT_ERROR(m(q, randn({5, 2, 4}), k), ValueError,
                  "key: expected the dims and batch of query, [2, 3, 4], got");
  SY_EXPECT_ERROR(m(q, k, q), ValueError,
                  "value: expected the batch and length of key, [5, 3, 4], "
                  "got");
  SY_EXPECT_ERROR(m(q, k, k, ones({5, 3}, kBool)), ValueError,
                  "key_padding_mask: expected sizes [3, 5], got");
  SY_EXPECT_ERROR(m(q, k, k, none, true, ones({5, 2}, kBool)), ValueError,
                  "attn_mask: expected sizes [2, 5], got");
  SY_EXPECT_ERROR(m(q, k, k, none, true, ones({3, 2, 5}, kBool)), ValueError,
                  "attn_mask: expected sizes [6, 2, 5], got");
  SY_EXPECT_ERROR(m(q, k, k, ones({3, 5}, kInt)), TypeError,
                  "key_padding_mask: expected bool or a floating dtype, got");
  F::MultiheadAttentionForwardFuncOptions o(4, 2, randn({12, 4}), {},
                                            randn({1, 1, 4}), {}, false, 0,
                                            randn({4, 4}), {});
  SY_EXPECT_ERROR(F::multi_head_attention_forward(q, k, k, o), ValueError,
                  "bias_v: expected one where there is a bias_k");
  o.bias_v(randn({1, 1, 4})).static_k(randn({6, 5, 2}));
  SY_EXPECT_ERROR(F::multi_head_attention_forward(q, k, k, o), ValueError,
                  "static_k, static_v: expected none where there is a bias_k");
  o.bias_k({}).bias_v({}).static_k(randn({3, 5, 2}));
  SY_EXPECT_ERROR(F::multi_head_attention_forward(q, k, k, o), ValueError,
                  "static_k: expected sizes [6, 5, 2], got");
  o.in_proj_weight(randn({8, 4}));
  SY_EXPECT_ERROR(F::multi_head_attention_forward(q, k, k, o), ValueError,
                  "in_proj_weight: expected sizes [12, 4], got");
  o.num_heads(3);
  SY_EXPECT_ERROR(F::multi_head_attention_forward(q, k, k, o), ValueError,
                  "num_heads: expected a divisor of embed_dim, 4, got 3");
}

}  // namespace
}  // namespace sy::test
