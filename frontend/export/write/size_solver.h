#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// Finds the formulas of numbers that were seen in several runs, whose inputs
// had different sizes.
//
// Note [Formulas]
// A formula is tried in an order, from the simplest: a number, a symbol, what
// was found before; m*x + c; a product of several; x + y + c;
// floor((m*x + a) / b), which sizes of convolutions and pools are, and
// compositions of such are too; such a floor of a product. x and y are formulas
// that were found before, products included. The first one that is right in all
// runs is taken. What is right in some runs may be wrong in others, so the
// caller runs the module at sizes that tell formulas apart (ambiguity()), and
// at some more.

namespace sy::exporting {

class SizeSolver {
 public:
  enum class Kind : uint8_t { Constant, Symbol, Add, Mul, FloorDiv };
  struct Term {
    Kind kind = Kind::Constant;
    int64_t number = 0;  // of Constant; the index of a Symbol
    int left = -1, right = -1;
    std::vector<int64_t> values;  // in each run
  };

  // symbols[i][run] is the size that symbol i had.
  explicit SizeSolver(std::vector<std::vector<int64_t>> symbols);

  // The term that has these values; none if no formula has.
  std::optional<int> find(const std::vector<int64_t>& values);
  const Term& term(int at) const { return terms_[size_t(at)]; }
  // "Mul(Integer(2), Symbol('s0', positive=True, integer=True))"
  std::string text(int at) const;

  // A size that tells a formula from another one that is right in all runs.
  struct Ambiguity {
    size_t symbol;
    int64_t size;
  };
  std::optional<Ambiguity> ambiguity(const std::vector<int64_t>& min,
                                     const std::vector<int64_t>& max) const;

 private:
  using Values = std::vector<int64_t>;
  // floor((m*x + a) / b) with any a in a range.
  struct Floor {
    int base;
    int64_t m, b, low, high;
  };

  int add(Kind kind, int left, int right);
  int constant(int64_t number);
  int keep(Term term);
  std::optional<int> linear(int base, const Values& v);
  std::optional<int> floor(int base, const Values& v, int64_t largest);
  std::optional<int> product(const Values& v, const std::vector<int>& pool,
                             size_t end, int most);
  std::optional<int> sum(const Values& v);
  std::optional<int> of_products(const Values& v);
  // Drops the terms after so many, and those of the pool.
  void forget(size_t terms, size_t pool);
  int64_t evaluate(int at, const std::vector<int64_t>& symbols) const;

  std::vector<Values> symbols_;
  size_t runs_;
  std::vector<Term> terms_;
  std::map<Values, int> known_;  // terms that vary, by their values
  std::vector<int> pool_;        // the same, in the order of their finding
  std::vector<Floor> floors_;
};

}  // namespace sy::exporting
