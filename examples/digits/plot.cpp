#include "examples/digits/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/digits/svg.h"

namespace digits {
namespace {

constexpr double kWidth = 1000, kMargin = 48;
constexpr double kPanelTop = 152, kPanelHeight = 230;
constexpr double kTilesTop = 470, kTile = 88, kTileStep = 116;
constexpr double kTileRow = 138;
constexpr int kTilesInRow = 8;

constexpr const char* kBackground = "#fcfbf8";
constexpr const char* kInk = "#22262b";
constexpr const char* kSoft = "#6b7178";
constexpr const char* kGrid = "#e6e3dc";
constexpr const char* kBlue = "#2a6f97";
constexpr const char* kRed = "#c4543b";

template <class... A>
std::string format(const char* pattern, A... args) {
  char buffer[200];
  std::snprintf(buffer, sizeof buffer, pattern, args...);
  return buffer;
}

// A picture's coordinate system; values grow upwards.
struct Panel {
  double left, width;
  double low, high;  // values at the bottom and at the top
  int epochs;

  double y(double value) const {
    const double part = (value - low) / (high - low);
    return kPanelTop + kPanelHeight * (1 - std::clamp(part, 0.0, 1.0));
  }
  double x(double epoch) const {
    return left + width * (epoch - 1) / std::max(1, epochs - 1);
  }
};

void draw_frame(Svg& svg, const Panel& panel, const std::string& title) {
  svg.text({panel.left, kPanelTop - 18}, title,
           {.size = 15, .colour = kInk, .bold = true});
  const int step = std::max(1, (panel.epochs + 3) / 4);
  for (int epoch = step; epoch <= panel.epochs; epoch += step) {
    svg.text({panel.x(epoch), kPanelTop + kPanelHeight + 20},
             std::to_string(epoch),
             {.size = 12, .colour = kSoft, .anchor = "middle"});
  }
  svg.text({panel.left, kPanelTop + kPanelHeight + 20}, "epoch",
           {.size = 12, .colour = kSoft});
}

void draw_level(Svg& svg, const Panel& panel, double value,
                const std::string& label) {
  const double y = panel.y(value);
  svg.line({panel.left, y}, {panel.left + panel.width, y}, kGrid);
  svg.text({panel.left - 8, y + 4}, label,
           {.size = 12, .colour = kSoft, .anchor = "end"});
}

// The first run in full colour, the others faint behind it.
template <class F>
void draw_curves(Svg& svg, const Panel& panel, const std::vector<Run>& runs,
                 const char* colour, F&& value_of) {
  for (size_t i = runs.size(); i-- > 0;) {
    std::vector<Point> points;
    for (const Epoch& e : runs[i].epochs) {
      points.push_back({panel.x(e.number), panel.y(value_of(e))});
    }
    svg.polyline(points, colour, i == 0 ? 2.5 : 1.5, i == 0 ? 1 : 0.3);
    if (i == 0) svg.dot(points.back(), 4, colour);
  }
}

void draw_loss(Svg& svg, const std::vector<Run>& runs) {
  double low = 1e9, high = 0;
  for (const Run& run : runs) {
    for (const Epoch& e : run.epochs) {
      low = std::min(low, e.loss);
      high = std::max(high, e.loss);
    }
  }
  const int bottom = static_cast<int>(std::floor(std::log10(low)));
  const int top =
      std::max(bottom + 1, static_cast<int>(std::ceil(std::log10(high) - 0.2)));
  const Panel panel{kMargin + 40, 390, double(bottom), double(top),
                    runs[0].options.epochs};
  draw_frame(svg, panel, "Training loss");
  for (int power = bottom; power <= top; ++power) {
    draw_level(svg, panel, power, format("%g", std::pow(10, power)));
  }
  draw_curves(svg, panel, runs, kBlue,
              [](const Epoch& e) { return std::log10(e.loss); });
  svg.text({panel.left + panel.width,
            panel.y(std::log10(runs[0].epochs.back().loss)) - 12},
           format("%.3g", runs[0].epochs.back().loss),
           {.size = 13, .colour = kBlue, .anchor = "end", .bold = true});
}

void draw_accuracy(Svg& svg, const std::vector<Run>& runs) {
  double low = 1;
  for (const Run& run : runs) {
    for (const Epoch& e : run.epochs) low = std::min(low, e.test_accuracy);
  }
  low = std::min(0.9, std::floor(low * 20) / 20);
  const Panel panel{kMargin + 512, 390, low, 1, runs[0].options.epochs};
  draw_frame(svg, panel, "Test accuracy");
  const double step = low < 0.8 ? 0.1 : 0.05;
  for (double level = 1; level > low - 1e-6; level -= step) {
    draw_level(svg, panel, level, format("%.0f %%", 100 * level));
  }
  draw_curves(svg, panel, runs, kRed,
              [](const Epoch& e) { return e.test_accuracy; });
  svg.text({panel.left + panel.width, panel.y(runs[0].test_accuracy()) + 24},
           format("%.1f %%", 100 * runs[0].test_accuracy()),
           {.size = 13, .colour = kRed, .anchor = "end", .bold = true});
}

void draw_header(Svg& svg, const std::vector<Run>& runs) {
  const Run& run = runs[0];
  double mean = 0;
  for (const Run& r : runs) mean += r.test_accuracy() / double(runs.size());
  svg.text({kMargin, 62}, "Reading handwritten digits",
           {.size = 28, .colour = kInk, .bold = true});
  svg.text({kMargin, 90},
           format("%lld images of 8x8 to learn from, %lld others to test; "
                  "64-%lld-10 units, %d epochs, %.0f µs a step",
                  static_cast<long long>(run.data.train.size()),
                  static_cast<long long>(run.data.test.size()),
                  static_cast<long long>(run.options.hidden),
                  run.options.epochs, run.step_us),
           {.size = 14, .colour = kSoft});
  svg.text({kWidth - kMargin, 66}, format("%.1f %%", 100 * mean),
           {.size = 34, .colour = kRed, .anchor = "end", .bold = true});
  svg.text({kWidth - kMargin, 90},
           runs.size() == 1
               ? "read right"
               : format("read right, mean of %zu seeds", runs.size()),
           {.size = 14, .colour = kSoft, .anchor = "end"});
}

void draw_digit(Svg& svg, Point at, const float* pixels) {
  constexpr double kPixel = kTile / 8;
  svg.rectangle({at.x - 1, at.y - 1}, kTile + 2, kTile + 2, kGrid, 3);
  svg.rectangle(at, kTile, kTile, "#ffffff", 2);
  for (int i = 0; i < 64; ++i) {
    if (pixels[i] <= 0) continue;
    const int grey = static_cast<int>(std::lround(255 - 221 * pixels[i]));
    // A little larger than the pixel, so that no seams show.
    svg.rectangle({at.x + (i % 8) * kPixel, at.y + (i / 8) * kPixel},
                  kPixel + 0.15, kPixel + 0.15,
                  format("#%02x%02x%02x", grey, grey, std::min(255, grey + 4)));
  }
}

struct Misread {
  int64_t row, truth, guess;
};

std::vector<Misread> misread(const Run& run) {
  const sy::Tensor guesses = predict(run.model, run.data.test.images);
  const int64_t* guess = guesses.const_data_ptr<int64_t>();
  const int64_t* truth = run.data.test.labels.const_data_ptr<int64_t>();
  std::vector<Misread> found;
  for (int64_t i = 0; i < run.data.test.size(); ++i) {
    if (guess[i] != truth[i]) found.push_back({i, truth[i], guess[i]});
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const Misread& a, const Misread& b) { return a.truth < b.truth; });
  return found;
}

void draw_misread(Svg& svg, const Run& run, const std::vector<Misread>& all) {
  const std::string which = format(
      " of %lld, with seed %llu", static_cast<long long>(run.data.test.size()),
      static_cast<unsigned long long>(run.options.seed));
  svg.text({kMargin, kTilesTop - 22},
           all.empty() ? "Nothing misread" + which
                       : format("Misread: %zu", all.size()) + which,
           {.size = 15, .colour = kInk, .bold = true});
  const float* images = run.data.test.images.const_data_ptr<float>();
  for (size_t i = 0; i < all.size(); ++i) {
    const Point at{kMargin + kTileStep * double(i % kTilesInRow),
                   kTilesTop + kTileRow * double(i / kTilesInRow)};
    draw_digit(svg, at, images + 64 * all[i].row);
    const double caption = at.y + kTile + 22;
    svg.text({at.x, caption},
             format("%lld,", static_cast<long long>(all[i].truth)),
             {.size = 15, .colour = kInk, .bold = true});
    svg.text({at.x + 22, caption}, "read as", {.size = 13, .colour = kSoft});
    svg.text({at.x + 74, caption},
             format("%lld", static_cast<long long>(all[i].guess)),
             {.size = 15, .colour = kRed, .bold = true});
  }
}

}  // namespace

void plot(const std::vector<Run>& runs, const std::string& path) {
  const std::vector<Misread> wrong = misread(runs.at(0));
  const double rows =
      std::ceil(static_cast<double>(wrong.size()) / kTilesInRow);
  Svg svg(kWidth, kTilesTop + kTileRow * rows + 14, kBackground);
  draw_header(svg, runs);
  draw_loss(svg, runs);
  draw_accuracy(svg, runs);
  draw_misread(svg, runs[0], wrong);
  svg.save(path);
}

}  // namespace digits
