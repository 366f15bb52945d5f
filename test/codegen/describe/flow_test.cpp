#include <algorithm>

#include "test/codegen/describe/parts_testing.h"

namespace sy::codegen {
namespace {

using From = std::vector<std::vector<int>>;
using Json = nlohmann::json;

double number(const Json& text) { return std::stod(text.get<std::string>()); }

TEST_F(PartsTest, ReductionsGoIntoTheDimsThatStay) {
  const Json total = flow("total"), best = flow("best");
  EXPECT_EQ(total["from"],
            Json(From{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
  EXPECT_EQ(total["outputs"][0]["shape"], "[3]");
  EXPECT_EQ(total["outputs"][0]["note"], "with keepdim [3, 1]");
  EXPECT_EQ(best["from"],
            Json(From{{0, 4, 8}, {1, 5, 9}, {2, 6, 10}, {3, 7, 11}}));
  for (const Json* f : {&total, &best}) {
    for (std::size_t k = 0; k < (*f)["from"].size(); ++k) {
      double sum = 0, most = -1;
      for (const std::size_t i : (*f)["from"][k]) {
        const double v = number((*f)["inputs"][0]["texts"][i]);
        sum += v;
        most = std::max(most, v);
      }
      EXPECT_EQ(number((*f)["outputs"][0]["texts"][k]),
                f == &total ? sum : most);
    }
  }
}

TEST_F(PartsTest, ScansGoOnFromTheElementBefore) {
  const Json running = flow("running"), highest = flow("highest");
  EXPECT_EQ(running["scan"], true);
  double sum = 0, most = -1;
  std::size_t where = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    const double v = number(running["inputs"][0]["texts"][k]);
    sum += v;
    if (v >= most) {
      most = v;
      where = k;
    }
    EXPECT_EQ(number(running["outputs"][0]["texts"][k]), sum);
    EXPECT_EQ(number(highest["outputs"][0]["texts"][k]), most);
    EXPECT_EQ(highest["outputs"][1]["texts"][k], std::to_string(where));
  }
  EXPECT_EQ(highest["outputs"][1]["name"], "indices");
  EXPECT_EQ(highest["outputs"][1]["plain"], true);
}

TEST_F(PartsTest, BroadcastElementsAreUsedAgain) {
  const Json plus = flow("plus");
  EXPECT_EQ(plus["from"],
            Json(From{{0, 6}, {1, 7}, {2, 8}, {3, 6}, {4, 7}, {5, 8}}));
  EXPECT_EQ(number(plus["outputs"][0]["texts"][4]),
            number(plus["inputs"][0]["texts"][4]) +
                number(plus["inputs"][1]["texts"][1]));
}

TEST_F(PartsTest, NothingWhereNothingIsSaid) {
  for (const char* name :
       {"turn", "turned_cut", "plus_same", "other", "chosen"}) {
    EXPECT_TRUE(describe_flow(op(name)).is_null()) << name;
  }
}

}  // namespace
}  // namespace sy::codegen
