#include <cctype>
#include <string>
#include <vector>

#include "aten/composite/linalg_products_contraction.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/ops/linalg_products.h"
#include "aten/ops/linalg_products_kernels.h"
#include "aten/ops/view.h"

// "bij,bjk->bik": a letter is a dim, … stands for any number of them.

namespace sy::composite {

namespace {

constexpr int kEllipsis = 52;  // its dims are labels from here on
constexpr const char* kOp = "einsum";

int label_of(char c) { return c >= 'a' ? c - 'a' + 26 : c - 'A'; }

// The labels of one operand or of the result; -1 for an ellipsis.
std::vector<int> parse_labels(std::string_view text) {
  std::vector<int> labels;
  bool seen = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      SY_CHECK(text.substr(i, 3) == "...", Value,
               "[{}] equation: expected ... where a point is, got '{}'", kOp,
               text);
      SY_CHECK(!seen, Value,
               "[{}] equation: expected one ellipsis at most, got '{}'", kOp,
               text);
      seen = true;
      i += 2;
      labels.push_back(-1);
      continue;
    }
    SY_CHECK(std::isalpha(static_cast<unsigned char>(c)) != 0, Value,
             "[{}] equation: expected letters, got '{}'", kOp, c);
    labels.push_back(label_of(c));
  }
  return labels;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

class Equation {
 public:
  Equation(std::string_view text, TensorList tensors) {
    const size_t arrow = text.find("->");
    const auto parts = split(text.substr(0, arrow));
    SY_CHECK(!tensors.empty(), Value,
             "[{}] tensors: expected at least one, got none", kOp);
    SY_CHECK(parts.size() == tensors.size(), Value,
             "[{}] equation: expected as many operands as tensors, {}, got {}",
             kOp, tensors.size(), parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      operands_.push_back(expanded(parse_labels(parts[i]), tensors[i]));
    }
    for (std::vector<int>& labels : operands_) fill_ellipsis(&labels);
    for (const auto& labels : operands_) {
      for (const int l : labels) ++uses(l);
    }
    if (arrow == std::string_view::npos) {
      for (int64_t k = 0; k < ellipsis_; ++k)
        result_.push_back(kEllipsis + static_cast<int>(k));
      for (int l = 0; l < kEllipsis; ++l) {
        // Capitals come first.
        if (uses(l) == 1) result_.push_back(l);
      }
    } else {
      given_result(text.substr(arrow + 2));
    }
    place_labels();
  }

  int64_t dims() const { return dims_; }
  int64_t result_dims() const { return static_cast<int64_t>(result_.size()); }

  // Operand i with all labels as dims, those of the result first.
  Tensor aligned(size_t i, Tensor t) const {
    std::vector<int> labels = operands_[i];
    for (size_t k = 0; k < labels.size(); ++k) {
      for (size_t later = labels.size(); later-- > k + 1;) {
        if (labels[later] != labels[k]) continue;
        const auto a = static_cast<int64_t>(k), b = static_cast<int64_t>(later);
        SY_CHECK(t.size(a) == t.size(b), Value,
                 "[{}] equation: expected equal sizes where a letter is "
                 "repeated, got {} and {}",
                 kOp, t.size(a), t.size(b));
        t = t.diagonal(0, a, b).movedim(-1, a);
        labels.erase(labels.begin() + b);
      }
    }
    Dims order;
    for (int64_t p = 0; p < dims_; ++p) {
      for (size_t k = 0; k < labels.size(); ++k) {
        if (place(labels[k]) == p) order.push_back(static_cast<int64_t>(k));
      }
    }
    t = t.permute(order);
    for (int64_t p = 0; p < dims_; ++p) {
      if (!has(labels, p)) t = t.unsqueeze(p);
    }
    return t;
  }

 private:
  // An ellipsis is replaced once its number of dims is known for all.
  std::vector<int> expanded(std::vector<int> labels, const Tensor& t) {
    int64_t own = 0, dots = 0;
    for (const int l : labels) (l < 0 ? dots : own) += 1;
    const int64_t rest = t.dim() - own;
    SY_CHECK(dots == 1 ? rest >= 0 : rest == 0, Value,
             "[{}] equation: expected a letter for each dim of the operand, "
             "{}, got {}",
             kOp, t.dim(), own);
    if (dots == 1) ellipsis_ = std::max(ellipsis_, rest);
    missing_.push_back(rest);
    return labels;
  }

