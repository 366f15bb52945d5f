#pragma once

#include <string>
#include <vector>

#include "codegen/site/flow.h"
#include "codegen/site/svg.h"

// Private to flow_picture: the places and colours of cells.

namespace sy::codegen::site {

struct CellSize {
  double width = 30, height = 30;
  double spread = 0;  // between the cells of a row
};

// A grid with a place for each cell: the last dim goes to the right, the one
// before it downwards, the next two lay such blocks out side by side and below
// each other.
struct GridPlan {
  const Flow::Grid* grid = nullptr;
  double width = 0, height = 0;
  Point at = {};
  std::vector<Point> cells;  // from `at` on

  Point cell(std::size_t k) const {
    return {at.x + cells[k].x, at.y + cells[k].y};
  }
};
GridPlan plan_grid(const Flow::Grid& grid, const CellSize& size);

// Cells that fill a rectangle, or one cell.
struct Block {
  Point at;
  double width = 0, height = 0;
};
// The fewest rectangles that rows of neighbouring cells make.
std::vector<Block> blocks_of(std::vector<Point> cells, const CellSize& size);

// The paint of a cell: a colour of the page and its strength.
struct Paint {
  int colour = -1;   // of four; -1: plain
  int strength = 0;  // in percent
  friend auto operator<=>(const Paint&, const Paint&) = default;
};
struct Paints {
  std::vector<Paint> inputs, outputs;
  int shown = -1;  // the output's cell that arrows go to; -1: to every one
};
// `shown` is the cell that shows the operation best, if only one is to show it.
Paints paints_of(const Flow& flow, int shown);

}  // namespace sy::codegen::site
