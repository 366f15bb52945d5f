#include "frontend/nn/modules/rnn.h"

#include <gtest/gtest.h>

#include <sstream>

#include "frontend/nn/container/any_module.h"
#include "sy/sy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::test {
namespace {

namespace rnn = nn::utils::rnn;
using Tensors = std::vector<Tensor>;
using States = std::tuple<Tensor, Tensor>;

void add(Tensors& all, const Tensor& t) { all.push_back(t); }
void add(Tensors& all, const States& s) {
  all.push_back(std::get<0>(s));
  all.push_back(std::get<1>(s));
}
template <class State>
Tensors flat(const std::tuple<Tensor, State>& results) {
  Tensors all{std::get<0>(results)};
  add(all, std::get<1>(results));
  return all;
}

// Calls f with the states among `in`, which begin at `first`.
template <class Holder, class F>
auto with_states(const Tensors& in, size_t first, F f) {
  if constexpr (std::is_same_v<Holder, nn::LSTM> ||
                std::is_same_v<Holder, nn::LSTMCell>) {
    return in.size() > first ? f(States(in[first], in[first + 1]))
                             : f(std::nullopt);
  } else {
    return f(in.size() > first ? in[first] : Tensor());
  }
}

template <class Holder>
NnCase network(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](nn::Module* m, const Tensors& in) {
            return flat(with_states<Holder>(in, 1, [&](const auto& states) {
              return m->as<Holder>()->forward(in[0], states);
            }));
          }};
}

template <class Holder>
NnCase packed(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](nn::Module* m, const Tensors& in) {
            const auto sequence =
                rnn::pack_padded_sequence(in[0], in[1], false, false);
            return with_states<Holder>(in, 2, [&](const auto& states) {
              const auto [output, last] =
                  m->as<Holder>()->forward_with_packed_input(sequence, states);
              const auto [padded, lengths] = rnn::pad_packed_sequence(output);
              Tensors all{padded, lengths};
              add(all, last);
              return all;
            });
          }};
}

template <class Holder>
NnCase cell(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](nn::Module* m, const Tensors& in) {
            Tensors all;
            add(all, with_states<Holder>(in, 1, [&](const auto& states) {
                  return m->as<Holder>()->forward(in[0], states);
                }));
            return all;
          }};
}

template <class Holder, class Options>
void add_networks(const std::string& name, NnCases& cases) {
  cases[name] = network<Holder>([] { return Holder(3, 2); });
  cases[name + "_batch_first"] = network<Holder>([] {
    return Holder(
        Options(3, 2).batch_first(true).bidirectional(true).bias(false));
  });
}
template <class Holder, class Options>
void add_vectors(const std::string& name, NnCases& cases) {
  cases[name + "_vectors"] = network<Holder>(
      [] { return Holder(Options(3, 2).num_layers(2).bias(false)); });
  cases[name + "_vectors_state"] = network<Holder>(
      [] { return Holder(Options(3, 2).batch_first(true).bias(false)); });
}

template <class Holder, class Options>
void add_cells(const std::string& name, NnCases& cases) {
  cases[name] = cell<Holder>([] { return Holder(3, 2); });
  cases[name + "_state"] =
      cell<Holder>([] { return Holder(Options(3, 2).bias(false)); });
  cases[name + "_vector_state"] = cell<Holder>([] { return Holder(3, 2); });
}

NnCase function(std::function<Tensors(const Tensors&)> f) {
  return {nullptr, [f](nn::Module*, const Tensors& in) { return f(in); }};
}

Tensors parts(const rnn::PackedSequence& p) {
  Tensors all{p.data(), p.batch_sizes()};
  if (p.sorted_indices().defined()) {
    all.push_back(p.sorted_indices());
    all.push_back(p.unsorted_indices());
  }
  return all;
}

