#include "codegen/site/flow.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "codegen/site/flow_cells.h"
#include "test/codegen/site/pictures_testing.h"

namespace sy::codegen::site {
namespace {

using From = std::vector<std::vector<int>>;
using Texts = std::vector<std::string>;

TEST_F(PicturesTest, ViewsSayWhereElementsLie) {
  const Flow turn = flow("turn");
  EXPECT_TRUE(turn.moves);
  EXPECT_EQ(turn.call, "turn(self, dim0=0, dim1=1)");
  From expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) expected.push_back({j * 3 + i});
  }
  EXPECT_EQ(turn.from, expected);
  EXPECT_EQ(turn.outputs[0].texts, (Texts{"0", "3", "1", "4", "2", "5"}));
  EXPECT_EQ(turn.outputs[0].note, "strides [1, 3]");
  expect_good(flow_svg(model_, op("turn")));
}

TEST_F(PicturesTest, ViewsWithoutAnExampleGetArgumentsThatShow) {
  const Flow cut = flow("cut");
  EXPECT_EQ(cut.call, "cut(self, start=1)");
  From expected;
  for (int k = 4; k < 12; ++k) expected.push_back({k});
  EXPECT_EQ(cut.from, expected);
  EXPECT_EQ(cut.outputs[0].note, "strides [4, 1], offset 4");
}

TEST_F(PicturesTest, CompositesOfViewsAreFollowed) {
  // The last row of 3x4 is the last column of what is turned.
  EXPECT_EQ(flow("turned_cut").from.size(), 4u * 2u);
  From expected;
  for (int i = 0; i < 4; ++i) {
    for (int j = 1; j < 3; ++j) expected.push_back({j * 4 + i});
  }
  EXPECT_EQ(flow("turned_cut").from, expected);
}

