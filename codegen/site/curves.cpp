#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "codegen/site/curve_lines.h"
#include "codegen/site/pictures.h"
#include "codegen/site/svg.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

constexpr double kHeight = 300, kTop = 12, kBottom = 34;

// "-1.5", with the minus of mathematics.
std::string tick_text(double v) {
  std::string out = fmt::format("{:.6g}", std::abs(v) < 1e-12 ? 0 : v);
  if (out.starts_with('-')) out.replace(0, 1, "\u2212");
  return out;
}

double tenth(double v) { return std::round(10 * v) / 10; }

// "beta=0.5" before "beta=1": the colours go with the numbers.
std::vector<Curve> sorted(std::vector<Curve> curves) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::string& label = curves[k].label;
    const std::string text = label.substr(label.find('=') + 1);
    char* end = nullptr;
    const double v = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') return curves;
    order.emplace_back(v, k);
  }
  std::sort(order.begin(), order.end());
  std::vector<Curve> out;
  for (const auto& [v, k] : order) out.push_back(std::move(curves[k]));
  return out;
}

struct Line {
  std::string label;
  std::string colour;
  bool is_derivative = false;
  Parts parts;
};

class Picture {
 public:
  Picture(const std::string& name, const OperatorFacts& facts)
      : name_(name), axis_(facts.axis), window_(window_of(facts.curves)) {
    const std::vector<Curve> curves = sorted(facts.curves);
    for (const Curve& c : curves) {
      add(c, c.y, c.dy, colour(solid_++, curves.size()), false);
    }
    for (std::size_t k = 0; k < curves.size(); ++k) {
      const Curve& c = curves[k];
      if (c.dy.empty()) continue;
      has_derivative_ = true;
      const bool single = curves.size() == 1;
      add(c, c.dy, {},
          single ? std::string(ink::kAccent2) : colour(k, curves.size()), true);
    }
  }