TEST(Rnn, MatchesPyTorch) {
  NnCases cases;
  add_networks<nn::RNN, nn::RNNOptions>("RNN", cases);
  add_networks<nn::GRU, nn::GRUOptions>("GRU", cases);
  add_networks<nn::LSTM, nn::LSTMOptions>("LSTM", cases);
  add_vectors<nn::GRU, nn::GRUOptions>("GRU", cases);
  add_vectors<nn::LSTM, nn::LSTMOptions>("LSTM", cases);
  add_cells<nn::RNNCell, nn::RNNCellOptions>("RNNCell", cases);
  add_cells<nn::GRUCell, nn::GRUCellOptions>("GRUCell", cases);
  add_cells<nn::LSTMCell, nn::LSTMCellOptions>("LSTMCell", cases);
  cases["RNN_packed"] = packed<nn::RNN>([] { return nn::RNN(3, 2); });
  cases["GRU_packed"] = packed<nn::GRU>([] { return nn::GRU(3, 2); });
  cases["LSTM_packed"] = packed<nn::LSTM>([] {
    return nn::LSTM(nn::LSTMOptions(3, 2).bidirectional(true).bias(false));
  });
  cases["RNN_relu"] = network<nn::RNN>(
      [] { return nn::RNN(nn::RNNOptions(3, 2).nonlinearity(kReLU)); });
  cases["RNN_relu_packed"] = packed<nn::RNN>([] {
    return nn::RNN(nn::RNNOptions(3, 2).nonlinearity(kReLU).bias(false));
  });
  cases["RNNCell_relu"] = cell<nn::RNNCell>(
      [] { return nn::RNNCell(nn::RNNCellOptions(3, 2).nonlinearity(kReLU)); });
  cases["LSTM_dropout_eval"] = network<nn::LSTM>([] {
    return nn::LSTM(
        nn::LSTMOptions(3, 2).num_layers(2).dropout(0.9).bias(false));
  });
  cases["LSTM_proj"] = network<nn::LSTM>([] {
    return nn::LSTM(nn::LSTMOptions(3, 4)
                        .proj_size(2)
                        .num_layers(2)
                        .bidirectional(true)
                        .bias(false));
  });
  cases["LSTM_proj_state"] = network<nn::LSTM>(
      [] { return nn::LSTM(nn::LSTMOptions(3, 4).proj_size(2)); });
  cases["LSTM_packed_proj"] = packed<nn::LSTM>(
      [] { return nn::LSTM(nn::LSTMOptions(3, 4).proj_size(2)); });

  cases["pack_padded_sequence"] = function([](const Tensors& in) {
    return parts(rnn::pack_padded_sequence(in[0], in[1]));
  });
  cases["pack_padded_sequence_unsorted"] = function([](const Tensors& in) {
    return parts(rnn::pack_padded_sequence(in[0], in[1], true, false));
  });
  cases["pack_sequence"] = function(
      [](const Tensors& in) { return parts(rnn::pack_sequence(in, false)); });
  cases["pad_packed_sequence"] = function([](const Tensors& in) {
    const auto [padded, lengths] =
        rnn::pad_packed_sequence(rnn::pack_sequence(in, false));
    return Tensors{padded, lengths};
  });
  cases["pad_packed_sequence_options"] = function([](const Tensors& in) {
    const auto [padded, lengths] =
        rnn::pad_packed_sequence(rnn::pack_sequence(in, false), true, -1.5, 5);
    return Tensors{padded, lengths};
  });
  cases["pad_sequence"] = function(
      [](const Tensors& in) { return Tensors{rnn::pad_sequence(in)}; });
  cases["pad_sequence_options"] = function([](const Tensors& in) {
    return Tensors{rnn::pad_sequence(in, true, 2.5, "left")};
  });
  cases["unpack_sequence"] = function([](const Tensors& in) {
    return rnn::unpack_sequence(rnn::pack_sequence(in, false));
  });
  check_recorded("rnn.safetensors", cases);
}

TEST(Rnn, NamesOfParametersAreInPythonsOrder) {
  const nn::LSTM m(
      nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true).proj_size(2));
  std::string names;
  for (const auto& [name, t] : m->named_parameters()) names += name + " ";
  EXPECT_EQ(names,
            "weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0 weight_hr_l0 "
            "weight_ih_l0_reverse weight_hh_l0_reverse bias_ih_l0_reverse "
            "bias_hh_l0_reverse weight_hr_l0_reverse "
            "weight_ih_l1 weight_hh_l1 bias_ih_l1 bias_hh_l1 weight_hr_l1 "
            "weight_ih_l1_reverse weight_hh_l1_reverse bias_ih_l1_reverse "
            "bias_hh_l1_reverse weight_hr_l1_reverse ");
  EXPECT_EQ(m->all_weights().size(), 20u);
}

