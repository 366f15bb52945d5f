#pragma once

#include "codegen/site/flow_cells.h"

// Private to flow_picture: where the tensors of a flow stand.

namespace sy::codegen::site {

inline constexpr double kMargin = 8;

// Inputs on the left and outputs on the right, or inputs above.
class FlowLayout {
 public:
  explicit FlowLayout(const Flow& flow) : flow_(flow) {}

  // Chooses the cells' size and the grids' places. False if there is no room.
  bool fit();
  // The name with the sizes: "self [2, 3]".
  static std::string name_of(const Flow::Grid& g);
  // Whether the note stands with the name: arrows leave no room below the
  // inputs.
  bool name_has_note(const GridPlan& p) const;
  // Whether the note stands beside the name: short ones do.
  static bool beside(const GridPlan& p);
  // The cell of an output whose arrows cross the fewest cells and have come
  // some way.
  int best_shown() const;
  Point input_cell(int cell) const;
  Point output_cell(std::size_t k) const;

  // Made by fit().
  CellSize in, out;
  std::vector<GridPlan> inputs, outputs;
  bool downwards = false, names_beside = false;
  double height = 0;

 private:
  // Whether sums go down columns, which then stand above their sums.
  bool goes_down() const;
  // Inputs on the left.
  bool place_across();
  // Inputs above, names on the left if there is room.
  bool place_down();

  const Flow& flow_;
};

}  // namespace sy::codegen::site
