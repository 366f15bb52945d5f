#include "tools/sy/device/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/backend/node.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/cases/values.h"

namespace sy::tools {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Rounding {
  double ulps;     // relative: what two right results may differ by
  double one;      // one rounding of the dtype that is computed in
  double measure;  // the change of the arguments that shows the condition
  double least;    // of normal numbers: a device may take others for zero
  double most;
};

// Short dtypes are computed in float32 and rounded once, at the end.
Rounding rounding_of(ScalarType dtype) {
  switch (dtype) {
    // A change of one rounding would be lost in those of float64 itself.
    case kDouble:
      return {0x1p-48, 0x1p-53, 0x1p-30, 0x1p-1022,
              std::numeric_limits<double>::max()};
    case kFloat:
      return {0x1p-20, 0x1p-24, 0x1p-24, 0x1p-126,
              double{std::numeric_limits<float>::max()}};
    case kHalf: return {0x1p-10, 0x1p-24, 0x1p-24, 0x1p-14, 65504};
    default: return {0x1p-7, 0x1p-24, 0x1p-24, 0x1p-126, 0x1.fep127};
  }
}

// Every element by one rounding: away from zero, up, or at random.
Tensor nudged(const Tensor& t, double rounding, int kind) {
  const Tensor out = t.to(kDouble).contiguous().clone();
  auto* const data = out.data_ptr<double>();
  uint32_t seed = static_cast<uint32_t>(kind);
  for (int64_t i = 0; i < out.numel(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    const bool down = kind == 2 ? data[i] < 0 : kind > 2 && seed >> 31 != 0;
    data[i] *= 1 + (down ? -rounding : rounding);
  }
  return out;
}

// Infinite where a rounding decides whether there is a number at all.
double change(double from, double to) {
  if (from == to || (from != from && to != to)) return 0;
  return std::isfinite(from) && std::isfinite(to) ? std::abs(to - from) : kInf;
}

// The number of elements that a result may be made of.
double terms_of(OperatorHandle op, const Arguments& in) {
  const NodeDesc* const node = node_desc(op.entry());
  if (node != nullptr && node->pointwise != nullptr) return 1;
  return static_cast<double>(in.most_elements());
}

bool near_enough(double actual, double expected, double bound, double most) {
  if (bound == kInf || actual == expected) return true;
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual);
  }
  // One of two numbers beside the largest one may be infinite.
  const double a = std::clamp(actual, -most, most);
  const double e = std::clamp(expected, -most, most);
  const bool infinite = std::isinf(actual) || std::isinf(expected);
  if (infinite && a != actual && e != expected) return false;
  return std::abs(a - e) <= bound;
}

}  // namespace

// Computes in float64, with arguments changed by a rounding (kind 0: not).
Bounds::Elements Bounds::compute(double rounding, int kind) const {
  Arguments in = arguments_();
  change_tensors(
      op_.schema(),
      [&](const Tensor& t) {
        if (!is_floating_type(t.scalar_type())) return t;
        return kind == 0 ? t.to(kDouble) : nudged(t, rounding, kind);
      },
      in);
  std::vector<Value> values(op_.schema().returns().size());
  op_.call_boxed(in.values.data(), in.values.size(), values.data(),
                 values.size());
  values.insert(values.end(), in.values.begin(), in.values.end());
  Elements out;
  for (const Value& v : values) {
    out.emplace_back();
    for_each_tensor(v, [&](const TensorBase& t) {
      out.back().push_back(elements_of(Tensor(t)));
    });
  }
  return out;
}

void Bounds::measure(ScalarType dtype) {
  measured_ = dtype;
  condition_.clear();
  const Rounding r = rounding_of(dtype);
  constexpr int kKinds = 4;
  try {
    const Elements exact = compute(0, 0);
    Elements most = exact;
    for (auto& value : most) {
      for (auto& tensor : value) tensor.assign(tensor.size(), 0);
    }
    for (int kind = 1; kind <= kKinds; ++kind) {
      const Elements now = compute(r.measure, kind);
      for (size_t k = 0; k < exact.size(); ++k) {
        for (size_t j = 0; j < exact[k].size(); ++j) {
          for (size_t i = 0; i < exact[k][j].size(); ++i) {
            most[k][j][i] = std::max(
                most[k][j][i], change(exact[k][j][i], now.at(k).at(j).at(i)) *
                                   (r.one / r.measure));
          }
        }
      }
    }
    condition_ = std::move(most);
  } catch (const Error&) {
    // The operator does not take float64: a result may differ by the roundings
    // of its dtype alone.
  }
}

std::string Bounds::compare(size_t k, size_t j, const TensorBase& actual,
                            const TensorBase& expected) {
  const ScalarType dtype = expected.dtype();
  const HostTensor got = read_tensor(actual), want = read_tensor(expected);
  if (!is_floating_type(dtype)) return compare_tensor(got, want, {0, 0});
  const Rounding r = rounding_of(dtype);
  const std::string why = compare_tensor(got, want, {r.ulps, r.least});
  if (why.empty() || got.sizes != want.sizes || got.dtype != dtype) return why;
  if (measured_ != dtype) measure(dtype);
  if (condition_.size() <= k || condition_[k].size() <= j) return why;
  const std::vector<double>& condition = condition_[k][j];
  const double count = 8 + 4 * std::sqrt(terms_of(op_, arguments_()));
  const auto from = element_indices(got.sizes, got.strides, got.offset);
  const auto to = element_indices(want.sizes, want.strides, want.offset);
  if (condition.size() != to.size()) return why;
  for (size_t i = 0; i < to.size(); ++i) {
    const double e = element_value(want, to[i]);
    const double scale = std::isfinite(e) ? std::abs(e) : r.most;
    const double bound = r.ulps * scale + r.least + count * condition[i];
    if (!near_enough(element_value(got, from[i]), e, bound, r.most)) {
      return str("{}; the bound of element {} is {}", why, i, bound);
    }
  }
  return "";
}

}  // namespace sy::tools