TEST(Rnn, ParametersStartWithinTheRootOfHiddenSize) {
  for (const std::shared_ptr<nn::Module>& m :
       {nn::GRU(50, 16)->shared_from_this(),
        nn::LSTMCell(50, 16)->shared_from_this()}) {
    for (const Tensor& t : m->parameters()) {
      EXPECT_LE(t.abs().max().item<float>(), 0.25f);
      EXPECT_GT(t.max().item<float>(), 0.15f);
      EXPECT_LT(t.min().item<float>(), -0.15f);
    }
  }
}

TEST(Rnn, DropoutIsBetweenLayersAndWhileTraining) {
  const Tensor x = randn({5, 3, 4}), y = randn({5, 3, 4});
  const auto output = [](nn::GRU& m, const Tensor& in) {
    return std::get<0>(m->forward(in));
  };
  nn::GRU all(nn::GRUOptions(4, 3).num_layers(2).dropout(1));
  EXPECT_TRUE(equal(output(all, x), output(all, y)));
  all->eval();
  EXPECT_FALSE(equal(output(all, x), output(all, y)));
  // None after the last layer.
  nn::GRU one(nn::GRUOptions(4, 3).dropout(1));
  EXPECT_FALSE(equal(output(one, x), output(one, y)));

  nn::GRU half(nn::GRUOptions(4, 3).num_layers(2).dropout(0.5));
  manual_seed(1);
  const Tensor first = output(half, x);
  EXPECT_FALSE(equal(first, output(half, x)));
  manual_seed(1);
  EXPECT_TRUE(equal(first, output(half, x)));
}

TEST(Rnn, DropoutActsOnPackedSequencesToo) {
  nn::LSTM m(nn::LSTMOptions(3, 2).num_layers(2).dropout(1));
  const auto output = [&](const Tensor& data) {
    return std::get<0>(m->forward_with_packed_input(
                           rnn::PackedSequence(data, tensor({2, 1}))))
        .data();
  };
  const Tensor x = randn({3, 3}), y = randn({3, 3});
  EXPECT_TRUE(equal(output(x), output(y)));
  m->eval();
  EXPECT_FALSE(equal(output(x), output(y)));
}

TEST(Rnn, CloneAndLoadedStateAreWhatForwardUses) {
  const Tensor x = randn({4, 2, 3});
  const auto output = [&](const std::shared_ptr<nn::LSTMImpl>& m) {
    return std::get<0>(m->forward(x));
  };
  nn::LSTM m(nn::LSTMOptions(3, 2).num_layers(2)), other(m->options);
  const auto copy = std::static_pointer_cast<nn::LSTMImpl>(m->clone());
  const Tensor before = output(m.ptr());
  EXPECT_TRUE(equal(output(copy), before));
  {
    const NoGradGuard no_grad;
    for (const Tensor& p : copy->parameters()) p.zero_();
  }
  EXPECT_EQ(output(copy).abs().max().item<float>(), 0);
  EXPECT_TRUE(equal(output(m.ptr()), before));
  other->load_state_dict(m->state_dict(), true, /*assign=*/true);
  EXPECT_TRUE(equal(output(other.ptr()), before));
  m->to(kDouble);
  EXPECT_EQ(std::get<0>(m->forward(x.to(kDouble))).scalar_type(), kDouble);
  m->reset();
  EXPECT_FALSE(equal(output(m.ptr()), before));
  EXPECT_EQ(m->parameters().size(), 8u);
  EXPECT_TRUE(m->all_weights()[0].is_same(m->parameters()[0]));
}

TEST(Rnn, CellsCloneTheirParameters) {
  nn::RNNCell m(3, 2);
  const auto copy = std::static_pointer_cast<nn::RNNCellImpl>(m->clone());
  {
    const NoGradGuard no_grad;
    for (const Tensor& p : copy->parameters()) p.zero_();
  }
  const Tensor x = randn({2, 3});
  EXPECT_EQ(copy->forward(x).abs().max().item<float>(), 0);
  EXPECT_GT(m(x).abs().max().item<float>(), 0);
  const Tensor old = m->weight_hh;
  m->reset();
  EXPECT_FALSE(m->weight_hh.is_same(old));
  EXPECT_EQ(m->parameters().size(), 4u);
}

