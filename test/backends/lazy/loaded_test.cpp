#include <gtest/gtest.h>
#include <sy/lazy.h>
#include <sy/sy.h>

#include <string>

#include "runtime/load_schema.h"

// Operators that come while a program runs are recorded and fused like ours.

namespace sy {
namespace {

TEST(LazyLoaded, OperatorsOfTextJoinRegions) {
  load_library("lazy").keep();
  const SchemaHandle schema = load_schema_text(
      "- func: mine::scaled(Tensor self, Tensor other, Scalar k) -> Tensor\n"
      "  pointwise: self * k + other\n",
      "mine.yaml");
  const auto scaled =
      typed_operator<Tensor(const Tensor&, const Tensor&, const Scalar&)>(
          "mine::scaled");
  const auto in_place =
      typed_operator<Tensor&(Tensor&, const Tensor&, const Scalar&)>(
          "mine::scaled_");
  const Tensor x = ones({3, 5}).to("lazy"), wide = ones({2, 3, 5}).to("lazy");
  Tensor y = (x + 1).tanh();
  const lazy::Counters before = lazy::counters();
  const Tensor z = scaled.call(y, x, 2.5).exp();
  in_place.call(y, z, 0.5);
  EXPECT_EQ(lazy::counters().recorded, before.recorded + 3);
  lazy::sync(lazy::kWait);
  const lazy::Counters now = lazy::counters();
  EXPECT_EQ(now.ran_at_once, before.ran_at_once);
  EXPECT_EQ(now.regions, before.regions + 1) << lazy::plan_text();
  const Tensor t = (ones({3, 5}) + 1).tanh(), e = (t * 2.5 + 1).exp();
  EXPECT_TRUE(allclose(z.cpu(), e));
  EXPECT_TRUE(allclose(y.cpu(), t * 0.5 + e));
  try {
    in_place.call(y, wide, 1);
    FAIL() << "expected an error";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("expected [2, 3, 5]"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sy
