#pragma once

#include <cstdint>
#include <vector>

#include "aten/backend/region.h"
#include "backends/cpu/region/fuser.h"

// How the CPU runs a region, decided before sizes and strides are known.
//
// Note [Loops of a region]
// A region becomes loops, run one after the other. A loop walks some dims of
// the region once, the `space`, and may reduce over some of them. It has
// phases: the first reductions are complete at the end of the first phase, what
// needs them belongs to the second, and so on. A block of a loop is one element
// of the kept dims (a row: softmax along the last dim) or some neighbours of
// them (a strip of columns); all phases of a block run before the next block
// begins, so that the second reading is from cache. Blocks too long for that
// take each phase over the whole of memory instead, in pieces.
// Within a phase programs are fused to stages, which run tile by tile: values
// between stages are tiles, values for later phases lie in the block's own
// memory, values for other loops in temporary memory of the run.

namespace sy::cpu {

// Where an operand of a stage is.
struct Port {
  enum Place : uint8_t {
    kMemory,  // loop.memories[index]: walked by its strides
    kTile,    // a tile
    kCross,   // of the block, for later phases
    kRow,     // one element a kept element
  };
  Place place = kMemory;
  ScalarType dtype = ScalarType::Undefined;
  int index = 0;
};

struct Stage {
  FusedProgram body;
  program::ComputeType type{};
  std::vector<Port> inputs, outputs;
  std::vector<int> uniforms;  // of the call
};

// k accumulators.
struct Reduction {
  const program::Program* combine = nullptr;
  const lang::Uniform* identity = nullptr;
  const char* name = nullptr;
  program::ComputeType type{};
  int first_uniform = 0;
  std::vector<Port> sources;  // what is combined, of the accumulators' dtype
  std::vector<int> rows;      // kRow places of the results
  std::vector<int> memories;  // where they go besides, or -1
};

struct Phase {
  std::vector<Stage> row_stages;  // once a block, before the others
  std::vector<Stage> stages;
  std::vector<Reduction> reductions;
};

// What a loop reads and writes.
struct Memory {
  enum Kind : uint8_t { kInput, kOutput, kTemporary };
  Kind kind = kInput;
  int index = 0;  // temporaries: the value's number
};

struct Product {
  int a = 0, b = 0, result = 0;  // memories
  uint64_t reduced = 0;
  ScalarType dtype = ScalarType::Undefined;
};

struct Loop {
  uint64_t space = 0, reduced = 0;
  bool is_product = false;
  Product product;
  std::vector<Memory> memories;
  std::vector<Phase> phases;
  std::vector<ScalarType> crosses;  // dtypes of kCross places
  std::vector<ScalarType> rows;     // of kRow places
  int tiles = 0;                    // kTile places
  int written = 0;                  // memories from here on are written
};

// A value of the plan; those of the region come first.
struct PlanValue {
  ScalarType dtype = ScalarType::Undefined;
  uint64_t dims = 0;
};

struct Plan {
  std::vector<PlanValue> values;
  std::vector<Loop> loops;
  std::vector<int> temporaries;  // values
};

// Borrows programs of the region. The region has passed check_region and
// supports().
Plan plan_region(const Region& region);

// Whether a piece of what follows reads as the program's register holds it.
inline bool is_natural(ScalarType dtype, program::ComputeType type,
                       bool is_bool) {
  return dtype == (is_bool ? kBool : program::storage_of(type));
}

}  // namespace sy::cpu
