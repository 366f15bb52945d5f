#pragma once

#include <cstdint>
#include <vector>

#include "aten/backend/region.h"
#include "backends/cpu/region/fuser.h"
#include "backends/cpu/tiles/machine_code.h"

// How the CPU runs a region. It is decided before sizes and strides are known.
//
// Note [Loops of a region]
// A region becomes loops, which run one after the other. A loop walks some dims
// of the region once, its `space`, and may reduce over some of them. It has
// phases. The first reductions are complete at the end of the first phase, the
// operations that need them are in the second phase, and so on. A block of a
// loop is one element of the kept dims (a row: softmax along the last dim) or
// some neighbours (a strip of columns). All phases of a block run before the
// next block begins, so that later phases read from cache. If blocks are too
// long for that, each phase walks the whole memory in pieces.
// Within a phase, programs are fused into stages, which run tile by tile.
// Values between stages are tiles. Values for later phases are in memory of the
// block. Values for other loops are in temporary memory of the run.

namespace sy::cpu {

// The place of an operand of a stage.
struct Port {
  enum Place : uint8_t {
    kMemory,  // loop.memories[index]: walked by its strides
    kTile,    // a tile
    kCross,   // memory of the block, for later phases
    kRow,     // one element for each kept element
  };
  Place place = kMemory;
  ScalarType dtype = ScalarType::Undefined;
  int index = 0;
};

struct Stage {
  FusedProgram body;
  program::ComputeType type{};
  std::vector<Port> inputs, outputs;
  std::vector<int> uniforms;  // numbers of the call's uniforms
};

// A reduction with k accumulators.
struct Reduction {
  const program::Program* combine = nullptr;
  const lang::Uniform* identity = nullptr;
  const char* name = nullptr;
  program::ComputeType type{};
  int first_uniform = 0;
  std::vector<Port> sources;  // values to combine, in the accumulators' dtype
  std::vector<int> rows;      // kRow places of the results
  std::vector<int> memories;  // where the results go besides, or -1
};

struct Phase {
  std::vector<Stage> row_stages;  // once a block, before the others
  std::vector<Stage> stages;
  std::vector<Reduction> reductions;
};

// A memory that a loop reads or writes.
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

// Borrows programs of the region. The region must have passed check_region and
// supports().
Plan plan_region(const Region& region);

// Whether memory of a dtype holds elements exactly as a register of the program
// does.
inline bool is_natural(ScalarType dtype, program::ComputeType type,
                       bool is_bool) {
  return dtype == tiles::register_type(is_bool, type);
}

}  // namespace sy::cpu
