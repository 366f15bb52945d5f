#include "backends/cpu/region/reduce_loop.h"

#include <algorithm>
#include <cstring>

#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Elements that a thread takes at least.
constexpr int64_t kGrain = 32768;

}  // namespace

void ReduceLoop::fetch_ahead(Thread* t) const {
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

void ReduceLoop::look_ahead(Thread* t, int64_t block) const {
  for (size_t i = 0; i < ahead_.size(); ++i) {
    t->ahead[i] = bound_.data[static_cast<size_t>(ahead_[i].memory)] +
                  kept_.offset(ahead_[i].memory, block);
  }
  t->fetched = t->fetching = 0;
}

void ReduceLoop::enter(Thread* t, int64_t block) const {
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

void ReduceLoop::move_to(Thread* t, int64_t position) const {
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

void ReduceLoop::point(const Thread& t, const Stage& s, char** to) const {
  for (const Port& p : s.inputs) *to++ = t.cells[cell(p)];
  for (const Port& p : s.outputs) *to++ = t.cells[cell(p)];
}

void ReduceLoop::run_row_stages(Thread* t, size_t phase) const {
  const auto& stages = loop_.phases[phase].row_stages;
  if (stages.empty()) return;
  move_to(t, 0);
  if (!columns_) return calls_[phase].rows.run(t->cells.data(), 1, [] {});
  char* data[kMaxPorts];
  auto bound = t->row_stages[phase].begin();
  for (const Stage& s : stages) {
    point(*t, s, data);
    (bound++)->runner().run(data, t->width);
  }
}

void ReduceLoop::run_positions(Thread* t, size_t phase, int64_t from,
                               int64_t upto) const {
  const int64_t step = whole_[phase] ? upto - from
                       : columns_    ? strip_rows_
                                     : tile_;
  const int64_t dim = reduced_.size(0);
  for (int64_t at = from; at < upto;) {
    const int64_t in_dim = at < dim ? at : at % dim;
    const int64_t n = std::min({step, upto - at, dim - in_dim});
    move_to(t, at);
    run_stages(t, phase, n);
    each_reduction(t, phase, [&](const Reduction& r, Accumulator& a) {
      accumulate(t, n, r, &a);
    });
    at += n;
  }
}

void ReduceLoop::run_stages(Thread* t, size_t phase, int64_t n) const {
  if (!columns_) {
    fetch_ahead(t);
    return calls_[phase].stages.run(t->cells.data(), n,
                                    [&] { fetch_ahead(t); });
  }
  const auto& stages = loop_.phases[phase].stages;
  char* data[kMaxPorts];
  int64_t outer[kMaxPorts];
  auto bound = t->stages[phase].begin();
  for (const Stage& s : stages) {
    point(*t, s, data);
    int64_t* stride = outer;
    for (const auto* list : {&s.inputs, &s.outputs}) {
      for (const Port& p : *list) *stride++ = position_stride(p);
    }
    (bound++)->runner().run_2d(data, outer, t->width, n);
  }
}

void ReduceLoop::accumulate(Thread* t, int64_t n, const Reduction& r,
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

void ReduceLoop::store_results(Thread* t, size_t phase) const {
  each_reduction(t, phase, [&](const Reduction& r, Accumulator& a) {
    char* out[Combiner::kMaxAccumulators];
    for (size_t i = 0; i < r.rows.size(); ++i) {
      out[i] =
          t->cells[first_cell_[Port::kRow] + static_cast<size_t>(r.rows[i])];
    }
    if (a.settle()) {
      a.results(out);
    } else {
      a.identity(out);
    }
    store_memories(t, r, out);
  });
}

void ReduceLoop::store_memories(Thread* t, const Reduction& r,
                                char* const* out) const {
  for (size_t i = 0; i < r.memories.size(); ++i) {
    const int m = r.memories[i];
    if (m < 0) continue;
    const auto size = element_size(r.sources[i].dtype);
    char* const to = t->base[static_cast<size_t>(m)];
    if (!columns_) {
      std::memcpy(to, out[i], size);
    } else {
      tiles::store_strided(size, to, kept_.stride(m, 0), out[i], t->width);
    }
  }
}

void ReduceLoop::run_row(Thread* t, size_t phase) const {
  move_to(t, 0);
  run_stages(t, phase, length_);
  each_reduction(t, phase, [&](const Reduction& r, Accumulator& a) {
    const char* data[Combiner::kMaxAccumulators];
    char* out[Combiner::kMaxAccumulators];
    for (size_t i = 0; i < r.sources.size(); ++i) {
      data[i] = t->cells[cell(r.sources[i])];
      out[i] =
          t->cells[first_cell_[Port::kRow] + static_cast<size_t>(r.rows[i])];
    }
    a.reduce_row(data, length_, out);
    store_memories(t, r, out);
  });
}

void ReduceLoop::start(Thread* t, size_t phase) const {
  for (Accumulator& a : t->accumulators[phase]) a.start(t->width);
}

void ReduceLoop::run_blocks() const {
  const int64_t work = std::max<int64_t>(1, length_ * width_);
  parallel_for(0, blocks_, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 Thread t(loop_.phases.size());
                 set_up(&t, true);
                 for (int64_t b = begin; b < end; ++b) {
                   enter(&t, b);
                   look_ahead(&t, b + 1 < end ? b + 1 : b);
                   for (size_t p = 0; p < loop_.phases.size(); ++p) {
                     run_row_stages(&t, p);
                     if (at_once_[p]) {
                       run_row(&t, p);
                       continue;
                     }
                     start(&t, p);
                     run_positions(&t, p, 0, length_);
                     store_results(&t, p);
                   }
                 }
                 check_division(integers_);
               });
}

void ReduceLoop::run_phases() const {
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
    // Partial accumulators: of each block and piece, reduction and
    // accumulator.
    int64_t slots = 0;
    for (const Combiner& c : combiners_[p]) slots += c.count();
    const int64_t slot = width_ * 8;
    ScratchBytes partial;
    partial.reset(static_cast<size_t>(blocks_ * pieces * slots * slot + 1));
    if (!loop_.phases[p].row_stages.empty()) {
      Thread t(loop_.phases.size());
      set_up(&t, false);
      for (int64_t b = 0; b < blocks_; ++b) {
        enter_placed(&t, b);
        run_row_stages(&t, p);
      }
    }
    parallel_for(0, blocks_ * pieces, 1, [&](int64_t begin, int64_t end) {
      Thread t(loop_.phases.size());
      set_up(&t, false);
      for (int64_t i = begin; i < end; ++i) {
        enter_placed(&t, i / pieces);
        start(&t, p);
        const int64_t from = i % pieces * in_piece;
        run_positions(&t, p, from, std::min(length_, from + in_piece));
        char* to = partial.get() + i * slots * slot;
        for (Accumulator& a : t.accumulators[p]) {
          const Combiner& c = a.combiner();
          a.settle();
          for (int k = 0; k < c.count(); ++k, to += slot) {
            std::memcpy(to, a.data(k),
                        static_cast<size_t>(t.width * c.size(k)));
          }
        }
      }
      check_division(integers_);
    });
    Thread t(loop_.phases.size());
    set_up(&t, false);
    for (int64_t b = 0; b < blocks_ && slots > 0; ++b) {
      enter_placed(&t, b);
      start(&t, p);
      for (int64_t i = 0; i < pieces; ++i) {
        char* from = partial.get() + (b * pieces + i) * slots * slot;
        for (Accumulator& a : t.accumulators[p]) {
          const char* parts[Combiner::kMaxAccumulators];
          for (int k = 0; k < a.combiner().count(); ++k, from += slot) {
            parts[k] = from;
          }
          a.merge(parts);
        }
      }
      store_results(&t, p);
    }
  }
}

void ReduceLoop::run() {
  if (length_ * width_ > 2 * kPiece) {
    run_phases();
  } else {
    run_blocks();
  }
}

void run_reduce_loop(const RegionRun& run, const BoundLoop& loop) {
  if (run.numel(loop.loop.space & ~loop.loop.reduced) == 0) return;
  ReduceLoop(run, loop).run();
}

}  // namespace sy::cpu
