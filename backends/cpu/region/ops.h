#pragma once

#include <vector>

#include "backends/cpu/region/plan.h"

// The first half of planning. It takes a region apart into programs, reductions
// and products, and puts these into loops and phases.

namespace sy::cpu {

struct RegionOp {
  enum Kind : uint8_t { kPiece, kReduction, kProduct };
  Kind kind = kPiece;
  program::ComputeType type{};
  const program::Program* body = nullptr;  // of a reduction: its combine
  std::vector<int> inputs, results;        // values
  std::vector<int> stores;                 // outputs that its results go to
  std::vector<int> after;                  // ops that must have run before
  int first_uniform = 0;
  uint64_t dims = 0;     // the dims it walks
  uint64_t reduced = 0;  // those of them that it reduces
  int partner = -1;      // the reduction that a map belongs to
  const RegionNode* node = nullptr;
  bool reads_donor = false;
  bool live = false;  // an output needs it

  int loop = -1;
  int phase = 0;
};

struct OpLoop {
  uint64_t space = 0, reduced = 0;
  bool is_product = false;
  std::vector<int> ops;  // in order
};

struct RegionOps {
  std::vector<PlanValue> values;
  std::vector<int> makers;        // of each value; -1: an input
  std::vector<int> stored_value;  // of each output
  std::vector<RegionOp> ops;
  std::vector<OpLoop> loops;  // in the order they run in

  explicit RegionOps(const Region& region);

  // The ops that read each value.
  std::vector<std::vector<int>> readers() const;

 private:
  void expand(const Region& region);
  void expand_reduction(const RegionNode& node, int first_value, int uniform);
  void add_outputs(const Region& region);
  int new_value(ScalarType dtype, uint64_t dims);
  int copy_of(int value, uint64_t dims);
  uint64_t dims_of(const std::vector<int>& values) const;
  RegionOp& add(RegionOp op);
  bool reaches(int from, int to) const;
  bool can_join(const RegionOp& op, int loop) const;
  void join(int op, int loop);
  void find_live();
  void make_loops();
  void sort_loops();
  void make_phases();

  uint64_t ones_ = 0;  // dims of size 1: nothing varies over them
};

}  // namespace sy::cpu
