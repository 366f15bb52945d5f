#include "codegen/site/flow_cells.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sy::codegen::site {
namespace {

constexpr double kBlockGap = 12;

// The position of a cell that is counted through several grids.
struct Position {
  std::size_t grid = 0;
  std::int64_t cell = 0;
};

Position position(const std::vector<Flow::Grid>& grids, int cell) {
  Position out{0, cell};
  while (out.grid + 1 < grids.size() &&
         out.cell >= count_of(grids[out.grid].sizes)) {
    out.cell -= count_of(grids[out.grid].sizes);
    ++out.grid;
  }
  return out;
}

// Rows and columns tell where a cell of one input came from; with several
// inputs, which one it was.
Paint origin(const std::vector<Flow::Grid>& grids, int cell) {
  const Position p = position(grids, cell);
  const Flow::Grid& g = grids[p.grid];
  if (g.is_plain) return {};
  const std::int64_t columns = g.sizes.empty() ? 1 : g.sizes.back();
  const std::int64_t row = p.cell / std::max<std::int64_t>(columns, 1);
  const std::int64_t column = p.cell % std::max<std::int64_t>(columns, 1);
  const auto moving = std::count_if(grids.begin(), grids.end(),
                                    [](const auto& x) { return !x.is_plain; });
  const auto steps = std::max<std::int64_t>(columns - 1, 1);
  if (moving > 1) {
    return {static_cast<int>(p.grid % 4),
            static_cast<int>(62 - 14 * (row % 2) - 30 * column / steps)};
  }
  if (g.sizes.size() < 2) {
    const std::int64_t n = std::max<std::int64_t>(count_of(g.sizes), 1);
    return {static_cast<int>(p.cell * 4 / n),
            60 - static_cast<int>(p.cell % 2) * 22};
  }
  return {static_cast<int>(row % 4),
          static_cast<int>(66 - 46 * column / steps)};
}

}  // namespace

GridPlan plan_grid(const Flow::Grid& grid, const CellSize& size) {
  const auto& s = grid.sizes;
  const auto dim = [&](std::size_t from_end) -> std::int64_t {
    return s.size() < from_end ? 1 : s[s.size() - from_end];
  };
  GridPlan out;
  out.grid = &grid;
  const double step = size.width + size.spread;
  const double block_width =
      static_cast<double>(dim(1)) * step - size.spread + kBlockGap;
  const double block_height =
      static_cast<double>(dim(2)) * size.height + kBlockGap;
  const std::int64_t n = count_of(s);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k;
    const auto next = [&](std::size_t from_end) {
      const std::int64_t i = rest % std::max<std::int64_t>(dim(from_end), 1);
      rest /= std::max<std::int64_t>(dim(from_end), 1);
      return static_cast<double>(i);
    };
    const double x = next(1), y = next(2), across = next(3);
    const auto down = static_cast<double>(rest);
    out.cells.push_back({x * step + across * block_width,
                         y * size.height + down * block_height});
    out.width = std::max(out.width, out.cells.back().x + size.width);
    out.height = std::max(out.height, out.cells.back().y + size.height);
  }
  out.height = std::max(out.height, size.height);
  out.width = std::max(out.width, size.width);
  return out;
}

std::vector<Block> blocks_of(std::vector<Point> cells, const CellSize& size) {
  std::sort(cells.begin(), cells.end(), [](Point a, Point b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  const auto near = [](double a, double b) { return std::abs(a - b) < 0.01; };
  std::vector<Block> rows;
  for (const Point& c : cells) {
    if (!rows.empty() && near(rows.back().at.y, c.y) &&
        near(rows.back().at.x + rows.back().width, c.x)) {
      rows.back().width += size.width;
    } else {
      rows.push_back({c, size.width, size.height});
    }
  }
  std::vector<Block> out;
  for (const Block& r : rows) {
    const auto above =
        std::find_if(out.begin(), out.end(), [&](const Block& b) {
          return near(b.at.x, r.at.x) && near(b.width, r.width) &&
                 near(b.at.y + b.height, r.at.y);
        });
    if (above == out.end()) {
      out.push_back(r);
    } else {
      above->height += r.height;
    }
  }
  return out;
}

Paints paints_of(const Flow& flow, int shown) {
  Paints out;
  std::int64_t inputs = 0;
  for (const auto& g : flow.inputs) inputs += count_of(g.sizes);
  out.inputs.resize(static_cast<std::size_t>(inputs));
  out.outputs.resize(flow.from.size());

  if (flow.is_scan) return out;
  if (flow.moves) {
    for (std::size_t k = 0; k < out.inputs.size(); ++k) {
      out.inputs[k] = origin(flow.inputs, static_cast<int>(k));
    }
    for (std::size_t k = 0; k < flow.from.size(); ++k) {
      for (const int f : flow.from[k]) {
        const Paint p = out.inputs[static_cast<std::size_t>(f)];
        if (p.colour >= 0) out.outputs[k] = p;
      }
    }
    out.shown = shown;
    return out;
  }

  // Each input goes to one cell of a result only: its colour is that cell's.
  std::vector<int> to(out.inputs.size(), -1);
  const std::size_t first_cells =
      static_cast<std::size_t>(count_of(flow.outputs[0].sizes));
  bool single = true;
  for (std::size_t k = 0; k < flow.from.size(); ++k) {
    const int group = static_cast<int>(k % first_cells);
    for (const int f : flow.from[k]) {
      int& t = to[static_cast<std::size_t>(f)];
      if (t >= 0 && t != group) single = false;
      t = group;
    }
  }
  if (single) {
    const auto paint = [](int group) {
      return group < 0 ? Paint{} : Paint{group % 4, group / 4 % 2 ? 24 : 42};
    };
    for (std::size_t k = 0; k < to.size(); ++k) {
      const bool plain =
          flow.inputs[position(flow.inputs, static_cast<int>(k)).grid].is_plain;
      if (!plain) out.inputs[k] = paint(to[k]);
    }
    for (std::size_t k = 0; k < flow.from.size(); ++k) {
      if (!flow.from[k].empty()) {
        out.outputs[k] = paint(static_cast<int>(k % first_cells));
      }
    }
    if (first_cells > 8) out.shown = shown;
    return out;
  }
  out.shown = shown;
  for (const int f : flow.from[static_cast<std::size_t>(out.shown)]) {
    const Position p = position(flow.inputs, f);
    if (!flow.inputs[p.grid].is_plain) {
      out.inputs[static_cast<std::size_t>(f)] = {
          static_cast<int>((p.grid + 1) % 4), 42};
    }
  }
  out.outputs[static_cast<std::size_t>(out.shown)] = {0, 50};
  return out;
}

}  // namespace sy::codegen::site
