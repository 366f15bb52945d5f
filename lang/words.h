#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The arguments of an example call as a text, one word each: what `example:` of
// a schema and `sy prove --args` hold. Stands on std alone.

namespace sy::lang {

enum class WordType : std::uint8_t {
  kTensor,
  kTensors,
  kInt,
  kFloat,
  kBool,
  kScalar,
  kText,
  kDtype,
  kDevice,
  kLayout,
  kFormat,
  kInts,
  kFloats,
  kBools,
  kScalars,
  kOther,  // None only
};

struct WordArgument {
  std::string_view name;
  WordType type;
};

//   2x3        float64, numbers between 0.3 and 0.9, requires a gradient
//   s          no dims               2x3!      no gradient
//   2x3*-2+1   numbers times -2, plus 1
//   3:i4       int64, below 4        3:s4      the same in int32
//   3:b        bool
//   3=1,-1,2   these numbers         3:i=0,2,1 in int64
struct TensorWord {
  enum Kind : std::uint8_t { kFloat, kInt, kInt32, kBool, kInt8 };

  bool defined = true;  // false: None, among others in a list
  std::vector<std::int64_t> sizes;
  Kind kind = kFloat;
  double below = 0;  // of whole numbers
  double factor = 1, shift = 0;
  bool constant = false;
  std::vector<double> values;  // none: made up
};

struct NumberWord {
  bool is_int = true;
  std::int64_t i = 0;
  double d = 0;  // the same, if is_int
};

// The meaning of a word, by the type of its argument:
//   Tensor     above                 Tensor[], Tensor?[]  {2x3;3} {None;2:i3}
//   int[]      0,1 or [] for none    float[], Scalar[]    0.5,2
//   bool[3]    True,False,True       others as in a signature: 2, 0.5, True,
//                                    none, int64, Mean; None of any optional
struct Word {
  bool is_none = false;
  std::vector<TensorWord> tensors;  // one of a Tensor
  std::vector<NumberWord> numbers;  // one of int, float, bool and Scalar
  bool is_bool = false;             // of a Scalar: True or False
  std::string text;                 // as it was written
};

struct WordError {
  std::size_t offset;  // in the text
  std::string message;
};

// A Word for each argument, or nothing where the text has none. Words stand for
// the arguments in order; `name=word` says which it is. Throws WordError.
std::vector<std::optional<Word>> parse_words(
    std::span<const WordArgument> arguments, std::string_view text);

// The word that `derivative:` says if there is no derivative, and the reason.
struct NoDerivative {
  std::string_view word;  // none, or non_differentiable
  std::string_view why;
};
// The parts of "WORD, because TEXT", with any number of spaces; else nothing.
std::optional<NoDerivative> parse_no_derivative(std::string_view text);

}  // namespace sy::lang