  std::string draw() {
    place_labels();
    Svg svg(kHeight + legend_rows_ * 18, "curves", title());
    top_ += legend_rows_ * 18;
    if (legend_rows_ > 0) legend(svg);
    axes(svg);
    for (const Line& l : lines_) poles(svg, l);
    svg.open(
        "fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
    for (const Line& l : lines_) draw(svg, l);
    svg.close();
    if (legend_rows_ == 0) end_labels(svg);
    return svg.finish();
  }

 private:
  // Colour k of n, between the first colour of the page and the second.
  static std::string colour(std::size_t k, std::size_t n) {
    if (k == 0 || n < 2) return std::string(ink::kAccent);
    if (k + 1 == n) return std::string(ink::kAccent2);
    return fmt::format("color-mix(in oklab,{},{} {}%)", ink::kAccent,
                       ink::kAccent2, 100 * k / (n - 1));
  }

  void add(const Curve& c, const std::vector<double>& y,
           const std::vector<double>& dy, std::string colour,
           bool is_derivative) {
    Line l{label(c, is_derivative), std::move(colour), is_derivative,
           parts_of(c.x, y, dy, window_)};
    lines_.push_back(std::move(l));
  }

  std::string label(const Curve& c, bool is_derivative) const {
    if (is_derivative) return "derivative";
    return c.label.empty() ? name_ : c.label;
  }

  std::string title() const {
    return fmt::format("{} of {}{}, from {} to {}{}", name_,
                       axis_.empty() ? "x" : axis_,
                       has_derivative_ ? " and its derivative, dashed" : "",
                       tick_text(window_.x0), tick_text(window_.x1),
                       solid_ > 1 ? fmt::format(", {} curves", solid_) : "");
  }

  double px(double x) const {
    return left_ + (x - window_.x0) / window_.width() * (right_ - left_);
  }
  double py(double y) const {
    return top_ + (window_.y1 - y) / window_.height() * (bottom_ - top_);
  }

  // Lines that are named: the derivatives of a family are not.
  bool is_named(const Line& l) const {
    return !l.parts.lines.empty() && (!l.is_derivative || solid_ == 1);
  }

  // Names at the lines' ends if all go to the right border, not too close to
  // each other; else a legend above.
  void place_labels() {
    double width = 0;
    std::vector<std::pair<double, const Line*>> ends;
    bool good = true;
    for (const Line& l : lines_) {
      if (!is_named(l)) continue;
      const Point end = l.parts.lines.back().back();
      good = good && end.x > window_.x1 - 0.02 * window_.width();
      width = std::max(width, text_width(l.label, 12));
      ends.emplace_back(end.y, &l);
    }
    std::stable_sort(
        ends.begin(), ends.end(),
        [](const auto& a, const auto& b) { return a.first > b.first; });
    const double room = width + 22;
    good = good && !ends.empty() && room < 150;
    double last = -1e9;
    for (const auto& [y, l] : ends) {
      const double wanted = py(y) + 4;
      const double at = std::max(wanted, last + 14);
      good = good && at - wanted < 30 && at < bottom_ + 8;
      ends_.push_back({at, l});
      last = at;
    }
    if (good) {
      right_ = kPictureWidth - room;
    } else {
      legend_rows_ = 1;
      double x = left_;
      for (const Line& l : lines_) {
        if (!is_named(l)) continue;
        const double w = text_width(l.label, 12) + 46;
        if (x + w > right_ && x > left_) {
          x = left_;
          ++legend_rows_;
        }
        legend_.push_back({{x, 14.0 + 18 * (legend_rows_ - 1)}, &l});
        x += w;
      }
      bottom_ += 18 * legend_rows_;
    }
  }

  void legend(Svg& svg) const {
    for (const auto& [at, l] : legend_) {
      svg.line({at.x, at.y - 4}, {at.x + 22, at.y - 4}, stroke(*l));
      svg.text({at.x + 28, at.y}, l->label, fill(*l));
    }
  }

  void end_labels(Svg& svg) const {
    for (const auto& [y, l] : ends_) {
      svg.text({right_ + 7, y}, l->label, fill(*l));
    }
  }

  // Colours that are mixed are written as style: attributes may not mix.
  static std::string fill(const Line& l) {
    return fmt::format("style=\"fill:{}\"", l.colour);
  }
  static std::string stroke(const Line& l) {
    return fmt::format("style=\"stroke:{}\" stroke-width=\"{}\"{}", l.colour,
                       l.is_derivative ? "1.5" : "2.25",
                       l.is_derivative ? " stroke-dasharray=\"5 4\"" : "");
  }

  void axes(Svg& svg) const {
    const double step_x = tick_step(window_.width(), 6);
    const double step_y = tick_step(window_.height(), 5);
    std::string grid, zero;
    std::vector<std::pair<Point, std::string>> texts;
    for (double v = std::ceil(window_.x0 / step_x - 1e-9) * step_x;
         v <= window_.x1 + 1e-9 * step_x; v += step_x) {
      (std::abs(v) < 1e-9 * step_x ? zero : grid) +=
          path_through({{px(v), top_}, {px(v), bottom_}});
      texts.push_back({{px(v), bottom_ + 15}, tick_text(v)});
    }
    const std::size_t across = texts.size();
    for (double v = std::ceil(window_.y0 / step_y) * step_y; v <= window_.y1;
         v += step_y) {
      (std::abs(v) < 1e-9 * step_y ? zero : grid) +=
          path_through({{left_, py(v)}, {right_, py(v)}});
      texts.push_back({{left_ - 7, py(v) + 4}, tick_text(v)});
    }
    svg.path(grid, fmt::format("stroke=\"{}\"", ink::kLine));
    if (!zero.empty()) {
      svg.path(zero, fmt::format("stroke=\"{}\"", ink::kFaint));
    }
    for (std::size_t k = 0; k < texts.size(); ++k) {
      if (k == 0 || k == across) {
        if (k > 0) svg.close();
        svg.open(fmt::format("fill=\"{}\" font-size=\"11\" text-anchor=\"{}\"",
                             ink::kFaint, k == 0 ? "middle" : "end"));
      }
      svg.text(texts[k].first, texts[k].second);
    }
    if (!texts.empty()) svg.close();
    if (!axis_.empty()) {
      svg.text({(left_ + right_) / 2, bottom_ + 30}, axis_,
               fmt::format("fill=\"{}\" text-anchor=\"middle\" "
                           "font-style=\"italic\"",
                           ink::kFaint));
    }
  }

  void poles(Svg& svg, const Line& l) const {
    if (l.is_derivative) return;
    std::string d;
    for (const double x : l.parts.poles) {
      d += path_through({{px(x), top_}, {px(x), bottom_}});
    }
    if (d.empty()) return;
    svg.path(
        d, fmt::format("stroke=\"{}\" stroke-dasharray=\"2 4\"", ink::kFaint));
  }

  void draw(Svg& svg, const Line& l) const {
    std::string d;
    for (const auto& part : l.parts.lines) {
      std::vector<Point> points;
      for (const Point& p : part)
        points.push_back({tenth(px(p.x)), tenth(py(p.y))});
      d += path_through(simplified(points, 0.12));
    }
    if (!d.empty()) svg.path(d, stroke(l));
  }

  const std::string& name_;
  const std::string& axis_;
  const Window window_;
  std::vector<Line> lines_;
  std::size_t solid_ = 0;
  bool has_derivative_ = false;
  double left_ = 46, right_ = kPictureWidth - 14;
  double top_ = kTop, bottom_ = kHeight - kBottom;
  int legend_rows_ = 0;
  std::vector<std::pair<double, const Line*>> ends_;
  std::vector<std::pair<Point, const Line*>> legend_;
};

}  // namespace

std::string curves_svg(const std::string& name, const OperatorFacts& facts) {
  // A value that is the same everywhere needs no picture.
  const bool any =
      std::any_of(facts.curves.begin(), facts.curves.end(), [](const Curve& c) {
        std::set<double> values;
        for (const double y : c.y) {
          if (std::isfinite(y)) values.insert(y);
        }
        return values.size() > 1;
      });
  return any ? Picture(name, facts).draw() : "";
}

}  // namespace sy::codegen::site
