#include "tools/sy/special_points.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "c10/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/derivative_line.h"
#include "tools/sy/varied_values.h"

namespace sy::tools {

namespace {

constexpr size_t kShown = 3;

// What is put in place of the n elements of an input.
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

// The numbers among the arguments, at which results may have kinks.
Numbers numbers_of(const std::vector<Value>& args) {
  Numbers out;
  for (const Value& v : args) {
    if (v.tag() == Value::Tag::Double) out.push_back(v.to_double());
  }
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

// Elements at the numbers, and beside them.
std::vector<Numbers> at_numbers(const Inputs& inputs, const Numbers& numbers,
                                double aside) {
  std::vector<Numbers> out;
  size_t k = 0;
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

class Points {
 public:
  Points(const Inputs& inputs, int orders, PointsReport* report)
      : inputs_(inputs), orders_(orders), report_(report) {}

  void at(const std::string& name, const std::vector<Numbers>& elements) {
    const Line line = line_through(inputs_, elements);
    if (!is_taken(line)) return;
    const std::string why = problem(line);
    ++report_->tried;
    if (why.empty() || ++report_->found > kShown) return;
    report_->problems += str("  points, {}: {}\n", name, why);
  }

  // All inputs at the point, then each alone.
  void at(const std::string& prefix, const Point& point, bool each) {
    const size_t n = inputs_.size();
    at(prefix + point.name, at_point(inputs_, point, n));
    for (size_t i = 0; each && n > 1 && i < n; ++i) {
      at(str("{}{} in {}", prefix, point.name, inputs_.name(i)),
         at_point(inputs_, point, i));
    }
  }

 private:
  // Whether these are arguments of the operator.
  bool is_taken(const Line& line) const {
    try {
      call_along(inputs_, line);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  std::string problem(const Line& line) const {
    try {
      if (orders_ == 0) return constant_problem(inputs_, line);
      const std::string why = graph_problem(inputs_, line);
      return why.empty() ? line_problem(inputs_, line, orders_) : why;
    } catch (const NotImplementedError&) {
      return "";  // another trial says so
    } catch (const Error& e) {
      return str("the gradient throws {}", e.message());
    }
  }

  const Inputs& inputs_;
  int orders_;
  PointsReport* report_;
};

void beside_numbers(const Inputs& inputs, const std::vector<Value>& args,
                    const std::string& prefix, Points& points) {
  const Numbers numbers = numbers_of(args);
  if (numbers.empty()) return;
  // Where two are one, as the ends of an interval, what holds at each may not
  // be what holds at both.
  const std::set<double> different(numbers.begin(), numbers.end());
  if (different.size() == numbers.size()) {
    points.at(prefix + "at the numbers", at_numbers(inputs, numbers, 0));
  }
  points.at(prefix + "beside the numbers", at_numbers(inputs, numbers, 0.1));
}

}  // namespace

PointsReport prove_points(OperatorHandle op, const std::vector<Value>& args,
                          int orders) {
  const Inputs inputs(op, args);
  PointsReport report;
  Points points(inputs, orders, &report);
  for (const Point& p : kPoints) points.at("", p, true);
  beside_numbers(inputs, args, "", points);
  if (report.found > kShown) {
    report.problems += str("  points: and {} more\n", report.found - kShown);
  }
  return report;
}

PointsReport prove_values(OperatorHandle op, const std::vector<Value>& args,
                          const std::vector<std::string>& texts, int orders) {
  PointsReport report;
  for (const OtherValue& other : other_values(op, args, texts)) {
    const Inputs inputs(op, other.args);
    Points points(inputs, orders, &report);
    for (size_t i = 0; i < kPlain; ++i) {
      points.at(other.id + ", ", kPoints[i], false);
    }
    beside_numbers(inputs, other.args, other.id + ", ", points);
  }
  if (report.found > kShown) {
    report.problems += str("  points: and {} more\n", report.found - kShown);
  }
  return report;
}

}  // namespace sy::tools
