#include "frontend/export/write/size_solver.h"

#include <algorithm>
#include <utility>

#include "c10/process/error.h"

namespace sy::exporting {

namespace {

constexpr int64_t kMostFactor = 8;     // m of a floor
constexpr int64_t kMostDivisor = 64;   // b
constexpr int64_t kSimpleDivisor = 4;  // tried before sums and products
constexpr int kMostTerms = 6;          // of a product
constexpr int64_t kAny = INT64_MIN;

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool is_constant(const std::vector<int64_t>& v) {
  return std::all_of(v.begin(), v.end(), [&](auto x) { return x == v[0]; });
}

// The number that all are, but for kAny; not 0.
std::optional<int64_t> constant_of(const std::vector<int64_t>& v) {
  int64_t number = kAny;
  for (const int64_t x : v) {
    if (x == kAny || x == number) continue;
    if (number != kAny || x == 0) return {};
    number = x;
  }
  if (number == kAny) return 1;
  return number;
}

// v / x, where x divides v in all runs.
std::optional<std::vector<int64_t>> divided(const std::vector<int64_t>& v,
                                            const std::vector<int64_t>& x) {
  std::vector<int64_t> out;
  for (size_t r = 0; r < v.size(); ++r) {
    const bool any = v[r] == kAny || (v[r] == 0 && x[r] == 0);
    if (!any && (x[r] == 0 || v[r] % x[r] != 0)) return {};
    out.push_back(any ? kAny : v[r] / x[r]);
  }
  return out;
}

}  // namespace

SizeSolver::SizeSolver(std::vector<std::vector<int64_t>> symbols)
    : symbols_(std::move(symbols)),
      runs_(symbols_.empty() ? 1 : symbols_[0].size()) {
  for (size_t i = 0; i < symbols_.size(); ++i) {
    Term t;
    t.kind = Kind::Symbol;
    t.number = static_cast<int64_t>(i);
    t.values = symbols_[i];
    keep(std::move(t));
  }
}

int SizeSolver::keep(Term term) {
  const bool varies = !is_constant(term.values);
  const auto at = static_cast<int>(terms_.size());
  if (varies) {
    const auto [found, added] = known_.emplace(term.values, at);
    if (!added) return found->second;
    pool_.push_back(at);
  }
  terms_.push_back(std::move(term));
  return at;
}

int SizeSolver::constant(int64_t number) {
  Term t;
  t.number = number;
  t.values.assign(runs_, number);
  return keep(std::move(t));
}

int SizeSolver::add(Kind kind, int left, int right) {
  Term t;
  t.kind = kind;
  t.left = left;
  t.right = right;
  for (size_t r = 0; r < runs_; ++r) {
    const int64_t a = term(left).values[r], b = term(right).values[r];
    t.values.push_back(kind == Kind::Add   ? a + b
                       : kind == Kind::Mul ? a * b
                                           : floor_div(a, b));
  }
  return keep(std::move(t));
}

// m*x + c for a whole m that is not 0.
std::optional<int> SizeSolver::linear(int base, const Values& v) {
  const Values x = term(base).values;
  size_t other = 0;
  while (other < runs_ && x[other] == x[0]) ++other;
  if (other == runs_) return {};
  const int64_t dx = x[other] - x[0], dv = v[other] - v[0];
  if (dv == 0 || dv % dx != 0) return {};
  const int64_t m = dv / dx, c = v[0] - m * x[0];
  for (size_t r = 0; r < runs_; ++r) {
    if (m * x[r] + c != v[r]) return {};
  }
  int out = base;
  if (m != 1) out = add(Kind::Mul, constant(m), out);
  if (c != 0) out = add(Kind::Add, out, constant(c));
  return out;
}

std::optional<int> SizeSolver::floor(int base, const Values& v,
                                     int64_t largest) {
  const Values x = term(base).values;
  for (int64_t b = 2; b <= largest; ++b) {
    for (int64_t m = 1; m <= std::min(kMostFactor, 2 * b); ++m) {
      int64_t low = INT64_MIN, high = INT64_MAX;
      for (size_t r = 0; r < runs_; ++r) {
        low = std::max(low, v[r] * b - m * x[r]);
        high = std::min(high, v[r] * b + b - 1 - m * x[r]);
      }
      if (low > high) continue;
      // Without an offset where one may be missing.
      const int64_t a = low <= 0 && high >= 0 ? 0 : low;
      int out = base;
      if (m != 1) out = add(Kind::Mul, constant(m), out);
      const int64_t whole = floor_div(a, b), rest = a - whole * b;
      if (rest != 0) out = add(Kind::Add, out, constant(rest));
      out = add(Kind::FloorDiv, out, constant(b));
      if (whole != 0) out = add(Kind::Add, out, constant(whole));
      if (low < high) floors_.push_back({base, m, b, low, high});
      return out;
    }
  }
  return {};
}

// m times a product of so many terms at most, each no later in the pool than
// `end`. In runs where v is kAny, the product may be anything: other factors
// are 0.
std::optional<int> SizeSolver::product(const Values& v,
                                       const std::vector<int>& pool, size_t end,
                                       int most) {
  if (const auto number = constant_of(v)) return constant(*number);
  if (most == 0) return {};
  for (size_t i = 0; i < end; ++i) {
    const auto rest = divided(v, term(pool[i]).values);
    if (!rest) continue;
    const auto other = product(*rest, pool, i + 1, most - 1);
    if (!other) continue;
    const Term& t = term(*other);
    const bool is_one = t.kind == Kind::Constant && t.number == 1;
    return is_one ? pool[i] : add(Kind::Mul, *other, pool[i]);
  }
  return {};
}

std::optional<int> SizeSolver::sum(const Values& v) {
  const std::vector<int> pool = pool_;
  for (size_t i = 0; i < pool.size(); ++i) {
    for (size_t j = 0; j < pool.size(); ++j) {
      for (const int64_t sign : {1, -1}) {
        if (sign == 1 && j > i) continue;
        const Values &x = term(pool[i]).values, &y = term(pool[j]).values;
        const int64_t c = v[0] - x[0] - sign * y[0];
        bool fits = true;
        for (size_t r = 0; fits && r < runs_; ++r) {
          fits = x[r] + sign * y[r] + c == v[r];
        }
        if (!fits) continue;
        const int right =
            sign == 1 ? pool[j] : add(Kind::Mul, constant(-1), pool[j]);
        const int both = add(Kind::Add, pool[i], right);
        return c == 0 ? both : add(Kind::Add, both, constant(c));
      }
    }
  }
  return {};
}

void SizeSolver::forget(size_t terms, size_t pool) {
  for (size_t t = terms; t < terms_.size(); ++t) known_.erase(terms_[t].values);
  terms_.resize(terms);
  pool_.resize(pool);
}

// Formulas of a product that is no size itself: pairs, and the triangles
// n (n - 1) / 2 and n (n + 1) / 2.
std::optional<int> SizeSolver::of_products(const Values& v) {
  const size_t terms = terms_.size(), size = pool_.size();
  for (const Values& symbol : symbols_) {
    const auto at = known_.find(symbol);
    if (at == known_.end()) continue;
    const int base = at->second;
    for (const int64_t c : {-1, 1}) add(Kind::Add, base, constant(c));
  }
  const std::vector<int> pool = pool_;
  for (size_t i = 0; i < pool.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const size_t before = terms_.size(), pool_before = pool_.size();
      const int both = add(Kind::Mul, pool[j], pool[i]);
      std::optional<int> out = linear(both, v);
      if (!out) out = floor(both, v, kSimpleDivisor);
      if (out) return out;
      forget(before, pool_before);
    }
  }
  forget(terms, size);  // the pool would only grow
  return {};
}

