#include "lang/words.h"

#include <gtest/gtest.h>

namespace sy::lang {
namespace {

std::optional<Word> one(WordType type, std::string_view text) {
  const WordArgument a{"x", type};
  return parse_words({&a, 1}, text)[0];
}

std::string error(WordType type, std::string_view text) {
  try {
    one(type, text);
  } catch (const WordError& e) {
    return std::to_string(e.offset) + ": " + e.message;
  }
  return "";
}

TEST(Words, Tensors) {
  const TensorWord t = one(WordType::kTensor, "2x3*-2+1")->tensors[0];
  EXPECT_EQ(t.sizes, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(t.kind, TensorWord::kFloat);
  EXPECT_EQ(t.factor, -2);
  EXPECT_EQ(t.shift, 1);
  EXPECT_FALSE(t.constant);
  const TensorWord c = one(WordType::kTensor, "2x3*-2!")->tensors[0];
  EXPECT_TRUE(c.constant);
  const TensorWord s = one(WordType::kTensor, "s:i4")->tensors[0];
  EXPECT_TRUE(s.sizes.empty());
  EXPECT_EQ(s.kind, TensorWord::kInt);
  EXPECT_EQ(s.below, 4);
  const TensorWord v = one(WordType::kTensor, "3:s=0,2,1")->tensors[0];
  EXPECT_EQ(v.kind, TensorWord::kInt32);
  EXPECT_EQ(v.values, (std::vector<double>{0, 2, 1}));
  EXPECT_EQ(one(WordType::kTensor, "0x2:b")->tensors[0].kind,
            TensorWord::kBool);
}

TEST(Words, Lists) {
  const Word t = *one(WordType::kTensors, "{None;2x3:b;s}");
  ASSERT_EQ(t.tensors.size(), 3u);
  EXPECT_FALSE(t.tensors[0].defined);
  EXPECT_EQ(t.tensors[1].sizes.size(), 2u);
  EXPECT_TRUE(one(WordType::kTensors, "{}")->tensors.empty());
  EXPECT_TRUE(one(WordType::kInts, "[]")->numbers.empty());
  EXPECT_EQ(one(WordType::kInts, "1,-2")->numbers[1].i, -2);
  EXPECT_EQ(one(WordType::kFloats, "1,2.5")->numbers[1].d, 2.5);
  EXPECT_EQ(one(WordType::kBools, "True,0")->numbers[0].i, 1);
}

TEST(Words, Others) {
  EXPECT_EQ(one(WordType::kInt, "Mean")->numbers[0].i, 1);
  EXPECT_EQ(one(WordType::kFloat, "1e-5")->numbers[0].d, 1e-5);
  EXPECT_TRUE(one(WordType::kScalar, "True")->is_bool);
  EXPECT_TRUE(one(WordType::kOther, "None")->is_none);
  EXPECT_EQ(one(WordType::kText, "a-b")->text, "a-b");
  EXPECT_EQ(one(WordType::kTensor, "  "), std::nullopt);
}

TEST(Words, StandForArgumentsInOrderOrByName) {
  const WordArgument all[] = {{"self", WordType::kTensor},
                              {"dim", WordType::kInt},
                              {"keepdim", WordType::kBool}};
  const auto words = parse_words(all, "s=2 keepdim=True");
  EXPECT_EQ(words[0]->tensors[0].values[0], 2);
  EXPECT_FALSE(words[1].has_value());
  EXPECT_EQ(words[2]->numbers[0].i, 1);
  // After a name the order goes on.
  EXPECT_EQ(parse_words(all, "dim=1 False")[2]->numbers[0].i, 0);
}

TEST(Words, ErrorsSayWhere) {
  EXPECT_EQ(error(WordType::kInt, " 1.5"),
            "1: argument 'x': expected an int, got '1.5'");
  EXPECT_EQ(error(WordType::kTensor, "2x3=1,2"),
            "4: argument 'x': expected 6 numbers, got 2");
  EXPECT_EQ(error(WordType::kTensor, "2x3:f4"),
            "4: argument 'x': expected 'b', or 'i', 's' or 'c' and a number, "
            "got 'f4'");
  EXPECT_EQ(error(WordType::kTensor, "2x-1").substr(0, 32),
            "0: argument 'x': expected a tens");
  EXPECT_EQ(error(WordType::kTensor, "100000x100000"),
            "0: argument 'x': a tensor of too many elements");
  EXPECT_EQ(error(WordType::kTensors, "2x3"),
            "0: argument 'x': expected a list of tensors as {2x3;3}, got "
            "'2x3'");
  EXPECT_EQ(error(WordType::kTensors, "{2x3;q}").substr(0, 2), "5:");
  EXPECT_EQ(error(WordType::kDtype, "float31"),
            "0: argument 'x': expected a dtype as float32, got 'float31'");
  EXPECT_EQ(error(WordType::kOther, "1"),
            "0: argument 'x': expected None, got '1'");
  EXPECT_EQ(error(WordType::kInt, "1 2"),
            "2: '2' is for no argument; there are 1");
  EXPECT_EQ(error(WordType::kInt, "1 x=2"), "4: argument 'x' has two words");
}

TEST(Words, ReasonsForNoDerivative) {
  for (const char* text :
       {"none, because it is so", "none,because  it is so",
        "none,\n  because it is so", "non_differentiable, because it is so"}) {
    const auto reason = parse_no_derivative(text);
    ASSERT_TRUE(reason) << text;
    EXPECT_EQ(reason->why, "it is so");
    EXPECT_TRUE(std::string_view(text).starts_with(reason->word));
  }
  for (const char* text :
       {"none", "none, because", "none, because  ", "none, becauseit",
        "none because it is so", "auto, because it is so", ""}) {
    EXPECT_FALSE(parse_no_derivative(text)) << text;
  }
}

}  // namespace
}  // namespace sy::lang
