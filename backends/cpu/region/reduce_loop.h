#pragma once

#include <cstdint>
#include <list>
#include <memory_resource>
#include <vector>

#include "backends/cpu/engine/accumulator.h"
#include "backends/cpu/region/run.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/calls.h"

namespace sy::cpu {

// A loop that reduces, for one run. See Note [Loops of a region]. A place of
// the reduced dims is a position.
class ReduceLoop {
 public:
  ReduceLoop(const RegionRun& run, const BoundLoop& bound);
  void run();

 private:
  // Elements of a piece of a block that is taken apart; whatever the number of
  // threads, so that results do not depend on it.
  static constexpr int64_t kPiece = int64_t{1} << 17;
  static constexpr int kMaxPorts = program::kMaxInputs + program::kMaxResults;

  struct Thread {
    RunMemory memory;
    // The stages of each phase, for columns.
    std::pmr::vector<std::pmr::list<BoundStage>> row_stages, stages;
    std::pmr::vector<std::pmr::list<Accumulator>> accumulators;
    ScratchBytes elements;  // of its own
    char* tiles = nullptr;
    char* gathered = nullptr;
    std::pmr::vector<char*> base{&memory};     // of each memory: of the block
    std::pmr::vector<char*> crosses{&memory};  // of the block
    // The address of each place at the position, by cell().
    std::pmr::vector<char*> cells{&memory};
    int64_t position = -1;  // -1: cells are not known
    int64_t width = 1;      // of the block
    // Rows of the next block, and how far they are fetched.
    std::pmr::vector<const char*> ahead{&memory};
    size_t fetching = 0;
    int64_t fetched = 0;

    explicit Thread(size_t phases)
        : row_stages(phases, &memory),
          stages(phases, &memory),
          accumulators(phases, &memory) {}
  };
  struct PhaseCalls {
    tiles::KernelCalls rows, stages;
    explicit PhaseCalls(RunMemory* m) : rows(m), stages(m) {}
  };
  struct Ahead {
    int memory;
    int64_t bytes;  // of a row
  };

  // ---- set-up

  void check_elements(const Reduction& r) const;
  // Whether neighbours in memory belong to different results.
  bool takes_columns() const;
  // Whether a phase needs no tiles, as it has no stages.
  bool takes_whole(const Phase& phase) const;
  // Whether each row is one tile of a phase whose reductions kernels know.
  bool takes_rows(size_t phase) const;
  void make_calls();
  void append(const Stage& s, bool row_stage, size_t* number,
              tiles::KernelCalls* calls);
  // Strides of a stage's operands from one of its elements to the next.
  void strides_of(const Stage& s, bool row_stage, int64_t* out) const;
  // Finds the memories whose rows are worth fetching ahead: the machine does
  // not see that the next one follows, as other memory is read in between.
  void find_ahead();
  void set_up(Thread* t, bool own_blocks) const;
  // Rows and crosses of a block from there on.
  void place_block(Thread* t, char* at) const;

  // ---- sizes and places

  int64_t item(const Port& p) const {
    return static_cast<int64_t>(element_size(p.dtype));
  }
  // The work of all runs of a stage, in elements times steps.
  int64_t work_of(const Stage& s) const {
    return blocks_ * width_ * length_ * s.body.program.n_steps;
  }
  size_t cell(const Port& p) const {
    return first_cell_[p.place] + static_cast<size_t>(p.index);
  }
  int64_t rows_bytes() const {
    return static_cast<int64_t>(loop_.rows.size()) * width_ * 8;
  }
  int64_t cross_item(size_t c) const {
    return static_cast<int64_t>(element_size(loop_.crosses[c]));
  }
  int64_t cross_bytes(size_t c) const {
    return (length_ * width_ * cross_item(c) + 63) / 64 * 64;
  }
  int64_t crosses_bytes() const {
    int64_t n = 0;
    for (size_t c = 0; c < loop_.crosses.size(); ++c) n += cross_bytes(c);
    return n;
  }
  // The stride from one position to the next.
  int64_t position_stride(const Port& p) const {
    switch (p.place) {
      case Port::kRow: return 0;
      case Port::kMemory: return reduced_.stride(p.index, 0);
      default: return width_ * item(p);
    }
  }
  // Whether a source's rows can be combined where they lie.
  bool is_direct(const Port& p) const {
    if (p.place != Port::kMemory) return true;
    const int64_t stride =
        columns_ ? kept_.stride(p.index, 0) : reduced_.stride(p.index, 0);
    return stride == item(p) || (!columns_ && length_ == 1);
  }

  // f(reduction, its accumulators) of each reduction of a phase.
  template <class F>
  void each_reduction(Thread* t, size_t phase, const F& f) const {
    auto r = loop_.phases[phase].reductions.begin();
    for (Accumulator& a : t->accumulators[phase]) f(*r++, a);
  }

  // ---- a phase of a block

  void enter(Thread* t, int64_t block) const;
  void move_to(Thread* t, int64_t position) const;
  // The addresses of a stage's operands.
  void point(const Thread& t, const Stage& s, char** to) const;
  void run_row_stages(Thread* t, size_t phase) const;
  void run_positions(Thread* t, size_t phase, int64_t from, int64_t upto) const;
  void run_stages(Thread* t, size_t phase, int64_t n) const;
  void accumulate(Thread* t, int64_t n, const Reduction& r,
                  Accumulator* to) const;
  void store_results(Thread* t, size_t phase) const;
  void start(Thread* t, size_t phase) const;
  // Runs a phase on a row that is one tile.
  void run_row(Thread* t, size_t phase) const;
  // Copies results from `out` to the memories where they go besides.
  void store_memories(Thread* t, const Reduction& r, char* const* out) const;
  void look_ahead(Thread* t, int64_t block) const;
  // A share of the next block's rows, so that what is computed goes on
  // meanwhile.
  void fetch_ahead(Thread* t) const;

  // ---- both ways through a loop

  // All phases of a block, while it is in cache.
  void run_blocks() const;
  // Each phase in pieces of blocks.
  void run_phases() const;

  const RegionRun& run_;
  const BoundLoop& bound_;
  const Loop& loop_;
  DimWalk kept_, reduced_;
  const int64_t length_;
  bool columns_ = false;
  int64_t width_ = 1;       // columns of a strip
  int64_t strip_rows_ = 1;  // of a strip, which are taken together
  int64_t strips_ = 1;
  int64_t blocks_ = 0;
  int64_t tile_ = 0;                                      // elements of a tile
  std::pmr::vector<std::pmr::list<Combiner>> combiners_;  // of each phase
  size_t first_cell_[4] = {};                             // of each Port::Place
  std::pmr::vector<bool> whole_;                          // of each phase
  // The members up to widest_ are for rows.
  std::pmr::vector<bool> at_once_;  // of each phase: see takes_rows()
  std::pmr::vector<PhaseCalls> calls_;
  std::pmr::vector<Ahead> ahead_;
  int64_t share_ = 0;  // lines
  std::pmr::list<StageNumbers> numbers_;
  std::pmr::vector<const program::Uniform*> number_cells_;
  size_t first_temporary_ = 0;  // cell
  int temporaries_ = 0;
  int64_t widest_ = 8;  // element
  bool integers_ = false;
};

}  // namespace sy::cpu
