#include "tools/sy/facts/curves.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "aten/tensor_new.h"
#include "autograd/api.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/facts/text.h"

namespace sy::tools {

namespace {

constexpr int kPoints = 121;
constexpr double kFirst = -4, kLast = 4;  // x, if y is small
constexpr double kTall = 10;              // y beyond it is cut off at the ends
constexpr double kNarrow = 1;             // too little of x

// Rounds to five digits.
double rounded(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", v);
  return std::strtod(text, nullptr) + 0.0;
}

std::vector<double> between(double first, double last) {
  std::vector<double> out;
  for (int i = 0; i < kPoints; ++i) {
    out.push_back(rounded(first + (last - first) * i / (kPoints - 1)));
  }
  return out;
}

struct Line {
  std::string label;
  std::vector<double> x, y, dy;
};

Json list_of(const std::vector<double>& numbers) {
  Json out = Json::array();
  for (const double v : numbers) {
    out.push_back(std::isfinite(v) ? Json(rounded(v)) : Json());
  }
  return out;
}

bool is_plain_tensor(const Argument& a) { return a.type == TypeKind::kTensor; }

bool is_number(const Argument& a) {
  const Type t = a.type.without_optional();
  return t == TypeKind::kScalar || t == TypeKind::kFloat ||
         t == TypeKind::kInt || t == TypeKind::kSymInt;
}

using Settings = std::vector<std::pair<size_t, Value>>;
struct Setting {
  std::string label;
  Settings values;
};

class Sampler {
 public:
  Sampler(OperatorHandle op, const std::string& words)
      : op_(op), values_(parse_arguments(op, words)) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Argument& a = op.schema().arguments()[i];
      if (!a.type.is_tensor_like()) continue;
      if (is_plain_tensor(a)) {
        tensors_.push_back(i);
        fits_ &= values_[i].is_tensor() &&
                 is_floating_type(values_[i].to_tensor().dtype());
      } else {
        fits_ &= values_[i].is_none();
      }
    }
    fits_ &= tensors_.size() == 1 || tensors_.size() == 2;
    fits_ &= !op.schema().returns().empty() &&
             op.schema().returns()[0].type == TypeKind::kTensor;
  }

  bool fits() const { return fits_; }
  bool is_binary() const { return tensors_.size() == 2; }
  std::string axis() const { return name(tensors_[0]); }

  // Throws Error. `slopes`: dy too, where there is a gradient.
  Line sample(const std::vector<double>& x, const Setting& setting,
              bool slopes) const {
    Line out{setting.label, x, {}, {}};
    const Tensor self =
        sy::tensor(x, TensorOptions().dtype(kDouble)).requires_grad_(slopes);
    const Tensor y = call(self, setting);
    SY_CHECK(y.sizes() == self.sizes() && is_floating_type(y.dtype()), Value,
             "not a number for each number");
    out.y = elements_of(y);
    if (!slopes || !y.requires_grad()) return out;
    try {
      const auto g = autograd::grad({y.sum()}, {self}, {}, std::nullopt, false,
                                    /*allow_unused=*/true);
      if (g[0].defined()) out.dy = elements_of(g[0]);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      // There is no derivative.
    }
    return out;
  }

