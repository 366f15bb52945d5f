#include "codegen/site/flow_layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lang/format.h"

namespace sy::codegen::site {
namespace {

constexpr double kGap = 74, kCallHeight = 26, kNameHeight = 19;
constexpr double kRoom = kPictureWidth - 2 * kMargin;
constexpr std::size_t kMostCells = 100;
constexpr double kMostHeight = 560;

std::vector<GridPlan> plans(const std::vector<Flow::Grid>& grids,
                            const CellSize& size) {
  std::vector<GridPlan> out;
  for (const auto& g : grids) out.push_back(plan_grid(g, size));
  return out;
}

// The width with the name above and the note below.
double whole_width(const GridPlan& p) {
  return std::max({p.width, text_width(FlowLayout::name_of(*p.grid), 12.5),
                   text_width(p.grid->note, 11)});
}

double note_height(const GridPlan& p) { return p.grid->note.empty() ? 0 : 18; }

void move(std::vector<GridPlan>& plans, double x, double y) {
  for (GridPlan& p : plans) {
    p.at.x += x;
    p.at.y += y;
  }
}

// Grids of one side below each other, names above them.
double column(std::vector<GridPlan>& plans, double* tall) {
  double width = 0, y = 0;
  for (GridPlan& p : plans) {
    p.at = {0, y + kNameHeight};
    y += kNameHeight + p.height + note_height(p) + 12;
    width = std::max(width, whole_width(p));
  }
  *tall = y - 12;
  return width;
}

// The y of the cells' middle.
double middle(const std::vector<GridPlan>& plans) {
  return (plans.front().at.y + plans.back().at.y + plans.back().height) / 2;
}

const GridPlan& plan_of(const std::vector<GridPlan>& plans, std::size_t& cell) {
  std::size_t k = 0;
  while (k + 1 < plans.size() && cell >= plans[k].cells.size()) {
    cell -= plans[k++].cells.size();
  }
  return plans[k];
}

}  // namespace

bool FlowLayout::fit() {
  std::size_t cells = flow_.from.size();
  for (const auto& g : flow_.inputs) {
    cells += static_cast<std::size_t>(count_of(g.sizes));
  }
  if (cells > kMostCells || flow_.from.empty()) return false;
  for (const double side : {30., 26., 22.}) {
    const auto width = [&](const std::vector<Flow::Grid>& grids) {
      std::size_t longest = 1;
      for (const auto& g : grids) {
        for (const auto& t : g.texts) longest = std::max(longest, t.size());
      }
      return std::max(side, 6.6 * static_cast<double>(longest) + 10);
    };
    const double spread = flow_.is_scan ? 26 : 0;
    in = {width(flow_.inputs), side, spread};
    out = {width(flow_.outputs), side, spread};
    if (goes_down()) {
      in.width = out.width = std::max(in.width, out.width);
    }
    inputs = plans(flow_.inputs, in);
    outputs = plans(flow_.outputs, out);
    if (place_across() || place_down()) return true;
  }
  return false;
}

std::string FlowLayout::name_of(const Flow::Grid& g) {
  if (!g.shape.empty()) return g.name + " " + g.shape;
  std::vector<std::string> items;
  for (const auto n : g.sizes) items.push_back(std::to_string(n));
  return fmt::format("{} [{}]", g.name, lang::join(items, ", "));
}

bool FlowLayout::goes_down() const {
  if (flow_.is_scan) return true;
  if (flow_.moves || flow_.outputs.size() > 1) return false;
  const auto& s = flow_.outputs[0].sizes;
  const auto& from = flow_.inputs[0].sizes;
  return s.size() > 1 && s.size() == from.size() && s[s.size() - 2] == 1 &&
         s.back() != 1 && flow_.inputs.size() == 1;
}

bool FlowLayout::place_across() {
  if (goes_down()) return false;
  double in_tall = 0, out_tall = 0;
  const double in_wide = column(inputs, &in_tall);
  const double out_wide = column(outputs, &out_tall);
  const double width = in_wide + kGap + out_wide;
  if (width > kRoom) return false;
  const double left = (kPictureWidth - width) / 2;
  // One result stands in the middle of its inputs, several stand below each
  // other from the first input on.
  double down = outputs.size() == 1 ? middle(inputs) - middle(outputs) : 0;
  const double up = std::max(0.0, -down);
  down = std::max(0.0, down);
  move(inputs, left, kCallHeight + up);
  move(outputs, left + in_wide + kGap, kCallHeight + down);
  height = kCallHeight + std::max(in_tall + up, out_tall + down) + kMargin;
  downwards = names_beside = false;
  return height <= kMostHeight;
}

bool FlowLayout::place_down() {
  double names = 0, widest = 0;
  for (const auto* plans : {&inputs, &outputs}) {
    for (const GridPlan& p : *plans) {
      names = std::max({names, text_width(name_of(*p.grid), 12.5),
                        beside(p) ? text_width(p.grid->note, 11) : 0});
      widest = std::max(widest, p.width);
    }
  }
  names += 12;
  if (widest > kRoom) return false;
  downwards = true;
  names_beside = names + widest <= kRoom;
  const double left = names_beside
                          ? (kPictureWidth - widest - names) / 2 + names
                          : (kPictureWidth - widest) / 2;
  double y = kCallHeight;
  for (auto* plans : {&inputs, &outputs}) {
    for (GridPlan& p : *plans) {
      if (!names_beside) y += kNameHeight;
      p.at = {goes_down() ? left : left + (widest - p.width) / 2, y};
      y += p.height + 12;
      if (!(names_beside && beside(p)) && !name_has_note(p)) {
        y += note_height(p);
      }
    }
    if (plans == &inputs) y += names_beside ? 30 : 24;
  }
  height = y - 12 + kMargin;
  return height <= kMostHeight;
}

bool FlowLayout::name_has_note(const GridPlan& p) const {
  return downwards && !names_beside && beside(p);
}

bool FlowLayout::beside(const GridPlan& p) {
  return text_width(p.grid->note, 11) < 110;
}

int FlowLayout::best_shown() const {
  int best = 0;
  double most = -1e18;
  for (std::size_t k = 0; k < flow_.from.size(); ++k) {
    const Point to = output_cell(k);
    double merit = -0.01 * static_cast<double>(k);
    const auto& from = flow_.from[k];
    if (from.empty()) merit -= 1e9;
    merit += 4 * static_cast<double>(std::min<std::size_t>(from.size(), 9));
    for (const int f : from) {
      const Point at = input_cell(f);
      const auto share = 1 / static_cast<double>(from.size());
      if (downwards) {
        merit -= share * (to.y - at.y) / in.height +
                 share * 0.3 * std::abs(to.x - at.x) / in.width;
      } else {
        merit -= share * (to.x - at.x) / in.width +
                 share * 0.3 * std::abs(to.y - at.y) / in.height;
      }
      if (flow_.moves && static_cast<std::size_t>(f) != k) merit += 4;
    }
    if (merit > most) {
      most = merit;
      best = static_cast<int>(k);
    }
  }
  return best;
}

Point FlowLayout::input_cell(int cell) const {
  auto k = static_cast<std::size_t>(cell);
  const GridPlan& p = plan_of(inputs, k);
  return p.cell(k);
}

Point FlowLayout::output_cell(std::size_t k) const {
  const GridPlan& p = plan_of(outputs, k);
  return p.cell(k);
}

}  // namespace sy::codegen::site
