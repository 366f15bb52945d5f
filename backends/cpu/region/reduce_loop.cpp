#include <algorithm>
#include <cstring>
#include <deque>

#include "backends/cpu/region/accumulator.h"
#include "backends/cpu/region/calls.h"
#include "backends/cpu/region/run.h"
#include "backends/cpu/support/scratch.h"
#include "c10/parallel.h"

namespace sy::cpu {

namespace {

// Elements of a piece of a block that is taken apart; whatever the number of
// threads, so that results do not depend on it.
constexpr int64_t kPiece = int64_t{1} << 17;
// Elements that a thread takes at least.
constexpr int64_t kGrain = 32768;
constexpr int64_t kTileBytes = 24 << 10;
// Rows of a strip of columns that are taken together, and columns.
constexpr int64_t kStripRows = 8;
constexpr int64_t kStrip = 512;
// Rows shorter than that are taken as columns, many of them side by side.
constexpr int64_t kShortRow = 24;

// Bytes of a row that is fetched while the one before is computed.
constexpr int64_t kLeastAhead = 512, kMostAhead = 16 << 10;
// Bytes of all rows together; fewer are in the last cache.
constexpr int64_t kLeastOfAll = int64_t{12} << 20;

constexpr int kMaxPorts = program::kMaxInputs + program::kMaxResults;

// See Note [Loops of a region]. A place of the reduced dims is a position.
class ReduceLoop {
 public:
  ReduceLoop(const RegionRun& run, const BoundLoop& bound)
      : run_(run),
        bound_(bound),
        loop_(bound.loop),
        kept_(loop_.space & ~loop_.reduced, run.sizes(), bound.strides),
        reduced_(loop_.reduced, run.sizes(), bound.strides),
        length_(reduced_.numel()) {
    columns_ = takes_columns();
    if (columns_) {
      width_ = std::min(kept_.size(0), kStrip);
      if (loop_.phases.size() > 1 && length_ > 0) {
        const int64_t few =
            std::max<int64_t>(64, 2 * kPiece / length_ / 16 * 16);
        width_ = std::min(width_, few);
      }
      tile_ = kStripRows * width_;
      strips_ = (kept_.size(0) + width_ - 1) / width_;
      blocks_ = kept_.numel() / kept_.size(0) * strips_;
    } else {
      blocks_ = kept_.numel();
    }
    first_cell_[Port::kTile] = bound_.data.size();
    first_cell_[Port::kCross] =
        first_cell_[Port::kTile] + static_cast<size_t>(loop_.tiles);
    first_cell_[Port::kRow] = first_cell_[Port::kCross] + loop_.crosses.size();
    for (const Phase& p : loop_.phases) {
      whole_.push_back(takes_whole(p));
      auto& combiners = combiners_.emplace_back();
      for (const Reduction& r : p.reductions) {
        combiners.emplace_back(r, run.uniforms());
        check_elements(r);
      }
      for (const auto* list : {&p.row_stages, &p.stages}) {
        for (const Stage& s : *list) integers_ |= !program::is_floating(s.type);
      }
    }
    if (!columns_) {
      make_calls();
      find_ahead();
    }
  }

  void run() {
    if (length_ * width_ > 2 * kPiece) {
      run_phases();
    } else {
      run_blocks();
    }
  }

 private:
  struct Thread {
    // Of each phase; of columns.
    std::vector<std::deque<BoundStage>> row_stages, stages;
    std::vector<std::deque<Accumulator>> accumulators;
    ScratchBytes memory;  // of its own
    char* tiles = nullptr;
    char* gathered = nullptr;
    std::vector<char*> base;     // of each memory: of the block
    std::vector<char*> crosses;  // of the block
    // Where each place is at the position, by cell().
    std::vector<char*> cells;
    int64_t position = -1;  // -1: cells are not known
    int64_t width = 1;      // of the block
    // Rows of the next block, and how far they are fetched.
    std::vector<const char*> ahead;
    size_t fetching = 0;
    int64_t fetched = 0;
  };