  // Whether there is a number for each number, whatever is beside it.
  bool is_pointwise() const {
    const std::vector<double> x = {0.25, 0.75, 0.5};
    try {
      const Line all = sample(x, {}, false);
      for (size_t i = 0; i < x.size(); ++i) {
        const double alone = sample({x[i]}, {}, false).y[0];
        if (std::abs(alone - all.y[i]) > 1e-12) return false;
      }
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  // Settings of the arguments beside the axis, the default first.
  std::vector<Setting> settings() const {
    const int low = named({"min", "min_val", "lower"});
    const int high = named({"max", "max_val", "upper"});
    if (low >= 0 && high >= 0) {
      std::vector<Setting> out;
      for (const auto& [a, b] : {std::pair(-1, 1), {0, 2}, {-2, 3}}) {
        const auto l = static_cast<size_t>(low), h = static_cast<size_t>(high);
        out.push_back({str("{}={}, {}={}", name(l), a, name(h), b),
                       {{l, Value(a)}, {h, Value(b)}}});
      }
      return out;
    }
    const int words = named({"approximate"});
    if (words >= 0) {
      const auto w = static_cast<size_t>(words);
      return {{"approximate=none", {}},
              {"approximate=tanh", {{w, Value("tanh")}}}};
    }
    if (is_binary()) {
      std::vector<Setting> out;
      for (const double v : {1.0, 0.5, 2.0}) {
        out.push_back({str("{}={}", name(tensors_[1]), short_text(v)),
                       {{tensors_[1], Value(v)}}});
      }
      return out;
    }
    for (size_t i = 0; i < values_.size(); ++i) {
      const Argument& a = op_.schema().arguments()[i];
      if (!is_number(a)) continue;
      std::vector<Setting> out;
      for (const Value& v : choices(a, values_[i])) {
        out.push_back(
            {str("{}={}", name(i), short_text(v.to_double())), {{i, v}}});
      }
      const bool several = makes_a_difference(out);
      if (several || (!out.empty() && !a.default_value)) return out;
    }
    return {{"", {}}};
  }

 private:
  std::string name(size_t i) const {
    return std::string(op_.schema().arguments()[i].name.view());
  }

  int named(std::initializer_list<std::string_view> names) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Argument& a = op_.schema().arguments()[i];
      if (a.type.is_tensor_like()) continue;
      for (const std::string_view n : names) {
        if (a.name.view() == n) return static_cast<int>(i);
      }
    }
    return -1;
  }

  static std::string short_text(double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", v);
    return text;
  }

  // The values of a number: the default or the example's, then others around
  // it.
  static std::vector<Value> choices(const Argument& a, const Value& given) {
    const Type t = a.type.without_optional();
    if (t == TypeKind::kInt || t == TypeKind::kSymInt || a.name.view() == "n") {
      if (a.default_value && given.is_int() && given.to_int() == 0) {
        return {Value(0), Value(1)};
      }
      return {Value(1), Value(2), Value(3)};
    }
    if (!a.default_value) {
      const bool power = a.name.view() == "exponent";
      return {Value(power ? 2.0 : 1.0), Value(0.5), Value(power ? 3.0 : 2.0)};
    }
    const double d = given.is_none() ? 1 : given.to_double();
    const Value own = given.is_none() ? Value() : Value(d);
    std::vector<Value> out;
    if (!given.is_none()) out.push_back(own);
    if (d == 0) {
      out.insert(out.end(), {Value(0.5), Value(1.0)});
    } else if (std::abs(d) < 0.1) {
      out.insert(out.end(), {Value(0.1), Value(0.3)});
    } else {
      out.insert(out.end(), {Value(d / 2), Value(d * 2)});
    }
    return out;
  }

  bool makes_a_difference(std::vector<Setting>& settings) const {
    std::vector<std::vector<double>> seen;
    const std::vector<double> x = {-3.3, -2.1, -1.2, -0.4, 0.3, 0.6, 1.3, 3.1};
    std::vector<Setting> good;
    for (Setting& s : settings) {
      std::vector<double> y;
      try {
        y = sample(x, s, false).y;
      } catch (const InternalError&) {
        throw;
      } catch (const Error&) {
        continue;
      }
      for (double& v : y) v = std::isfinite(v) ? v : 0;
      if (std::find(seen.begin(), seen.end(), y) != seen.end()) continue;
      seen.push_back(y);
      good.push_back(std::move(s));
    }
    settings = std::move(good);
    return settings.size() > 1;
  }

  Tensor call(const Tensor& self, const Setting& setting) const {
    std::vector<Value> in = values_;
    in[tensors_[0]] = Value(self);
    for (const auto& [i, v] : setting.values) {
      in[i] = is_binary() && i == tensors_[1]
                  ? Value(sy::full(self.sizes(), v.to_double(),
                                   TensorOptions().dtype(kDouble)))
                  : v;
    }
    if (is_binary() && setting.values.empty()) {
      in[tensors_[1]] = Value(sy::ones_like(self.detach()));
    }
    return Tensor(call_with(op_, std::move(in))[0].to_tensor());
  }

  OperatorHandle op_;
  std::vector<Value> values_;
  std::vector<size_t> tensors_;
  bool fits_ = true;
};