std::optional<int> SizeSolver::find(const std::vector<int64_t>& values) {
  if (is_constant(values)) return constant(values[0]);
  if (const auto at = known_.find(values); at != known_.end())
    return at->second;
  const std::vector<int> pool = pool_;
  for (const int base : pool) {
    if (const auto out = linear(base, values)) return out;
  }
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const auto at = known_.find(symbols_[i]);
    if (at == known_.end()) continue;
    if (const auto out = floor(at->second, values, kSimpleDivisor)) return out;
  }
  if (const auto out = product(values, pool, pool.size(), kMostTerms)) {
    return out;
  }
  if (const auto out = sum(values)) return out;
  for (const int base : pool) {
    if (const auto out = floor(base, values, kMostDivisor)) return out;
  }
  return of_products(values);
}

std::string SizeSolver::text(int at) const {
  const Term& t = term(at);
  const auto call = [&](const char* name) {
    return str("{}({}, {})", name, text(t.left), text(t.right));
  };
  switch (t.kind) {
    case Kind::Constant: return str("Integer({})", t.number);
    case Kind::Symbol:
      return str("Symbol('s{}', positive=True, integer=True)", t.number);
    case Kind::Add: return call("Add");
    case Kind::Mul: return call("Mul");
    case Kind::FloorDiv: return call("FloorDiv");
  }
  return {};
}

int64_t SizeSolver::evaluate(int at,
                             const std::vector<int64_t>& symbols) const {
  const Term& t = term(at);
  if (t.kind == Kind::Constant) return t.number;
  if (t.kind == Kind::Symbol) return symbols[size_t(t.number)];
  const int64_t a = evaluate(t.left, symbols), b = evaluate(t.right, symbols);
  return t.kind == Kind::Add   ? a + b
         : t.kind == Kind::Mul ? a * b
                               : floor_div(a, b);
}

std::optional<SizeSolver::Ambiguity> SizeSolver::ambiguity(
    const std::vector<int64_t>& min, const std::vector<int64_t>& max) const {
  std::vector<int64_t> sizes;
  for (const Values& s : symbols_) sizes.push_back(s[0]);
  for (const Floor& f : floors_) {
    // Where the lower half of the offsets and the upper one differ.
    const int64_t middle = f.low + (f.high - f.low) / 2;
    for (size_t s = 0; s < symbols_.size(); ++s) {
      std::vector<int64_t> at = sizes;
      const int64_t end = std::min(max[s], sizes[s] + 4 * f.b);
      for (int64_t size = std::max(min[s], sizes[s] - f.b); size <= end;
           ++size) {
        at[s] = size;
        const int64_t x = f.m * evaluate(f.base, at);
        if (floor_div(x + middle, f.b) != floor_div(x + middle + 1, f.b)) {
          return Ambiguity{s, size};
        }
      }
    }
  }
  return {};
}

}  // namespace sy::exporting