  void check_elements(const Reduction& r) const {
    SY_CHECK(length_ != 0 || r.identity != nullptr, Value,
             "[region] {}: expected dims with elements, as no elements have no "
             "{}, got sizes {}",
             r.name, r.name, run_.sizes());
  }

  // Whether neighbours in memory belong to different results.
  bool takes_columns() const {
    if (kept_.ndim() == 0) return false;
    if (reduced_.ndim() == 0) return true;
    if (length_ < kShortRow && kept_.size(0) >= 2 * length_) return true;
    for (int m = loop_.written; m < static_cast<int>(bound_.data.size()); ++m) {
      const int64_t along = reduced_.stride(m, 0), across = kept_.stride(m, 0);
      if (along != 0 && across != 0) return across < along;
    }
    return false;
  }

  int64_t item(const Port& p) const {
    return static_cast<int64_t>(element_size(p.dtype));
  }

  // ---- a thread's own ----

  // ---- rows: calls of kernels ----

  struct PhaseCalls {
    KernelCalls rows, stages;
  };
  struct Ahead {
    int memory;
    int64_t bytes;  // of a row
  };

  void make_calls() {
    size_t numbers = 0;
    for (const Phase& p : loop_.phases) {
      for (const auto* list : {&p.row_stages, &p.stages}) {
        for (const Stage& s : *list) numbers += s.body.program.n_uniforms;
      }
    }
    const size_t first = first_cell_[Port::kRow] + loop_.rows.size();
    first_temporary_ = first + numbers;
    size_t next = first;
    widest_ = 1;
    for (const Phase& p : loop_.phases) {
      PhaseCalls& calls = calls_.emplace_back();
      for (const Stage& s : p.row_stages) append(s, true, &next, &calls.rows);
      for (const Stage& s : p.stages) append(s, false, &next, &calls.stages);
    }
    const int64_t buffers = std::max(loop_.tiles + temporaries_, 1);
    tile_ = std::clamp<int64_t>(kTileBytes / (widest_ * buffers) / 64 * 64, 64,
                                2048);
    // Sums are made of blocks of so many.
    if (tile_ > 1024) tile_ = tile_ / 1024 * 1024;
  }

  void append(const Stage& s, bool row_stage, size_t* number,
              KernelCalls* calls) {
    const StageNumbers& own = numbers_.emplace_back(s, run_.uniforms());
    int64_t strides[kMaxPorts];
    strides_of(s, row_stage, strides);
    std::vector<CellOperand> operands[2];
    const int64_t* stride = strides;
    int which = 0;
    for (const auto* list : {&s.inputs, &s.outputs}) {
      for (const Port& p : *list) {
        operands[which].push_back({static_cast<CellIndex>(cell(p)),
                                   p.place == Port::kMemory, p.dtype,
                                   row_stage ? item(p) : *stride});
        ++stride;
        widest_ = std::max(widest_, item(p));
      }
      ++which;
    }
    widest_ = std::max(
        widest_, static_cast<int64_t>(program::compute_type_size(s.type)));
    const int used = calls->append(own.program(), s.type, operands[0],
                                   static_cast<CellIndex>(*number), operands[1],
                                   static_cast<CellIndex>(first_temporary_));
    temporaries_ = std::max(temporaries_, used);
    for (int u = 0; u < s.body.program.n_uniforms; ++u) {
      number_cells_.push_back(own.uniforms() + u);
    }
    *number += s.body.program.n_uniforms;
  }

  // ---- columns ----

