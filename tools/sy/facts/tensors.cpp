#include "tools/sy/facts/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "aten/ops/factory.h"
#include "aten/ops/ranges.h"
#include "aten/tensor_new.h"
#include "tools/sy/facts/text.h"

namespace sy::tools {

namespace {

using lang::TensorWord;

constexpr int64_t kLiteral = 12;  // elements that are written one by one

int64_t count(const TensorWord& w) {
  int64_t n = 1;
  for (const int64_t s : w.sizes) n *= s;
  return n;
}

// The i-th number of the k-th tensor. Some are equal in all tensors.
double number(Look look, size_t k, int64_t i) {
  static constexpr double kMixed[3][12] = {
      {0.5, -1.5, 2, -0.5, 1, 0, 1.5, -1, 2.5, -2, 3, -2.5},
      {2, -1.5, 0.5, 1, 1, -0.5, -2, 1.5, 2.5, -1, 0.25, 3},
      {1, 2, -1, 0.5, -2, 1.5, -0.5, 3, 0.25, 2.5, -1.5, 0.75}};
  static constexpr double kPositive[3][12] = {
      {1, 0.5, 2, 1.5, 3, 2.5, 4, 3.5, 0.25, 5, 0.75, 4.5},
      {2, 0.5, 1, 3, 3, 1.5, 0.25, 2.5, 0.75, 4, 3.5, 5},
      {1.5, 3, 0.5, 1, 2, 0.75, 2.5, 4, 1.25, 0.25, 3.5, 4.5}};
  static constexpr double kUnit[3][12] = {
      {0.3, 0.8, 0.5, 0.1, 0.9, 0.6, 0.2, 0.7, 0.4, 0.85, 0.15, 0.95},
      {0.6, 0.8, 0.2, 0.4, 0.9, 0.1, 0.7, 0.3, 0.5, 0.25, 0.75, 0.35},
      {0.5, 0.2, 0.7, 0.9, 0.4, 0.3, 0.8, 0.1, 0.6, 0.45, 0.65, 0.55}};
  static constexpr double kZeros[3][12] = {
      {0, 1.5, 0, -2, 1, 0, 0.5, 0, 0, 3, 0, 1},
      {0, 0, 1, 1, 1, 0, 0, 2, 0, 3, 1, 0},
      {1, 0, 1, 0, 2, 0, 0, 1, 0, 1, 0, 1}};
  static constexpr double kSpecial[2][12] = {
      {1.5, NAN, -INFINITY, -0.5, INFINITY, 0, NAN, 2, 1, INFINITY, 3, -1},
      {1.5, NAN, INFINITY, -0.5, INFINITY, 1, 2, 2, NAN, INFINITY, 3, 0}};
  const size_t row = k % 3, at = static_cast<size_t>(i) % 12;
  switch (look) {
    case Look::kMixed: return kMixed[row][at];
    case Look::kNonzero: return kMixed[row][at] == 0 ? -3 : kMixed[row][at];
    case Look::kPositive: return kPositive[row][at];
    case Look::kZeros: return kZeros[row][at];
    case Look::kSpecial: return kSpecial[k % 2][at];
    default: return kUnit[row][at];
  }
}

// Rounds to four digits, so that 0.3 * -2 + 1 is written as 0.4.
double short_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return std::strtod(text, nullptr);
}

std::string list_text(IntArrayRef sizes) {
  std::string out;
  for (const int64_t n : sizes) {
    out += (out.empty() ? "" : ", ") + std::to_string(n);
  }
  return str("{{{}}}", out);
}

bool is_plain(const TensorWord& w) {
  return w.kind == TensorWord::kFloat && w.factor == 1 && w.shift == 0;
}

}  // namespace

bool is_large(const TensorWord& w) { return count(w) > kLiteral; }

TensorArgument FactsTensors::make(const TensorWord& w) {
  if (!w.defined) return {"sy::Tensor()", Tensor()};
  const size_t k = made_++;
  const int64_t n = count(w);
  if (n == 0) {
    return {str("sy::empty({})", list_text(w.sizes)), sy::empty(w.sizes)};
  }
  if (n > kLiteral && w.values.empty()) return large(w, n, k);
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(element(w, i, k));
  first_ += n;
  return literal(w, v);
}