TEST_F(PicturesTest, ReductionsGoIntoTheDimsThatStay) {
  const Flow total = flow("total");
  EXPECT_FALSE(total.moves);
  EXPECT_EQ(total.from, (From{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
  EXPECT_EQ(total.outputs[0].shape, "[3]");
  EXPECT_EQ(total.outputs[0].note, "with keepdim [3, 1]");
  const Flow best = flow("best");
  EXPECT_EQ(best.from, (From{{0, 4, 8}, {1, 5, 9}, {2, 6, 10}, {3, 7, 11}}));
  for (const Flow* f : {&total, &best}) {
    for (std::size_t k = 0; k < f->from.size(); ++k) {
      double sum = 0, most = -1;
      for (const int i : f->from[k]) {
        const double v =
            std::stod(f->inputs[0].texts[static_cast<std::size_t>(i)]);
        sum += v;
        most = std::max(most, v);
      }
      EXPECT_EQ(std::stod(f->outputs[0].texts[k]), f == &total ? sum : most);
    }
  }
  expect_good(flow_svg(model_, op("total")));
  expect_good(flow_svg(model_, op("best")));
}

TEST_F(PicturesTest, ScansGoOnFromTheElementBefore) {
  const Flow running = flow("running"), highest = flow("highest");
  double sum = 0, most = -1;
  std::size_t where = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    const double v = std::stod(running.inputs[0].texts[k]);
    sum += v;
    if (v >= most) {
      most = v;
      where = k;
    }
    EXPECT_EQ(std::stod(running.outputs[0].texts[k]), sum);
    EXPECT_EQ(std::stod(highest.outputs[0].texts[k]), most);
    EXPECT_EQ(highest.outputs[1].texts[k], std::to_string(where));
  }
  EXPECT_EQ(highest.outputs[1].name, "indices");
  expect_good(flow_svg(model_, op("running")));
  expect_good(flow_svg(model_, op("highest")));
}

TEST_F(PicturesTest, BroadcastElementsAreUsedAgain) {
  const Flow plus = flow("plus");
  EXPECT_EQ(plus.from, (From{{0, 6}, {1, 7}, {2, 8}, {3, 6}, {4, 7}, {5, 8}}));
  EXPECT_EQ(
      std::stod(plus.outputs[0].texts[4]),
      std::stod(plus.inputs[0].texts[4]) + std::stod(plus.inputs[1].texts[1]));
  expect_good(flow_svg(model_, op("plus")));
}

TEST_F(PicturesTest, NothingWhereNothingIsSaid) {
  for (const char* name : {"same", "plus_same", "other", "chosen"}) {
    EXPECT_EQ(flow_svg(model_, op(name)), "") << name;
  }
}

// The facts that `sy facts` tells of an operator that moves elements.
nlohmann::json moved(std::vector<std::int64_t> in,
                     std::vector<std::int64_t> out, const From& from) {
  return {{"call", "f(self)"},
          {"moves", true},
          {"inputs", {{{"name", "self"}, {"sizes", std::move(in)}}}},
          {"outputs", {{{"name", "result"}, {"sizes", std::move(out)}}}},
          {"from", from}};
}

TEST(FlowTest, CellsHaveTheColourOfWhereTheyComeFrom) {
  From flip, roll, gather;
  for (int k = 0; k < 12; ++k) {
    const int i = k / 4, j = k % 4;
    flip.push_back({i * 4 + 3 - j});
    roll.push_back({(k + 12 - 5) % 12});
    gather.push_back({i * 4 + (i + j) % 3});
  }
  for (const From& from : {flip, roll, gather}) {
    const auto f = read_flow(moved({3, 4}, {3, 4}, from), nullptr);
    ASSERT_TRUE(f);
    const Paints p = paints_of(*f, 0);
    std::set<Paint> different(p.inputs.begin(), p.inputs.end());
    EXPECT_EQ(different.size(), 12u);
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_EQ(p.outputs[k], p.inputs[static_cast<std::size_t>(from[k][0])]);
    }
    expect_good(flow_picture(*f));
  }
}

TEST(FlowTest, PaddingHasNoColour) {
  const auto f = read_flow(moved({2}, {4}, {{}, {0}, {1}, {}}), nullptr);
  const Paints p = paints_of(*f, 1);
  EXPECT_EQ(p.outputs[0].colour, -1);
  EXPECT_GE(p.outputs[1].colour, 0);
  expect_good(flow_picture(*f));
}

TEST(FlowTest, LargeFlowsAreNotDrawn) {
  From from;
  for (int k = 0; k < 200; ++k) from.push_back({k});
  EXPECT_EQ(flow_picture(*read_flow(moved({200}, {200}, from), nullptr)), "");
}

TEST(FlowTest, BadFactsAreNamed) {
  const auto error = [](const nlohmann::json& v) {
    std::string out;
    EXPECT_FALSE(read_flow(v, &out)) << v;
    return out;
  };
  auto good = moved({2}, {1}, {{1}});
  ASSERT_TRUE(read_flow(good, nullptr));
  const auto with = [&](const char* key, const nlohmann::json& v) {
    auto out = good;
    out[key] = v;
    return error(out);
  };
  EXPECT_EQ(error(3), "flow: expected an object");
  EXPECT_EQ(with("call", 3), "call: expected a text");
  EXPECT_EQ(with("moves", 3), "flow.moves: expected a bool");
  EXPECT_EQ(with("from", {{2}}), "from[0]: expected numbers in [0, 2)");
  EXPECT_EQ(with("from", {{-1}}), "from[0]: expected numbers in [0, 2)");
  EXPECT_EQ(with("from", nlohmann::json::array()), "from: expected 1 lists");
  EXPECT_EQ(with("inputs", nlohmann::json::array()),
            "inputs: expected at least one tensor");
  EXPECT_EQ(with("inputs", {{{"name", "x"}, {"sizes", {5000, 5000}}}}),
            "inputs[0].sizes: expected a small tensor");
  EXPECT_EQ(with("outputs", {{{"sizes", {1}}}}),
            "outputs[0]: expected a member 'name'");
  good.erase("from");
  EXPECT_EQ(error(good), "flow: expected a member 'from'");
}

TEST(FlowTest, BlocksJoinNeighbours) {
  const CellSize size{10, 10, 0};
  const auto one = blocks_of({{10, 0}, {0, 0}, {0, 10}, {10, 10}}, size);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].width, 20);
  EXPECT_EQ(one[0].height, 20);
  EXPECT_EQ(blocks_of({{0, 0}, {20, 0}, {10, 10}}, size).size(), 3u);
}

}  // namespace
}  // namespace sy::codegen::site