TEST(Rnn, CallsOfHoldersTakeDefaultsAndStates) {
  nn::LSTM lstm(3, 2);
  const auto [output, states] = lstm(randn({4, 1, 3}));
  const auto [next, more] = lstm(randn({4, 1, 3}), states);
  EXPECT_EQ(next.sizes(), (std::vector<int64_t>{4, 1, 2}));
  nn::AnyModule any{nn::GRU(3, 2)};
  EXPECT_EQ(std::get<1>(any.forward<States>(randn({4, 1, 3}))).dim(), 3);
}

TEST(Rnn, PrintsAsPython) {
  const auto text = [](const auto& m) {
    std::ostringstream stream;
    stream << m;
    return stream.str();
  };
  EXPECT_EQ(text(nn::RNN(3, 2)), "RNN(3, 2)");
  EXPECT_EQ(text(nn::GRU(nn::GRUOptions(3, 2)
                             .num_layers(2)
                             .bias(false)
                             .batch_first(true)
                             .dropout(0.5)
                             .bidirectional(true))),
            "GRU(3, 2, num_layers=2, bias=False, batch_first=True, "
            "dropout=0.5, bidirectional=True)");
  EXPECT_EQ(text(nn::LSTM(nn::LSTMOptions(3, 4).proj_size(2))),
            "LSTM(3, 4, proj_size=2)");
  EXPECT_EQ(text(nn::LSTMCell(nn::LSTMCellOptions(3, 2).bias(false))),
            "LSTMCell(3, 2, bias=False)");
  EXPECT_EQ(text(nn::RNNCell(nn::RNNCellOptions(3, 2).nonlinearity(kReLU))),
            "RNNCell(3, 2, nonlinearity=relu)");
}

TEST(Rnn, BadOptionsAreNamed) {
  SY_EXPECT_ERROR(nn::RNN(0, 2), ValueError,
                  "[RNN] input_size: expected at least 1, got 0");
  SY_EXPECT_ERROR(nn::GRU(3, -1), ValueError,
                  "[GRU] hidden_size: expected at least 1, got -1");
  SY_EXPECT_ERROR(nn::LSTM(nn::LSTMOptions(3, 2).num_layers(0)), ValueError,
                  "[LSTM] num_layers: expected at least 1, got 0");
  SY_EXPECT_ERROR(nn::LSTM(nn::LSTMOptions(3, 2).dropout(1.5)), ValueError,
                  "[LSTM] dropout: expected a probability, got 1.5");
  SY_EXPECT_ERROR(nn::LSTM(nn::LSTMOptions(3, 2).proj_size(2)), ValueError,
                  "[LSTM] proj_size: expected 0 or a size below hidden_size, "
                  "2, got 2");
  SY_EXPECT_ERROR(nn::GRUCell(3, 0), ValueError,
                  "[GRUCell] hidden_size: expected at least 1, got 0");
  SY_EXPECT_ERROR(nn::LSTMCell(-3, 1), ValueError,
                  "[LSTMCell] input_size: expected at least 1, got -3");
}

