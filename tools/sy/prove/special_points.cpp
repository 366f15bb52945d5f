#include "tools/sy/prove/special_points.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/prove/derivative_line.h"
#include "tools/sy/prove/slopes.h"
#include "tools/sy/prove/varied_values.h"

namespace sy::tools {

namespace {

constexpr size_t kShown = 3;

// Values in place of the n elements of an input.
struct Point {
  const char* name;
  double (*element)(double example, int64_t i, int64_t n);
};

// The first are points where results mostly have one slope.
constexpr Point kPoints[] = {
    {"example", [](double e, int64_t, int64_t) { return e; }},
    {"signed",
     [](double, int64_t i, int64_t) { return 4 * direction(3 * i + 5) - 0.1; }},
    {"far", [](double e, int64_t, int64_t) { return e * 60; }},
    {"far below", [](double e, int64_t, int64_t) { return e * -60; }},
    {"steps", [](double, int64_t i,
                 int64_t) { return std::floor(9 * direction(5 * i + 2)) / 2; }},
    {"zeros", [](double, int64_t, int64_t) { return 0.0; }},
    {"one zero", [](double e, int64_t i, int64_t) { return i == 0 ? 0.0 : e; }},
    {"two zeros", [](double e, int64_t i,
                     int64_t n) { return i == 0 || i == n - 1 ? 0.0 : e; }},
    {"ties", [](double, int64_t, int64_t) { return 0.5; }},
    {"ones", [](double, int64_t, int64_t) { return 1.0; }},
    {"minus ones", [](double, int64_t, int64_t) { return -1.0; }},
    {"tiny", [](double e, int64_t, int64_t) { return e * 1e-200; }},
    {"huge", [](double e, int64_t, int64_t) { return e * 1e4; }},
};
constexpr size_t kPlain = 4;  // of them for calls with other values

// The numbers at which results may have kinks: those of the arguments and of
// the schema, and the latter with the other sign.
Numbers numbers_of(const std::vector<Value>& args, const Hints& hints) {
  Numbers out;
  for (const Value& v : args) {
    if (v.tag() == Value::Tag::Double) out.push_back(v.to_double());
  }
  for (const double x : hints.numbers) out.insert(out.end(), {x, -x});
  std::erase_if(out, [](double x) { return !std::isfinite(x); });
  return out;
}

std::vector<Numbers> at_point(const Inputs& inputs, const Point& point,
                              size_t only) {
  std::vector<Numbers> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Numbers at = elements_of(inputs.example(i));
    const auto n = static_cast<int64_t>(at.size());
    for (int64_t e = 0; e < n; ++e) {
      double& x = at[static_cast<size_t>(e)];
      if (only == inputs.size() || only == i) x = point.element(x, e, n);
    }
    out.push_back(std::move(at));
  }
  return out;
}

// Elements at the numbers from the one called `first` on, or to one side of
// each and then to the other.
std::vector<Numbers> at_numbers(const Inputs& inputs, const Numbers& numbers,
                                double aside, size_t first) {
  std::vector<Numbers> out;
  size_t k = first;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Numbers at = elements_of(inputs.example(i));
    for (double& x : at) {
      const double side = k % 2 == 0 ? aside : -aside;
      x = numbers[k / 2 % numbers.size()] + side;
      ++k;
    }
    out.push_back(std::move(at));
  }
  return out;
}

// The results there; nothing if these are no arguments of the operator, or
// there is nothing to differentiate.
std::optional<Called> called(const Inputs& inputs, const Line& line) {
  try {
    const Called c = call_along(inputs, line);
    if (c.elements > 0) return c;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
  }
  return {};
}

// Whether results are not finite somewhere where those of `usual` are.
bool is_outside(const Inputs& inputs, const Inputs& usual) {
  for (const Point& p : kPoints) {
    const auto at = at_point(inputs, p, inputs.size());
    const auto before = called(usual, line_through(usual, at));
    const auto now = called(inputs, line_through(inputs, at));
    if (before && before->finite && now && !now->finite) return true;
  }
  return false;
}

