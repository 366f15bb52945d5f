#include "codegen/site/curve_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sy::codegen::site {
namespace {

// The value below which the share `q` of sorted values lies.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto k = static_cast<std::size_t>(at);
  if (k + 1 >= sorted.size()) return sorted.back();
  const double rest = at - static_cast<double>(k);
  return sorted[k] * (1 - rest) + sorted[k + 1] * rest;
}

std::vector<double> finite_sorted(const std::vector<Curve>& curves,
                                  std::vector<double> Curve::*values) {
  std::vector<double> out;
  for (const Curve& c : curves) {
    for (const double v : c.*values) {
      if (std::isfinite(v)) out.push_back(v);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The point at height `v` on the line from `a` to `b`.
Point at_height(Point a, Point b, double v) {
  const double t = (v - a.y) / (b.y - a.y);
  return {a.x + t * (b.x - a.x), v};
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = std::hypot(dx, dy);
  if (length == 0) return std::hypot(p.x - a.x, p.y - a.y);
  return std::abs(dx * (a.y - p.y) - dy * (a.x - p.x)) / length;
}

void simplify(const std::vector<Point>& line, std::size_t first,
              std::size_t last, double error, std::vector<Point>& out) {
  double most = 0;
  std::size_t where = first;
  for (std::size_t i = first + 1; i < last; ++i) {
    const double d = distance(line[i], line[first], line[last]);
    if (d > most) {
      most = d;
      where = i;
    }
  }
  if (most <= error) {
    out.push_back(line[last]);
    return;
  }
  simplify(line, first, where, error, out);
  simplify(line, where, last, error, out);
}

class Cutter {
 public:
  Cutter(const std::vector<double>& x, const std::vector<double>& y,
         const std::vector<double>& dy, const Window& window)
      : x_(x), y_(y), dy_(dy), window_(window) {}

  Parts run() {
    const std::size_t n = std::min(x_.size(), y_.size());
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const Point a{x_[i], bounded(y_[i])}, b{x_[i + 1], bounded(y_[i + 1])};
      if (std::isnan(a.y) || std::isnan(b.y)) {
        if (i > 0 && std::isnan(a.y) && side(y_[i - 1]) * side(b.y) < 0) {
          parts_.poles.push_back(a.x);
        }
        end();
      } else if (side(a.y) * side(b.y) < 0) {
        parts_.poles.push_back((a.x + b.x) / 2);
        end();
      } else if (is_jump(i)) {
        end();
      } else {
        add(a, b);
      }
    }
    end();
    return std::move(parts_);
  }

 private:
  double bounded(double v) const {
    return std::isinf(v) ? std::copysign(1e3 * window_.height(), v) : v;
  }
  int side(double v) const {
    return v > window_.y1 ? 1 : v < window_.y0 ? -1 : 0;
  }

  bool is_jump(std::size_t i) const {
    const double step = y_[i + 1] - y_[i];
    const double height = window_.height();
    if (!(std::abs(step) > 0.02 * height)) return false;
    if (dy_.size() == y_.size()) {
      const double a = dy_[i], b = dy_[i + 1];
      if (!std::isfinite(a) || !std::isfinite(b)) return false;
      if (a * step < 0 && b * step < 0) return true;
      const double expected =
          (std::abs(a) + std::abs(b)) / 2 * (x_[i + 1] - x_[i]);
      return std::abs(step) > 3 * expected + 0.01 * height;
    }
    // A jump may have a sample in its middle, so that one side is as steep.
    if (side(y_[i]) != 0 || side(y_[i + 1]) != 0) return false;
    double beside = std::abs(step);
    if (i > 0) beside = std::min(beside, std::abs(y_[i] - y_[i - 1]));
    if (i + 2 < y_.size()) {
      beside = std::min(beside, std::abs(y_[i + 2] - y_[i + 1]));
    }
    return std::abs(step) > 8 * beside + 0.03 * height;
  }

  // The piece of a line that lies in the window.
  void add(Point a, Point b) {
    const int from = side(a.y), to = side(b.y);
    if (from != 0 && from == to) {
      end();
      return;
    }
    const auto edge = [&](int s) { return s > 0 ? window_.y1 : window_.y0; };
    if (from != 0) {
      end();
      a = at_height(a, b, edge(from));
    }
    if (line_.empty()) line_.push_back(a);
    line_.push_back(to == 0 ? b : at_height(a, b, edge(to)));
    if (to != 0) end();
  }

  void end() {
    if (line_.size() > 1) parts_.lines.push_back(std::move(line_));
    line_.clear();
  }

  const std::vector<double>&x_, &y_, &dy_;
  const Window& window_;
  std::vector<Point> line_;
  Parts parts_;
};

}  // namespace

Window window_of(const std::vector<Curve>& curves) {
  Window out;
  const std::vector<double> xs = finite_sorted(curves, &Curve::x);
  const std::vector<double> ys = finite_sorted(curves, &Curve::y);
  if (xs.empty() || ys.empty()) return out;
  out.x0 = xs.front();
  out.x1 = xs.back();
  double low = quantile(ys, 0.04), high = quantile(ys, 0.96);
  const double usual = high - low;
  const auto grow = [&](double from, double to) {
    low = std::min(low, from);
    high = std::max(high, to);
  };
  if (ys.back() - ys.front() <= 1.4 * usual) grow(ys.front(), ys.back());

  // A curve that shoots up is shown about where it is as high as wide.
  const double reach = 0.6 * out.width();
  const auto near_by = std::count_if(
      ys.begin(), ys.end(), [&](double y) { return std::abs(y) <= reach; });
  if (high - low > 2 * reach && 3 * near_by > static_cast<long>(ys.size())) {
    low = std::max(low, -reach);
    high = std::min(high, reach);
  }
  std::vector<double> slopes = finite_sorted(curves, &Curve::dy);
  if (!slopes.empty()) {
    const double most = std::max(high - low, high == low ? 1.0 : 0.0);
    const bool all =
        std::max(high, slopes.back()) - std::min(low, slopes.front()) <=
        2.2 * most;
    if (all) {
      grow(slopes.front(), slopes.back());
    } else {
      grow(std::max(quantile(slopes, 0.03), low - 0.4 * most),
           std::min(quantile(slopes, 0.97), high + 0.4 * most));
    }
  }
  if (low > 0 && low < 0.5 * high) low = 0;
  if (high < 0 && high > 0.5 * low) high = 0;
  if (!(high - low > 1e-9 * std::max(std::abs(high), std::abs(low)))) {
    low -= 1;
    high += 1;
  }
  const double air = 0.06 * (high - low);
  out.y0 = low - air;
  out.y1 = high + air;
  return out;
}

double tick_step(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digits = rough / power;
  return power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
}

Parts parts_of(const std::vector<double>& x, const std::vector<double>& y,
               const std::vector<double>& dy, const Window& window) {
  return Cutter(x, y, dy, window).run();
}

std::vector<Point> simplified(const std::vector<Point>& line, double error) {
  if (line.size() < 3) return line;
  std::vector<Point> out = {line.front()};
  simplify(line, 0, line.size() - 1, error, out);
  return out;
}

}  // namespace sy::codegen::site
