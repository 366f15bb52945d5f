#include <algorithm>

#include "backends/cpu/region/reduce_loop.h"

// How a loop that reduces is set up for the sizes and strides of a run.

namespace sy::cpu {

namespace {

constexpr int64_t kTileBytes = 24 << 10;
// Columns that are taken together, and rows of them. Sums are made of so many
// rows, so that what is taken is a multiple of them.
constexpr int64_t kStrip = 512, kStripRows = 8;
// Rows shorter than that are taken as columns, many of them side by side.
constexpr int64_t kShortRow = 24;

// Bytes of a row that is fetched while the one before is computed.
constexpr int64_t kLeastAhead = 512, kMostAhead = 16 << 10;
// Bytes of all rows together; fewer are in the last cache.
constexpr int64_t kLeastOfAll = int64_t{12} << 20;

Combiner combiner_of(const Reduction& r, const program::Uniform* uniforms) {
  ScalarType dtypes[Combiner::kMaxAccumulators];
  for (size_t i = 0; i < r.sources.size(); ++i) dtypes[i] = r.sources[i].dtype;
  return Combiner({r.combine, r.type, uniforms + r.first_uniform, r.identity,
                   static_cast<int>(r.sources.size()), dtypes});
}

}  // namespace

ReduceLoop::ReduceLoop(const RegionRun& run, const BoundLoop& bound)
    : run_(run),
      bound_(bound),
      loop_(bound.loop),
      kept_(loop_.space & ~loop_.reduced, run.sizes(), bound.strides),
      reduced_(loop_.reduced, run.sizes(), bound.strides),
      length_(reduced_.numel()),
      combiners_(loop_.phases.size(), run.memory()),
      whole_(run.memory()),
      at_once_(run.memory()),
      calls_(run.memory()),
      ahead_(run.memory()),
      numbers_(run.memory()),
      number_cells_(run.memory()) {
  columns_ = takes_columns();
  if (columns_) {
    width_ = std::min(kept_.size(0), kStrip);
    if (loop_.phases.size() > 1 && length_ > 0) {
      const int64_t few = std::max<int64_t>(64, 2 * kPiece / length_ / 16 * 16);
      width_ = std::min(width_, few);
    }
    const int64_t room = std::min(kStripRows * kStrip / width_, length_);
    strip_rows_ = std::max<int64_t>(1, room / kStripRows) * kStripRows;
    tile_ = strip_rows_ * width_;
    strips_ = (kept_.size(0) + width_ - 1) / width_;
    blocks_ = kept_.numel() / kept_.size(0) * strips_;
  } else {
    blocks_ = kept_.numel();
  }
  first_cell_[Port::kTile] = bound_.data.size();
  first_cell_[Port::kCross] =
      first_cell_[Port::kTile] + static_cast<size_t>(loop_.tiles);
  first_cell_[Port::kRow] = first_cell_[Port::kCross] + loop_.crosses.size();
  whole_.reserve(loop_.phases.size());
  at_once_.resize(loop_.phases.size());
  for (const Phase& p : loop_.phases) {
    auto& combiners = combiners_[whole_.size()];
    whole_.push_back(takes_whole(p));
    for (const Reduction& r : p.reductions) {
      combiners.push_back(combiner_of(r, run.uniforms()));
      check_elements(r);
    }
    for (const auto* list : {&p.row_stages, &p.stages}) {
      for (const Stage& s : *list) integers_ |= !program::is_floating(s.type);
    }
  }
  if (!columns_) {
    make_calls();
    for (size_t p = 0; p < loop_.phases.size(); ++p)
      at_once_[p] = takes_rows(p);
    find_ahead();
  }
}

void ReduceLoop::check_elements(const Reduction& r) const {
  SY_CHECK(length_ != 0 || r.identity != nullptr, Value,
           "[region] {}: expected dims with elements, as no elements have no "
           "{}, got sizes {}",
           r.name, r.name, run_.sizes());
}

bool ReduceLoop::takes_columns() const {
  if (kept_.ndim() == 0) return false;
  if (reduced_.ndim() == 0) return true;
  if (length_ < kShortRow && kept_.size(0) >= 2 * length_) return true;
  for (int m = loop_.written; m < static_cast<int>(bound_.data.size()); ++m) {
    const int64_t along = reduced_.stride(m, 0), across = kept_.stride(m, 0);
    if (along != 0 && across != 0) return across < along;
  }
  return false;
}

bool ReduceLoop::takes_whole(const Phase& phase) const {
  bool whole = phase.stages.empty();
  for (const Reduction& r : phase.reductions) {
    for (const Port& p : r.sources) {
      whole &= p.place != Port::kTile && is_direct(p);
    }
  }
  return whole;
}

bool ReduceLoop::takes_rows(size_t phase) const {
  bool takes = length_ > 0 && reduced_.ndim() <= 1 &&
               (whole_[phase] || length_ <= tile_);
  for (const Combiner& c : combiners_[phase]) takes &= c.is_known();
  for (const Reduction& r : loop_.phases[phase].reductions) {
    for (const Port& p : r.sources) takes &= is_direct(p);
  }
  return takes;
}

void ReduceLoop::make_calls() {
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
  calls_.reserve(loop_.phases.size());
  for (const Phase& p : loop_.phases) {
    PhaseCalls& calls = calls_.emplace_back(run_.memory());
    for (const Stage& s : p.row_stages) append(s, true, &next, &calls.rows);
    for (const Stage& s : p.stages) append(s, false, &next, &calls.stages);
  }
  const int64_t buffers = std::max(loop_.tiles + temporaries_, 1);
  tile_ =
      std::clamp<int64_t>(kTileBytes / (widest_ * buffers) / 64 * 64, 64, 2048);
  // Sums are made of blocks of so many.
  if (tile_ > 1024) tile_ = tile_ / 1024 * 1024;
}

void ReduceLoop::append(const Stage& s, bool row_stage, size_t* number,
                        tiles::KernelCalls* calls) {
  const StageNumbers& own = numbers_.emplace_back(s, run_.uniforms());
  int64_t strides[kMaxPorts];
  strides_of(s, row_stage, strides);
  std::pmr::vector<tiles::CellOperand> operands[2] = {
      std::pmr::vector<tiles::CellOperand>(run_.memory()),
      std::pmr::vector<tiles::CellOperand>(run_.memory())};
  const int64_t* stride = strides;
  int which = 0;
  for (const auto* list : {&s.inputs, &s.outputs}) {
    for (const Port& p : *list) {
      operands[which].push_back({static_cast<tiles::CellIndex>(cell(p)),
                                 p.place == Port::kMemory, p.dtype,
                                 row_stage ? item(p) : *stride});
      ++stride;
      widest_ = std::max(widest_, item(p));
    }
    ++which;
  }
  widest_ = std::max(widest_,
                     static_cast<int64_t>(program::compute_type_size(s.type)));
  const ArrayRef<tiles::CellOperand> inputs(operands[0].data(),
                                            operands[0].size());
  const ArrayRef<tiles::CellOperand> results(operands[1].data(),
                                             operands[1].size());
  const size_t first = calls->size();
  const int used = calls->append(
      own.program(), s.type, inputs, static_cast<tiles::CellIndex>(*number),
      results, static_cast<tiles::CellIndex>(first_temporary_));
  // Counted for machine code too: the order of sums depends on the tile.
  temporaries_ = std::max(temporaries_, used);
  if (!row_stage && length_ >= tiles::MachineCode::kLeastRun) {
    calls->take_code(first, own.program(), s.type, inputs, own.uniforms(),
                     results, work_of(s));
  }
  for (int u = 0; u < s.body.program.n_uniforms; ++u) {
    number_cells_.push_back(own.uniforms() + u);
  }
  *number += s.body.program.n_uniforms;
}

void ReduceLoop::strides_of(const Stage& s, bool row_stage,
                            int64_t* out) const {
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

void ReduceLoop::find_ahead() {
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

void ReduceLoop::set_up(Thread* t, bool own_blocks) const {
  int64_t strides[kMaxPorts];
  for (size_t p = 0; p < loop_.phases.size(); ++p) {
    const Phase& phase = loop_.phases[p];
    const auto bind = [&](const std::vector<Stage>& from, bool row_stage,
                          std::pmr::list<BoundStage>* to) {
      for (const Stage& s : from) {
        strides_of(s, row_stage, strides);
        to->emplace_back(s, run_.uniforms(), strides);
        if (!row_stage) to->back().take_code(work_of(s));
      }
    };
    if (columns_) {
      bind(phase.row_stages, true, &t->row_stages[p]);
      bind(phase.stages, false, &t->stages[p]);
    }
    for (const Combiner& c : combiners_[p]) {
      t->accumulators[p].emplace_back(c, columns_ ? width_ : 0);
    }
  }
  size_t sources = 0;  // that are gathered
  for (const Phase& p : loop_.phases) {
    for (const Reduction& r : p.reductions) {
      for (size_t i = 0; i < r.sources.size(); ++i) {
        if (!is_direct(r.sources[i])) sources = std::max(sources, i + 1);
      }
    }
  }
  const int64_t tiles = (loop_.tiles + temporaries_) * tile_ * widest_;
  const int64_t gathered = static_cast<int64_t>(sources) * tile_ * 8;
  const int64_t own = own_blocks ? rows_bytes() + crosses_bytes() + 64 : 0;
  t->elements.reset(static_cast<size_t>(tiles + gathered + own + 64));
  t->tiles = t->elements.get();
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

void ReduceLoop::place_block(Thread* t, char* at) const {
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

}  // namespace sy::cpu