  // Strides of a stage's operands from one of its elements to the next.
  void strides_of(const Stage& s, bool row_stage, int64_t* out) const {
    for (const auto* list : {&s.inputs, &s.outputs}) {
      for (const Port& p : *list) {
        if (p.place != Port::kMemory) {
          const bool one = p.place == Port::kRow && !columns_ && !row_stage;
          *out++ = one ? 0 : item(p);
        } else if (columns_) {
          *out++ = kept_.stride(p.index, 0);
        } else if (row_stage || reduced_.ndim() == 0) {
          *out++ = item(p);
        } else {
          *out++ = reduced_.stride(p.index, 0);
        }
      }
    }
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

  void set_up(Thread* t, bool own_blocks) const {
    int64_t strides[kMaxPorts];
    for (size_t p = 0; p < loop_.phases.size(); ++p) {
      const Phase& phase = loop_.phases[p];
      const auto bind = [&](const std::vector<Stage>& from, bool row_stage,
                            auto* to) {
        to->emplace_back();
        for (const Stage& s : from) {
          strides_of(s, row_stage, strides);
          to->back().emplace_back(s, run_.uniforms(), strides);
        }
      };
      if (columns_) {
        bind(phase.row_stages, true, &t->row_stages);
        bind(phase.stages, false, &t->stages);
      }
      t->accumulators.emplace_back();
      for (const Combiner& c : combiners_[p]) {
        t->accumulators.back().emplace_back(c, columns_ ? width_ : 0);
      }
    }
    size_t sources = 0;
    for (const Phase& p : loop_.phases) {
      for (const Reduction& r : p.reductions) {
        sources = std::max(sources, r.sources.size());
      }
    }
    const int64_t tiles = (loop_.tiles + temporaries_) * tile_ * widest_;
    const int64_t gathered = static_cast<int64_t>(sources) * tile_ * 8;
    const int64_t own = own_blocks ? rows_bytes() + crosses_bytes() + 64 : 0;
    t->memory.reset(static_cast<size_t>(tiles + gathered + own + 64));
    t->tiles = t->memory.get();
    t->gathered = t->tiles + tiles;
    t->base.resize(bound_.data.size());
    t->ahead.resize(ahead_.size());
    t->crosses.resize(loop_.crosses.size());
    const size_t numbers = first_cell_[Port::kRow] + loop_.rows.size();
    t->cells.resize(numbers + number_cells_.size() +
                    static_cast<size_t>(temporaries_));
    for (size_t i = 0; i < number_cells_.size(); ++i) {
      // Read alone.
      t->cells[numbers + i] =
          const_cast<char*>(reinterpret_cast<const char*>(number_cells_[i]));
    }
    for (int i = 0; i < loop_.tiles + temporaries_; ++i) {
      const bool shared = i < loop_.tiles;
      const size_t from =
          shared ? first_cell_[Port::kTile]
                 : first_temporary_ - static_cast<size_t>(loop_.tiles);
      t->cells[from + static_cast<size_t>(i)] = t->tiles + i * tile_ * widest_;
    }
    if (own_blocks) place_block(t, t->gathered + gathered);
  }

  // Rows and crosses of a block from there on.
  void place_block(Thread* t, char* at) const {
    for (size_t r = 0; r < loop_.rows.size(); ++r) {
      t->cells[first_cell_[Port::kRow] + r] =
          at + static_cast<int64_t>(r) * width_ * 8;
    }
    at += (rows_bytes() + 63) / 64 * 64;
    for (size_t c = 0; c < loop_.crosses.size(); ++c) {
      t->crosses[c] = at;
      at += cross_bytes(c);
    }
  }

  void enter(Thread* t, int64_t block) const {
    const auto memories = static_cast<int>(bound_.data.size());
    t->position = -1;
    if (!columns_) {
      for (int m = 0; m < memories; ++m) {
        t->base[static_cast<size_t>(m)] =
            bound_.data[static_cast<size_t>(m)] + kept_.offset(m, block);
      }
      return;
    }
    const int64_t first = block % strips_ * width_;
    t->width = std::min(width_, kept_.size(0) - first);
    for (int m = 0; m < memories; ++m) {
      t->base[static_cast<size_t>(m)] = bound_.data[static_cast<size_t>(m)] +
                                        first * kept_.stride(m, 0) +
                                        kept_.offset(m, block / strips_, 1);
    }
  }

  // ---- a phase of a block ----

  size_t cell(const Port& p) const {
    return first_cell_[p.place] + static_cast<size_t>(p.index);
  }

  void move_to(Thread* t, int64_t position) const {
    if (t->position == position) return;
    t->position = position;
    for (size_t m = 0; m < t->base.size(); ++m) {
      t->cells[m] = t->base[m] + reduced_.offset(static_cast<int>(m), position);
    }
    for (size_t c = 0; c < t->crosses.size(); ++c) {
      t->cells[first_cell_[Port::kCross] + c] =
          t->crosses[c] + position * width_ * cross_item(c);
    }
  }

  // Where a stage's operands are.
  void point(const Thread& t, const Stage& s, char** to) const {
    for (const Port& p : s.inputs) *to++ = t.cells[cell(p)];
    for (const Port& p : s.outputs) *to++ = t.cells[cell(p)];
  }

  void run_row_stages(Thread* t, size_t phase) const {
    const auto& stages = loop_.phases[phase].row_stages;
    if (stages.empty()) return;
    move_to(t, 0);
    if (!columns_) return calls_[phase].rows.run(t->cells.data(), 1, [] {});
    char* data[kMaxPorts];
    for (size_t s = 0; s < stages.size(); ++s) {
      point(*t, stages[s], data);
      t->row_stages[phase][s].runner().run(data, t->width);
    }
  }

  // From one position to the next.
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

  // Whether a phase needs no tiles, as it has no stages.
  bool takes_whole(const Phase& phase) const {
    bool whole = phase.stages.empty();
    for (const Reduction& r : phase.reductions) {
      for (const Port& p : r.sources) {
        whole &= p.place != Port::kTile && is_direct(p);
      }
    }
    return whole;
  }

  void run_positions(Thread* t, size_t phase, int64_t from,
                     int64_t upto) const {
    const Phase& ph = loop_.phases[phase];
    const int64_t step = whole_[phase] ? upto - from
                         : columns_    ? kStripRows
                                       : tile_;
    const int64_t dim = reduced_.size(0);
    for (int64_t at = from; at < upto;) {
      const int64_t in_dim = at < dim ? at : at % dim;
      const int64_t n = std::min({step, upto - at, dim - in_dim});
      move_to(t, at);
      run_stages(t, phase, n);
      for (size_t r = 0; r < ph.reductions.size(); ++r) {
        accumulate(t, ph.reductions[r], n, &t->accumulators[phase][r]);
      }
      at += n;
    }
  }

  void run_stages(Thread* t, size_t phase, int64_t n) const {
    if (!columns_) {
      fetch_ahead(t);
      return calls_[phase].stages.run(t->cells.data(), n,
                                      [&] { fetch_ahead(t); });
    }
    const auto& stages = loop_.phases[phase].stages;
    char* data[kMaxPorts];
    int64_t outer[kMaxPorts];
    for (size_t s = 0; s < stages.size(); ++s) {
      point(*t, stages[s], data);
      int64_t* stride = outer;
      for (const auto* list : {&stages[s].inputs, &stages[s].outputs}) {
        for (const Port& p : *list) *stride++ = position_stride(p);
      }
      t->stages[phase][s].runner().run_2d(data, outer, t->width, n);
    }
  }

  void accumulate(Thread* t, const Reduction& r, int64_t n,
                  Accumulator* to) const {
    const char* data[Combiner::kMaxAccumulators];
    int64_t strides[Combiner::kMaxAccumulators];
    for (size_t i = 0; i < r.sources.size(); ++i) {
      const Port& p = r.sources[i];
      char* const from = t->cells[cell(p)];
      data[i] = from;
      strides[i] = position_stride(p);
      if (is_direct(p)) continue;
      char* const here = t->gathered + static_cast<int64_t>(i) * tile_ * 8;
      data[i] = here;
      const auto size = static_cast<size_t>(item(p));
      if (!columns_) {
        tiles::load_strided(size, here, from, reduced_.stride(p.index, 0), n);
        continue;
      }
      strides[i] = width_ * item(p);
      for (int64_t row = 0; row < n; ++row) {
        tiles::load_strided(size, here + row * strides[i],
                            from + row * reduced_.stride(p.index, 0),
                            kept_.stride(p.index, 0), t->width);
      }
    }
    if (columns_) {
      to->add(data, strides, n, t->width);
    } else {
      to->add(data, strides, 1, n);
    }
  }

  void store_results(Thread* t, size_t phase) const {
    const Phase& ph = loop_.phases[phase];
    for (size_t r = 0; r < ph.reductions.size(); ++r) {
      const Reduction& reduction = ph.reductions[r];
      Accumulator& a = t->accumulators[phase][r];
      char* out[Combiner::kMaxAccumulators];
      for (size_t i = 0; i < reduction.rows.size(); ++i) {
        out[i] = t->cells[first_cell_[Port::kRow] +
                          static_cast<size_t>(reduction.rows[i])];
      }
      if (a.settle()) {
        a.results(out);
      } else {
        a.identity(out);
      }
      for (size_t i = 0; i < reduction.memories.size(); ++i) {
        const int m = reduction.memories[i];
        if (m < 0) continue;
        const auto size = element_size(reduction.sources[i].dtype);
        char* const to = t->base[static_cast<size_t>(m)];
        if (!columns_) {
          std::memcpy(to, out[i], size);
        } else {
          tiles::store_strided(size, to, kept_.stride(m, 0), out[i], t->width);
        }
      }
    }
  }

  void start(Thread* t, size_t phase) const {
    for (Accumulator& a : t->accumulators[phase]) a.start(t->width);
  }

  // Finds the memories whose rows are worth fetching ahead: the machine does
  // not see that the next one follows, as other memory is read in between.
  void find_ahead() {
    size_t calls = 0;
    for (const PhaseCalls& c : calls_) calls += c.stages.size();
    int64_t lines = 0;
    int64_t bytes_of_all = 0;
    for (size_t m = 0; m < bound_.data.size() && reduced_.ndim() == 1; ++m) {
      const auto i = static_cast<int>(m);
      const auto item = static_cast<int64_t>(element_size(bound_.dtypes[m]));
      const int64_t bytes = item * length_;
      if (reduced_.stride(i, 0) == item && kept_.stride(i, 0) != 0 &&
          bytes >= kLeastAhead && bytes <= kMostAhead) {
        ahead_.push_back({i, bytes});
        lines += bytes / 64;
        bytes_of_all += bytes * blocks_;
      }
    }
    if (bytes_of_all < kLeastOfAll) ahead_.clear();
    share_ = lines / static_cast<int64_t>(calls + loop_.phases.size()) + 1;
  }

  void look_ahead(Thread* t, int64_t block) const {
    for (size_t i = 0; i < ahead_.size(); ++i) {
      t->ahead[i] = bound_.data[static_cast<size_t>(ahead_[i].memory)] +
                    kept_.offset(ahead_[i].memory, block);
    }
    t->fetched = t->fetching = 0;
  }

  // A share of the next block's rows, so that what is computed goes on
  // meanwhile.
  void fetch_ahead(Thread* t) const {
    int64_t left = share_;
    while (left > 0 && t->fetching < ahead_.size()) {
      const Ahead& a = ahead_[t->fetching];
      const char* at = t->ahead[t->fetching] + t->fetched;
      const int64_t n = std::min(left, (a.bytes - t->fetched + 63) / 64);
      const char* const end = at + n * 64;
      if (a.memory < loop_.written) {
        for (; at < end; at += 64) __builtin_prefetch(at, 1);
      } else {
        for (; at < end; at += 64) __builtin_prefetch(at, 0);
      }
      left -= n;
      t->fetched += n * 64;
      if (t->fetched < a.bytes) return;
      t->fetched = 0;
      ++t->fetching;
    }
  }

  // ---- both ways through a loop ----

  // All phases of a block, while it is in cache.
  void run_blocks() const {
    const int64_t work = std::max<int64_t>(1, length_ * width_);
    parallel_for(0, blocks_, std::max<int64_t>(1, kGrain / work),
                 [&](int64_t begin, int64_t end) {
                   Thread t;
                   set_up(&t, true);
                   for (int64_t b = begin; b < end; ++b) {
                     enter(&t, b);
                     look_ahead(&t, b + 1 < end ? b + 1 : b);
                     for (size_t p = 0; p < loop_.phases.size(); ++p) {
                       run_row_stages(&t, p);
                       start(&t, p);
                       run_positions(&t, p, 0, length_);
                       store_results(&t, p);
                     }
                   }
                   check_division(integers_);
                 });
  }

  // Each phase in pieces of blocks.
  void run_phases() const {
    const int64_t in_piece = std::max<int64_t>(1, kPiece / width_);
    const int64_t pieces = (length_ + in_piece - 1) / in_piece;
    const int64_t bytes = rows_bytes() + crosses_bytes() + 128;
    ScratchBytes block_memory;
    block_memory.reset(static_cast<size_t>(blocks_ * bytes));
    const auto enter_placed = [&](Thread* t, int64_t block) {
      place_block(t, block_memory.get() + block * bytes);
      enter(t, block);
    };
    for (size_t p = 0; p < loop_.phases.size(); ++p) {
      const auto& combiners = combiners_[p];
      // Partial accumulators: of each block and piece, reduction and
      // accumulator.
      int64_t slots = 0;
      for (const Combiner& c : combiners) slots += c.count();
      const int64_t slot = width_ * 8;
      ScratchBytes partial;
      partial.reset(static_cast<size_t>(blocks_ * pieces * slots * slot + 1));
      if (!loop_.phases[p].row_stages.empty()) {
        Thread t;
        set_up(&t, false);
        for (int64_t b = 0; b < blocks_; ++b) {
          enter_placed(&t, b);
          run_row_stages(&t, p);
        }
      }
      parallel_for(0, blocks_ * pieces, 1, [&](int64_t begin, int64_t end) {
        Thread t;
        set_up(&t, false);
        for (int64_t i = begin; i < end; ++i) {
          enter_placed(&t, i / pieces);
          start(&t, p);
          const int64_t from = i % pieces * in_piece;
          run_positions(&t, p, from, std::min(length_, from + in_piece));
          char* to = partial.get() + i * slots * slot;
          for (size_t r = 0; r < combiners.size(); ++r) {
            Accumulator& a = t.accumulators[p][r];
            a.settle();
            for (int k = 0; k < combiners[r].count(); ++k, to += slot) {
              std::memcpy(to, a.data(k),
                          static_cast<size_t>(t.width * combiners[r].size(k)));
            }
          }
        }
        check_division(integers_);
      });
      Thread t;
      set_up(&t, false);
      for (int64_t b = 0; b < blocks_ && slots > 0; ++b) {
        enter_placed(&t, b);
        start(&t, p);
        for (int64_t i = 0; i < pieces; ++i) {
          char* from = partial.get() + (b * pieces + i) * slots * slot;
          for (size_t r = 0; r < combiners.size(); ++r) {
            const char* parts[Combiner::kMaxAccumulators];
            for (int k = 0; k < combiners[r].count(); ++k, from += slot) {
              parts[k] = from;
            }
            t.accumulators[p][r].merge(parts);
          }
        }
        store_results(&t, p);
      }
    }
  }

  const RegionRun& run_;
  const BoundLoop& bound_;
  const Loop& loop_;
  DimWalk kept_, reduced_;
  const int64_t length_;
  bool columns_ = false;
  int64_t width_ = 1;  // columns of a strip
  int64_t strips_ = 1;
  int64_t blocks_ = 0;
  int64_t tile_ = 0;  // elements of a tile
  std::vector<std::deque<Combiner>> combiners_;
  size_t first_cell_[4] = {};  // of each Port::Place
  std::vector<bool> whole_;    // of each phase
  // Of rows.
  std::vector<PhaseCalls> calls_;
  std::vector<Ahead> ahead_;
  int64_t share_ = 0;  // lines
  std::deque<StageNumbers> numbers_;
  std::vector<const program::Uniform*> number_cells_;
  size_t first_temporary_ = 0;  // cell
  int temporaries_ = 0;
  int64_t widest_ = 8;  // element
  bool integers_ = false;
};

}  // namespace

void run_reduce_loop(const RegionRun& run, const BoundLoop& loop) {
  if (run.numel(loop.loop.space & ~loop.loop.reduced) == 0) return;
  ReduceLoop(run, loop).run();
}

}  // namespace sy::cpu
