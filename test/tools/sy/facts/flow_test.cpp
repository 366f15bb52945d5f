#include "tools/sy/facts/flow.h"

#include <gtest/gtest.h>

namespace sy::tools {
namespace {

using From = std::vector<std::vector<size_t>>;
using List = std::vector<int64_t>;
using Texts = std::vector<std::string>;

Json flow(const std::string& name, const std::string& words) {
  return flow_of(Dispatcher::singleton().find_or_throw("aten::" + name), words);
}

From from(const Json& flow) { return flow.at("from").get<From>(); }
Texts texts(const Json& flow) {
  return flow.at("outputs").at(0).at("texts").get<Texts>();
}

TEST(FlowFacts, FollowsElementsThatMove) {
  const Json flip = flow("flip", "2x3 1");
  EXPECT_EQ(from(flip), (From{{2}, {1}, {0}, {5}, {4}, {3}}));
  EXPECT_EQ(texts(flip), (Texts{"2", "1", "0", "5", "4", "3"}));
  EXPECT_EQ(flip.at("call"), "flip(self, dims=[1])");
  EXPECT_EQ(flip.at("moves"), true);
  From rolled;
  for (size_t k = 0; k < 6; ++k) rolled.push_back({(k + 4) % 6});
  EXPECT_EQ(from(flow("roll", "2x3 2")), rolled);
  EXPECT_EQ(from(flow("cat", "{2x2;1x2} 0")),
            (From{{0}, {1}, {2}, {3}, {4}, {5}}));
}

TEST(FlowFacts, NamesTheIndexThatAnElementCameBy) {
  const Json gather = flow("gather", "2x3 1 2x2:i=0,2,1,1");
  EXPECT_EQ(from(gather), (From{{0, 6}, {2, 7}, {4, 8}, {4, 9}}));
  EXPECT_EQ(texts(gather), (Texts{"0", "2", "4", "4"}));
  EXPECT_EQ(gather.at("inputs").at(1).at("plain"), true);
  // An index that goes elsewhere changes two results, and makes one.
  EXPECT_EQ(from(flow("index_copy", "4x1 0 2:i=1,3 2x1")),
            (From{{0}, {4, 6}, {2}, {5, 7}}));
}

TEST(FlowFacts, ComputesWithWholeNumbers) {
  const Json mm = flow("mm", "2x2 2x1");
  EXPECT_EQ(from(mm), (From{{0, 1, 4, 5}, {2, 3, 4, 5}}));
  EXPECT_EQ(texts(mm), (Texts{"24", "29"}));  // 3 1 and 4 1 by 5 9
  EXPECT_FALSE(mm.contains("moves"));
  const Json pool = flow("max_pool1d", "1x4 2 1");
  EXPECT_EQ(from(pool), (From{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(FlowFacts, ConstantsComeFromNowhere) {
  const Json pad = flow("constant_pad_nd", "2 1,1 0.5");
  EXPECT_EQ(from(pad), (From{{}, {0}, {1}, {}}));
  EXPECT_EQ(texts(pad), (Texts{"0.50", "0", "1", "0.50"}));
}

TEST(FlowFacts, ViewsSayWhereElementsLie) {
  const Json turned = flow("transpose.int", "2x3 0 1");
  EXPECT_EQ(turned.at("moves"), true);
  EXPECT_EQ(turned.at("call"), "transpose(self, dim0=0, dim1=1)");
  EXPECT_EQ(from(turned), (From{{0}, {3}, {1}, {4}, {2}, {5}}));
  EXPECT_EQ(texts(turned), (Texts{"0", "3", "1", "4", "2", "5"}));
  EXPECT_EQ(turned.at("inputs").at(0).at("note"), "strides [3, 1]");
  EXPECT_EQ(turned.at("outputs").at(0).at("note"), "strides [1, 3]");
  EXPECT_EQ(turned.at("outputs").at(0).at("sizes"), (List{3, 2}));
  // Elements that are shown twice.
  EXPECT_EQ(from(flow("expand", "1x2 2,2")), (From{{0}, {1}, {0}, {1}}));
}

TEST(FlowFacts, ViewsWithoutWordsGetArgumentsThatShow) {
  const Json cut = flow("slice.Tensor", "");
  EXPECT_EQ(cut.at("call"), "slice(self, start=1)");
  From expected;
  for (size_t k = 4; k < 12; ++k) expected.push_back({k});
  EXPECT_EQ(from(cut), expected);
  EXPECT_EQ(cut.at("outputs").at(0).at("note"), "strides [4, 1], offset 4");
  const Json squeezed = flow("squeeze", "");
  EXPECT_EQ(squeezed.at("inputs").at(0).at("sizes"), (List{2, 1, 3}));
  EXPECT_TRUE(flow("slice.Tensor", "2x3").is_null());
}

TEST(FlowFacts, CompositesOfViewsAreViews) {
  const Json moved = flow("movedim.int", "2x1x2 0 2");
  EXPECT_EQ(from(moved), (From{{0}, {2}, {1}, {3}}));
  EXPECT_EQ(moved.at("outputs").at(0).at("note"), "strides [2, 1, 2]");
  // One that copies.
  EXPECT_FALSE(flow("tile", "2 2").at("outputs").at(0).contains("note"));
}

TEST(FlowFacts, NothingThatTellsNothing) {
  EXPECT_TRUE(flow("clone", "2x3").is_null());        // all stay where they are
  EXPECT_TRUE(flow("add.Tensor", "2 2").is_null());   // described
  EXPECT_TRUE(flow("softmax.int", "4 0").is_null());  // all of all
  EXPECT_TRUE(flow("bernoulli", "2x3").is_null());    // random
  EXPECT_TRUE(flow("flip", "20x20 0").is_null());     // large
}

}  // namespace
}  // namespace sy::tools