class Points {
 public:
  // `usual`: the same operator with its example's values, or null.
  Points(const Inputs& inputs, const Inputs* usual, int orders,
         PointsReport* report)
      : inputs_(inputs), usual_(usual), orders_(orders), report_(report) {}

  void at(const std::string& name, const std::vector<Numbers>& elements) {
    const Line line = line_through(inputs_, elements);
    if (!called(inputs_, line)) return;
    const std::string why = problem(line);
    ++report_->tried;
    if (why.empty() || ++report_->found > kShown) return;
    report_->problems += str("  points, {}: {}\n", name, why);
  }

  // Tries all inputs at the point, then each alone.
  void at(const std::string& prefix, const Point& point, bool each) {
    const size_t n = inputs_.size();
    at(prefix + point.name, at_point(inputs_, point, n));
    for (size_t i = 0; each && n > 1 && i < n; ++i) {
      at(str("{}{} in {}", prefix, point.name, inputs_.name(i)),
         at_point(inputs_, point, i));
    }
  }

  void beside(const std::string& prefix, const Numbers& numbers) {
    if (numbers.empty() || inputs_.size() == 0) return;
    size_t elements = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      elements += static_cast<size_t>(inputs_.example(i).numel());
    }
    if (elements == 0) return;
    // Two numbers may be equal, as the ends of an interval. Then what holds at
    // each may not be what holds at both.
    const std::set<double> different(numbers.begin(), numbers.end());
    const bool at_each = different.size() == numbers.size();
    for (size_t k = 0; k < 2 * numbers.size(); k += elements) {
      if (at_each) {
        at(prefix + "at the numbers", at_numbers(inputs_, numbers, 0, k));
      }
      for (const double aside : {0.1, 1e-3}) {
        at(prefix + "beside the numbers",
           at_numbers(inputs_, numbers, aside, k));
      }
    }
  }

 private:
  std::string problem(const Line& line) {
    try {
      if (orders_ == 0) return constant_problem(inputs_, line);
      LineProblem p = graph_problem(inputs_, line);
      if (p.text.empty()) p = line_problem(inputs_, line, orders_);
      return is_beside_the_point(p.nan) ? "" : p.text;
    } catch (const NotImplementedError&) {
      return "";  // another trial says so
    } catch (const Error& e) {
      return str("the gradient throws {}", e.message());
    }
  }

  // A NaN with a value that is not the example's, where that value takes away
  // what keeps kinks out (eps = 0), or is none that the operator is for.
  bool is_beside_the_point(Nan nan) {
    if (usual_ == nullptr || nan == Nan::kNone) return false;
    if (nan == Nan::kKink) return true;
    if (!outside_) outside_ = tools::is_outside(inputs_, *usual_);
    return *outside_;
  }

  const Inputs& inputs_;
  const Inputs* usual_;
  int orders_;
  PointsReport* report_;
  std::optional<bool> outside_;
};

void end(PointsReport& report) {
  if (report.found <= kShown) return;
  report.problems += str("  points: and {} more\n", report.found - kShown);
}

}  // namespace

PointsReport prove_points(OperatorHandle op, const std::vector<Value>& args,
                          const Hints& hints, int orders) {
  const Inputs inputs(op, args);
  PointsReport report;
  Points points(inputs, nullptr, orders, &report);
  for (const Point& p : kPoints) points.at("", p, true);
  points.beside("", numbers_of(args, hints));
  end(report);
  return report;
}

PointsReport prove_values(OperatorHandle op, const std::vector<Value>& args,
                          const Hints& hints, int orders) {
  const Inputs usual(op, args);
  PointsReport report;
  for (const OtherValue& other : other_values(op, args, hints)) {
    const Inputs inputs(op, other.args);
    Points points(inputs, &usual, orders, &report);
    const std::string prefix = other.id + ", ";
    for (size_t i = 0; i < kPlain; ++i) points.at(prefix, kPoints[i], false);
    points.beside(prefix, numbers_of(other.args, {}));
  }
  end(report);
  return report;
}

}  // namespace sy::tools
