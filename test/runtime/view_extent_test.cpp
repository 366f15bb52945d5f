#include <sy/sy.h>

#include <limits>

#include "test/runtime/twins.h"

// A view shows memory of its storage, or there is none. Varied: what the sizes,
// strides and offset are made of, the numbers, self (whole, a part, expanded,
// without elements, on meta), compiled and loaded. Never varied: the storage's
// memory is the CPU's, or none.

namespace sy::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

class Views : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    load_schema_text(loaded_text(), "twin.yaml").keep();
  }

  // The view, if both twins give one; both give the same.
  static bool is_made(const std::string& op, const Tensor& self,
                      std::vector<Value> args) {
    args.insert(args.begin(), Value(TensorBase(self)));
    const Outcome a = call("twin::" + op, args),
                  b = call("loaded::" + op, args);
    EXPECT_EQ(a.error, b.error) << op;
    if (!a.error.empty()) {
      EXPECT_NE(a.error.find("[" + op + "]"), std::string::npos) << a.error;
      return false;
    }
    expect_same(as_tensor(a.results[0]), as_tensor(b.results[0]));
    const Tensor v = as_tensor(a.results[0]);
    EXPECT_TRUE(v.is_alias_of(self) || v.numel() == 0);
    return true;
  }
};

TEST_F(Views, WithAnOffsetOfTheirOwn) {
  const Tensor x = arange(10, kLong), part = x.slice(0, 2, 8, 2);
  for (const Tensor& t : {x, part}) {
    EXPECT_TRUE(is_made("window", t, {0, 10, 1}));
    EXPECT_TRUE(is_made("window", t, {9, 1, 1}));
    EXPECT_TRUE(is_made("window", t, {1, 3, 4}));
    EXPECT_TRUE(is_made("window", t, {9, 5, 0}));
    EXPECT_TRUE(is_made("window", t, {100, 0, 1}));  // shows nothing
    EXPECT_FALSE(is_made("window", t, {10, 1, 1}));
    EXPECT_FALSE(is_made("window", t, {-1, 1, 1}));
    EXPECT_FALSE(is_made("window", t, {0, 11, 1}));
    EXPECT_FALSE(is_made("window", t, {2, 3, 4}));
    EXPECT_FALSE(is_made("window", t, {9, 2, -1}));
    for (const int64_t far :
         {kMost, kLeast, kMost / 8, -kMost, int64_t{1} << 40}) {
      EXPECT_FALSE(is_made("window", t, {far, 1, 1}));
      EXPECT_FALSE(is_made("window", t, {0, far, 1}));
      EXPECT_FALSE(is_made("window", t, {0, 2, far}));
      EXPECT_FALSE(is_made("window", t, {0, far, far}));
    }
    EXPECT_EQ(is_made("from", t, {1}), t.is_same(part));
    EXPECT_FALSE(is_made("from", t, {8}));
    EXPECT_FALSE(is_made("from", t, {-8}));
    EXPECT_TRUE(is_made("from", t, {0}));
  }
}

TEST_F(Views, OfStridesThatAreComputed) {
  const Tensor x = arange(12, kFloat).view({3, 4});
  EXPECT_TRUE(is_made("stretched", x, {1}));
  EXPECT_TRUE(is_made("stretched", x, {0}));
  EXPECT_FALSE(is_made("stretched", x, {2}));
  EXPECT_FALSE(is_made("stretched", x, {-1}));
  EXPECT_TRUE(is_made("stretched", x.slice(0, 0, 2).slice(1, 0, 2), {2}));
  EXPECT_TRUE(is_made("stretched", empty({0, 3}), {1000}));
}

TEST_F(Views, OfSizesAlone) {
  const Tensor x = arange(12, kFloat);
  EXPECT_TRUE(is_made("packed", x, {IntArrayRef({3, 4})}));
  EXPECT_TRUE(is_made("packed", x, {IntArrayRef({2, 5})}));
  EXPECT_FALSE(is_made("packed", x, {IntArrayRef({13})}));
  EXPECT_FALSE(is_made("packed", x, {IntArrayRef({-2, -3})}));
  EXPECT_FALSE(is_made("packed", x, {IntArrayRef({kMost, kMost, 4})}));
  EXPECT_FALSE(is_made("packed", ones({1}).expand({12}), {IntArrayRef({12})}));
  EXPECT_FALSE(is_made("packed", x.slice(0, 6), {IntArrayRef({7})}));
  EXPECT_TRUE(is_made("first", x.view({3, 4}), {1}));
  EXPECT_FALSE(is_made("first", empty({0, 3}), {0}));
}

TEST_F(Views, OfTensorsWithoutMemory) {
  const Tensor x = empty({10}, TensorOptions(kFloat).device(kMeta));
  EXPECT_TRUE(is_made("window", x, {9, 1, 1}));
  EXPECT_FALSE(is_made("window", x, {10, 1, 1}));
}

TEST_F(Views, NothingElseIsReadOrWritten) {
  int64_t memory[3] = {7, 8, 9};
  const Tensor t = from_blob(&memory[1], {1}, kLong);
  for (const char* library : {"twin::window", "loaded::window"}) {
    for (const int64_t where : {-1, 1}) {
      EXPECT_THROW(
          result(library, {Value(TensorBase(t)), where, 1, 1}).fill_(0),
          ValueError);
    }
    result(library, {Value(TensorBase(t)), 0, 1, 1}).fill_(1);
  }
  EXPECT_EQ(memory[0], 7);
  EXPECT_EQ(memory[1], 1);
  EXPECT_EQ(memory[2], 9);
}

}  // namespace
}  // namespace sy::test