  void fill_ellipsis(std::vector<int>* labels) {
    const int64_t n = missing_[static_cast<size_t>(labels - operands_.data())];
    std::vector<int> all;
    for (const int l : *labels) {
      if (l >= 0) {
        all.push_back(l);
        continue;
      }
      for (int64_t k = ellipsis_ - n; k < ellipsis_; ++k) {
        all.push_back(kEllipsis + static_cast<int>(k));
      }
    }
    *labels = std::move(all);
  }

  void given_result(std::string_view text) {
    for (const int l : parse_labels(text)) {
      if (l < 0) {
        for (int64_t k = 0; k < ellipsis_; ++k) {
          result_.push_back(kEllipsis + static_cast<int>(k));
        }
        continue;
      }
      SY_CHECK(uses(l) > 0, Value,
               "[{}] equation: expected letters of the operands in the result, "
               "got '{}'",
               kOp, text);
      for (const int earlier : result_) {
        SY_CHECK(
            earlier != l, Value,
            "[{}] equation: expected a letter once in the result, got '{}'",
            kOp, text);
      }
      result_.push_back(l);
    }
  }

  void place_labels() {
    places_.assign(uses_.size(), -1);
    for (const int l : result_) place(l) = dims_++;
    for (const auto& labels : operands_) {
      for (const int l : labels) {
        if (place(l) < 0) place(l) = dims_++;
      }
    }
  }

  bool has(const std::vector<int>& labels, int64_t p) const {
    for (const int l : labels) {
      if (place(l) == p) return true;
    }
    return false;
  }
  int& uses(int l) {
    const auto at = static_cast<size_t>(l);
    if (uses_.size() <= at) uses_.resize(at + 1);
    return uses_[at];
  }
  int64_t& place(int l) {
    const auto at = static_cast<size_t>(l);
    if (places_.size() <= at) places_.resize(at + 1, -1);
    return places_[at];
  }
  int64_t place(int l) const { return places_[static_cast<size_t>(l)]; }

  std::vector<std::vector<int>> operands_;
  std::vector<int64_t> missing_;
  std::vector<int> result_, uses_;
  std::vector<int64_t> places_;
  int64_t ellipsis_ = 0, dims_ = 0;
};

// The two operands that are next: the first two, or as path says.
class Path {
 public:
  Path(OptionalIntArrayRef path, size_t operands) : path_(path) {
    const size_t expected = operands == 1 ? 2 : 2 * (operands - 1);
    SY_CHECK(!path || path->size() == expected ||
                 (operands == 1 && path->size() == 1),
             Value, "[{}] path: expected {} positions, got {}", kOp, expected,
             path->size());
  }
  // Two different positions below n, the lower one first.
  std::pair<size_t, size_t> next(size_t n) {
    if (!path_) return {0, 1};
    const int64_t a = (*path_)[at_], b = (*path_)[at_ + 1];
    at_ += 2;
    const auto most = static_cast<int64_t>(n);
    SY_CHECK(a >= 0 && b >= 0 && a < most && b < most && a != b, Value,
             "[{}] path: expected two positions from 0 to {}, got {} and {}",
             kOp, most - 1, a, b);
    return {static_cast<size_t>(std::min(a, b)),
            static_cast<size_t>(std::max(a, b))};
  }

 private:
  OptionalIntArrayRef path_;
  size_t at_ = 0;
};

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors,
              OptionalIntArrayRef path) {
  const Equation e(equation, tensors);
  Path order(path, tensors.size());
  std::vector<Tensor> left;
  for (size_t i = 0; i < tensors.size(); ++i) {
    left.push_back(e.aligned(i, tensors[i]));
  }
  const auto size_of = [&](int64_t d) {
    int64_t size = 1;
    for (const Tensor& t : left) {
      if (t.size(d) == 1) continue;
      SY_CHECK(size == 1 || size == t.size(d), Value,
               "[{}] tensors: expected sizes that broadcast, got {} and {}",
               kOp, size, t.size(d));
      size = t.size(d);
    }
    return size;
  };
  for (int64_t d = 0; d < e.dims(); ++d) size_of(d);
  while (left.size() > 1) {
    const auto [i, j] = order.next(left.size());
    const Tensor a = left[i], b = left[j];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(j));
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    Dims sum;  // what nobody else needs
    for (int64_t d = e.result_dims(); d < e.dims(); ++d) {
      if (size_of(d) == 1) sum.push_back(d);
    }
    left.push_back(contract("einsum", a, b, sum));
  }
  Tensor result = left[0];
  Dims rest;
  for (int64_t d = e.dims(); d-- > e.result_dims();) {
    if (result.size(d) == 1) {
      result = result.squeeze(d);
    } else {
      rest.push_back(d);
    }
  }
  return rest.empty() ? result : result.sum(rest, false, result.dtype());
}

}  // namespace sy::composite