// The last x with a finite value between `in`, which has one, and `out`, which
// has not; or an x close to it if the value grows without end.
double last_finite(const Sampler& sampler, const Setting& setting, double in,
                   double out) {
  const auto finite = [&](double x) {
    return std::isfinite(sampler.sample({x}, setting, false).y[0]);
  };
  double a = in, b = out;
  for (int i = 0; i < 40; ++i) {
    const double middle = (a + b) / 2;
    (finite(middle) ? a : b) = middle;
  }
  const double end = std::round(b * 1e4) / 1e4 + 0.0;
  return finite(end) ? end : a + (in - out) * 0.1;
}

using Domain = std::pair<double, double>;

// The domain where y is finite and not too tall, wholly or in parts.
std::optional<Domain> domain_of(const Sampler& sampler,
                                const Setting& setting) {
  const Line line = sampler.sample(between(kFirst, kLast), setting, false);
  const auto shown = [&](size_t i) {
    return std::isfinite(line.y[i]) && std::abs(line.y[i]) <= kTall;
  };
  size_t first = 0, last = line.y.size();
  while (first < last && !shown(first)) ++first;
  while (last > first && !shown(last - 1)) --last;
  if (last - first < 4) return std::nullopt;
  const auto end = [&](size_t i, size_t next) {
    if (next >= line.y.size() || std::isfinite(line.y[next])) return line.x[i];
    return last_finite(sampler, setting, line.x[i], line.x[next]);
  };
  return Domain(end(first, first - 1), end(last - 1, last));
}

bool is_straight(const Line& l) {
  for (size_t i = 2; i < l.y.size(); ++i) {
    const double before = (l.y[i - 1] - l.y[i - 2]) / (l.x[i - 1] - l.x[i - 2]);
    const double behind = (l.y[i] - l.y[i - 1]) / (l.x[i] - l.x[i - 1]);
    if (!(std::abs(behind - before) < 1e-6)) return false;
  }
  return true;
}

bool is_identity(const Line& l) {
  for (size_t i = 0; i < l.x.size(); ++i) {
    if (!(std::abs(l.x[i] - l.y[i]) < 5e-3)) return false;
  }
  return true;
}

bool is_constant(const Line& l) {
  const auto all = std::minmax_element(l.y.begin(), l.y.end());
  return *all.first == *all.second;
}

// The lines in the domain that all share, if it is not too narrow to show them.
std::vector<Line> lines_of(const Sampler& sampler) {
  Domain common(kFirst, kLast), all(kLast, kFirst);
  std::vector<Setting> good;
  for (Setting& s : sampler.settings()) {
    try {
      const auto domain = domain_of(sampler, s);
      if (!domain) continue;
      common = {std::max(common.first, domain->first),
                std::min(common.second, domain->second)};
      all = {std::min(all.first, domain->first),
             std::max(all.second, domain->second)};
      good.push_back(std::move(s));
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      // The operator does not take the number.
    }
  }
  if (common.second - common.first < kNarrow) common = all;
  std::vector<Line> out;
  for (const Setting& s : good) {
    out.push_back(
        sampler.sample(between(common.first, common.second), s, true));
  }
  return out;
}

}  // namespace

Json curves_of(OperatorHandle op, const std::string& words) {
  if (!op.schema().is_functional() ||
      op.entry().has_flag(OperatorDef::kRandom) ||
      op.name().find("backward") != op.name().npos) {
    return {};
  }
  const Sampler sampler(op, words);
  if (!sampler.fits()) return {};
  const OperatorInfo* const info = op.entry().info();
  const bool pointwise =
      info != nullptr && info->kind == OperatorInfo::kPointwise;
  const bool other = info == nullptr ||
                     info->kind == OperatorInfo::kComposite ||
                     info->kind == OperatorInfo::kDispatch;
  if (!pointwise && !(other && sampler.is_pointwise())) return {};
  std::vector<Line> lines = lines_of(sampler);
  const auto all = [&](bool (*is)(const Line&)) {
    return std::all_of(lines.begin(), lines.end(), is);
  };
  if (all(is_constant) || all(is_identity)) return {};
  if ((sampler.is_binary() || lines.size() > 1) && all(is_straight)) return {};
  Json out = {{"axis", sampler.axis()}, {"lines", Json::array()}};
  for (const Line& l : lines) {
    out["lines"].push_back({{"label", l.label},
                            {"x", list_of(l.x)},
                            {"y", list_of(l.y)},
                            {"dy", list_of(l.dy)}});
  }
  return out;
}

}  // namespace sy::tools