TEST(Rnn, BadInputsAreNamed) {
  nn::LSTM lstm(3, 2);
  SY_EXPECT_ERROR(lstm(randn({3})), ValueError,
                  "[LSTM] input: expected 3 dims, or 2 without a batch, got");
  SY_EXPECT_ERROR(lstm(randn({4, 1, 5})), ValueError,
                  "[LSTM] input: expected a last size of 3 (input_size), got");
  SY_EXPECT_ERROR(
      lstm(randn({4, 5, 3}), States(randn({1, 5, 2}), randn({1, 4, 2}))),
      ValueError,
      "[LSTM] hx[1]: expected sizes [1, 5, 2] for an input of [4, "
      "5, 3], got");
  nn::GRU gru(3, 2);
  SY_EXPECT_ERROR(gru(randn({4, 3}), randn({1, 1, 2})), ValueError,
                  "[GRU] hx: expected sizes [1, 2] for an input of [4, 3]");
  SY_EXPECT_ERROR(gru(randn({4, 1, 3}, kDouble)), TypeError,
                  "expected the dtype of input");
  nn::RNNCell cell(3, 2);
  SY_EXPECT_ERROR(cell(randn({2, 4})), ValueError,
                  "[RNNCell] input: expected a vector of 3 (input_size), or a "
                  "batch of these, got");
  SY_EXPECT_ERROR(cell(randn({2, 3}), randn({1, 2})), ValueError,
                  "[RNNCell] hx: expected sizes [2, 2] for an input of [2, 3]");
  SY_EXPECT_ERROR(cell(randn({2, 2, 3})), ValueError, "[RNNCell] input: ");
}

TEST(PackedSequence, MovesAllButItsBatchSizes) {
  const auto sequence = rnn::pack_sequence({randn({1, 2}), randn({3, 2})},
                                           /*enforce_sorted=*/false);
  const auto moved = sequence.to(kDouble);
  EXPECT_EQ(moved.data().scalar_type(), kDouble);
  EXPECT_EQ(moved.sorted_indices().scalar_type(), kLong);
  EXPECT_TRUE(moved.batch_sizes().is_same(sequence.batch_sizes()));
  EXPECT_TRUE(equal(moved.unsorted_indices(), sequence.unsorted_indices()));
  EXPECT_TRUE(sequence.cpu().data().is_same(sequence.data()));
  EXPECT_FALSE(sequence.is_cuda());
  const auto away = sequence.to(kMeta);
  EXPECT_TRUE(away.batch_sizes().is_cpu());
  for (const Tensor& t :
       {away.data(), away.sorted_indices(), away.unsorted_indices()}) {
    EXPECT_EQ(t.device().type(), kMeta);
  }
}

TEST(PackedSequence, InvertsPermutations) {
  EXPECT_FALSE(rnn::invert_permutation({}).defined());
  EXPECT_TRUE(
      equal(rnn::invert_permutation(tensor({2, 0, 1})), tensor({1, 2, 0})));
}

TEST(PackedSequence, BadArgumentsAreNamed) {
  const Tensor x = randn({3, 2, 1});
  SY_EXPECT_ERROR(rnn::pack_padded_sequence(x, tensor({2, 3})), ValueError,
                  "lengths");
  SY_EXPECT_ERROR(rnn::pack_padded_sequence(x, tensor({4, 3})), ValueError,
                  "lengths");
  SY_EXPECT_ERROR(rnn::pack_padded_sequence(x, tensor({3})), ValueError,
                  "lengths");
  SY_EXPECT_ERROR(rnn::pack_sequence({}), ValueError, "pad_sequence");
  const auto sequence = rnn::pack_padded_sequence(x, tensor({3, 1}));
  SY_EXPECT_ERROR(rnn::pad_packed_sequence(sequence, false, 0, 2), ValueError,
                  "[pad_packed_sequence] total_length: expected at least the "
                  "length of the longest sequence, 3, got 2");
  SY_EXPECT_ERROR(rnn::PackedSequence(randn({2, 1}), tensor({1.0, 1.0})),
                  ValueError, "[PackedSequence] batch_sizes: expected");
  SY_EXPECT_ERROR(rnn::unpad_sequence(x, tensor({1})), ValueError,
                  "[unpad_sequence] lengths: expected one for each of 2");
}

TEST(PackedSequence, HasToBeOfVectorsForNetworks) {
  nn::GRU gru(3, 2);
  SY_EXPECT_ERROR(
      gru->forward_with_packed_input(rnn::pack_sequence({randn({2, 2, 3})})),
      ValueError, "[GRU] packed_input: expected sequences of vectors, got");
  SY_EXPECT_ERROR(gru->forward_with_packed_input(
                      rnn::pack_sequence({randn({2, 3})}), randn({1, 2, 2})),
                  ValueError,
                  "[GRU] hx: expected sizes [1, 1, 2] for an input of [2, 3]");
}

}  // namespace
}  // namespace sy::test