bool FactsTensors::is_whole(const TensorWord& w) const {
  return look_ == Look::kWhole && is_plain(w);
}

double FactsTensors::element(const TensorWord& w, int64_t i, size_t k) const {
  if (!w.values.empty()) return w.values[static_cast<size_t>(i)];
  if (w.kind == TensorWord::kBool) {
    constexpr bool kBits[] = {1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0};
    return kBits[(static_cast<size_t>(i) + k) % std::size(kBits)];
  }
  if (w.kind != TensorWord::kFloat) {
    const auto below = std::max<int64_t>(1, static_cast<int64_t>(w.below));
    return static_cast<double>((i * 7 + 2 + 3 * int64_t(k)) % below);
  }
  if (is_whole(w)) return static_cast<double>(first_ + i);
  if (is_plain(w)) return number(look_, k, i);
  return short_number(number(Look::kUnit, k, i) * w.factor + w.shift);
}

TensorArgument FactsTensors::literal(const TensorWord& w,
                                     const std::vector<double>& v) const {
  const ScalarType dtype = w.kind == TensorWord::kInt        ? kLong
                           : w.kind == TensorWord::kInt32    ? kInt
                           : w.kind == TensorWord::kInt8     ? kChar
                           : w.kind == TensorWord::kBool     ? kBool
                           : is_whole(w) && w.values.empty() ? kLong
                                                             : kFloat;
  const bool whole = is_integral_type(dtype, false);
  std::vector<std::string> texts;
  for (const double e : v) {
    texts.push_back(dtype == kBool ? (e >= 0.5 ? "true" : "false")
                    : whole        ? std::to_string(static_cast<int64_t>(e))
                                   : cpp_number(e));
  }
  const Tensor t =
      sy::tensor(v, TensorOptions().dtype(kDouble)).to(dtype).view(w.sizes);
  const char* const suffix = dtype == kInt    ? ", sy::kInt32"
                             : dtype == kChar ? ", sy::kInt8"
                                              : "";
  return {str("sy::tensor({}{})", cpp_elements(w.sizes, texts), suffix), t};
}

TensorArgument FactsTensors::large(const TensorWord& w, int64_t n, size_t k) {
  const std::string view = str(".view({})", list_text(w.sizes));
  if (w.kind == TensorWord::kBool) {
    return {str("sy::arange({}).remainder(3).ne(1){}", n, view),
            sy::arange(n).remainder(3).ne(1).view(w.sizes)};
  }
  if (w.kind != TensorWord::kFloat) {
    const auto below = std::max<int64_t>(1, static_cast<int64_t>(w.below));
    return {str("sy::arange({}).remainder({}){}", n, below, view),
            sy::arange(n).remainder(below).view(w.sizes)};
  }
  if (is_plain(w) && (look_ == Look::kWhole || look_ == Look::kCounted)) {
    const bool whole = look_ == Look::kWhole;
    const int64_t first = first_;
    first_ += n;
    const auto end = static_cast<double>(first + n);
    const auto text = [&](int64_t v) {
      return whole ? std::to_string(v) : cpp_number(static_cast<double>(v));
    };
    const Tensor t = whole ? sy::arange(first, first + n)
                           : sy::arange(static_cast<double>(first), end);
    return {str("sy::arange({}, {}){}", text(first), text(first + n), view),
            t.view(w.sizes)};
  }
  double low = look_ == Look::kPositive ? 0.5 : look_ == Look::kUnit ? 0.1 : -1;
  double high = look_ == Look::kPositive ? 2 : look_ == Look::kUnit ? 0.9 : 1;
  if (!is_plain(w)) {
    low = short_number(0.3 * w.factor + w.shift);
    high = short_number(0.9 * w.factor + w.shift);
  }
  if (k % 2 == 1) std::swap(low, high);
  return {str("sy::linspace({}, {}, {}){}", cpp_number(low), cpp_number(high),
              n, view),
          sy::linspace(low, high, n).view(w.sizes)};
}

}  // namespace sy::tools
