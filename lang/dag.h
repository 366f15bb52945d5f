#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lang/program.h"

namespace sy::lang {

// The values of a program before they have registers: each computed once,
// uniform ones apart. A node's arguments have smaller numbers than it has.
class Dag {
 public:
  enum class Kind : std::uint8_t {
    kInput,
    kBoolInput,
    kScalar,
    kConstant,
    kOp
  };
  struct Value {
    Kind kind;
    Prim op = Prim::copy;
    std::array<int, 3> args = {-1, -1, -1};
    bool uniform = false;
    RegClass reg_class = RegClass::kValue;
    int index = 0;  // of an input or scalar
    Uniform constant = {};
  };

  int input(int index, RegClass as);
  int scalar(ScalarInput input, bool is_bool);
  int constant(Uniform value, bool is_bool);
  // A primitive; arguments are converted to the class it takes, and the
  // cheaper equivalent of it is taken where there is one.
  int op(Prim prim, int a, int b = -1, int c = -1);

  int as_value(int v);
  int as_bool(int v);

  // Turns mul and add into fma where nothing else reads the product; gives the
  // new numbers of `roots`.
  void fuse(std::vector<int>& roots);

  const Value& operator[](int v) const { return values_[v]; }
  const std::vector<ScalarInput>& scalars() const { return scalars_; }

 private:
  int add(Value value);
  int simplified(Prim prim, const std::array<int, 3>& args);
  int power(int base, int exponent);
  int choice(int condition, int a, int b);
  bool is_constant(int v, double value) const;

  std::vector<Value> values_;
  std::vector<ScalarInput> scalars_;
  using Key = std::tuple<int, int, int, int, int, std::uint64_t, bool>;
  std::map<Key, int> known_;
};

}  // namespace sy::lang
