#include <algorithm>
#include <deque>

#include "backends/cpu/region/run.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Elements that a thread takes at least.
constexpr int64_t kGrain = 32768;
// Bytes of all tiles of a thread; they stay in the first cache.
constexpr int64_t kTileBytes = 24 << 10;

class PointwiseLoop {
 public:
  PointwiseLoop(const RegionRun& run, const BoundLoop& bound)
      : run_(run),
        bound_(bound),
        stages_(bound.loop.phases[0].stages),
        walk_(bound.loop.space, run.sizes(), bound.strides) {
    const int64_t tiles = std::max(bound.loop.tiles, 1);
    tile_ = std::clamp<int64_t>(kTileBytes / (8 * tiles) / 64 * 64, 64, 2048);
    for (const Stage& s : stages_) {
      integers_ |= !program::is_floating(s.type);
    }
    if (stages_.size() == 1) find_transposed();
  }

  void run() const {
    const int64_t columns = walk_.size(0), rows = walk_.numel() / columns;
    // Long rows are cut where there are few.
    const int64_t cuts = rows >= 64 || transposed_ != 0
                             ? 1
                             : std::max<int64_t>(1, columns / kGrain);
    const int64_t piece = ((columns + cuts - 1) / cuts + 1023) / 1024 * 1024;
    const int64_t work = std::max<int64_t>(1, std::min(piece, columns));
    parallel_for(0, rows * cuts, std::max<int64_t>(1, kGrain / work),
                 [&](int64_t begin, int64_t end) {
                   Thread t(*this);
                   if (cuts == 1) {
                     rows_of(t, begin, end);
                   } else {
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t from = i % cuts * piece;
                       const int64_t n = std::min(piece, columns - from);
                       if (n > 0) row(t, i / cuts, from, n);
                     }
                   }
                   check_division(integers_);
                 });
  }

 private:
  struct Thread {
    RunMemory memory;
    std::pmr::deque<BoundStage> stages{&memory};
    ScratchBytes tiles;
    std::pmr::vector<char*> at;  // of each memory

    explicit Thread(const PointwiseLoop& loop)
        : at(loop.bound_.data.size(), &memory) {
      int64_t strides[program::kMaxInputs + program::kMaxResults];
      for (const Stage& s : loop.stages_) {
        loop.stage_strides(s, 0, true, strides);
        stages.emplace_back(s, loop.run_.uniforms(), strides);
      }
      if (loop.bound_.loop.tiles > 0) {
        tiles.reset(
            static_cast<size_t>(loop.bound_.loop.tiles * loop.tile_ * 8));
      }
    }
  };

  // Inputs that are better read along dim 1.
  void find_transposed() {
    if (walk_.ndim() < 2 || walk_.size(0) < 8 || walk_.size(1) < 8) return;
    const Stage& s = stages_[0];
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      const int m = s.inputs[i].index;
      const auto item = static_cast<int64_t>(element_size(s.inputs[i].dtype));
      if (walk_.stride(m, 1) == item && walk_.stride(m, 0) > item) {
        transposed_ |= uint64_t{1} << i;
      }
    }
  }

  // The strides of the stage's operands, from one place of a dim to the next.
  void stage_strides(const Stage& s, int dim, bool of_runner,
                     int64_t* out) const {
    size_t n = 0;
    for (const auto* list : {&s.inputs, &s.outputs}) {
      for (const Port& port : *list) {
        const auto item = static_cast<int64_t>(element_size(port.dtype));
        const bool tile = port.place == Port::kTile;
        const bool transposed =
            of_runner && list == &s.inputs && (transposed_ >> n & 1) != 0;
        out[n++] = tile || transposed ? item : walk_.stride(port.index, dim);
      }
    }
  }

  // Rows [begin, end), all of each.
  void rows_of(Thread& t, int64_t begin, int64_t end) const {
    if (stages_.size() > 1) {
      for (int64_t i = begin; i < end; ++i) row(t, i, 0, walk_.size(0));
      return;
    }
    const Stage& s = stages_[0];
    int64_t inner[program::kMaxInputs + program::kMaxResults];
    int64_t outer[program::kMaxInputs + program::kMaxResults];
    stage_strides(s, 0, false, inner);
    stage_strides(s, 1, false, outer);
    while (begin < end) {
      // Rows of one plane.
      const int64_t at = begin % walk_.size(1);
      const int64_t n = std::min(end - begin, walk_.size(1) - at);
      move_to(t, begin);
      char* data[program::kMaxInputs + program::kMaxResults];
      point(t, s, 0, data);
      const tiles::Runner& runner = t.stages[0].runner();
      if (transposed_ != 0) {
        runner.run_2d_transposed(data, inner, outer, walk_.size(0), n,
                                 transposed_);
      } else {
        runner.run_2d(data, outer, walk_.size(0), n);
      }
      begin += n;
    }
  }

  void move_to(Thread& t, int64_t row) const {
    for (size_t m = 0; m < t.at.size(); ++m) {
      t.at[m] = bound_.data[m] + walk_.offset(static_cast<int>(m), row, 1);
    }
  }

  // The addresses of the stage's operands, `from` elements into the row.
  void point(const Thread& t, const Stage& s, int64_t from, char** data) const {
    size_t n = 0;
    for (const auto* list : {&s.inputs, &s.outputs}) {
      for (const Port& port : *list) {
        if (port.place == Port::kTile) {
          data[n++] = t.tiles.get() + port.index * tile_ * 8;
        } else {
          data[n++] = t.at[static_cast<size_t>(port.index)] +
                      from * walk_.stride(port.index, 0);
        }
      }
    }
  }

  // Part of a row.
  void row(Thread& t, int64_t i, int64_t from, int64_t n) const {
    move_to(t, i);
    char* data[program::kMaxInputs + program::kMaxResults];
    const bool one = stages_.size() == 1;
    const int64_t step = one && transposed_ == 0 ? n : tile_;
    for (int64_t at = from; at < from + n; at += step) {
      const int64_t m = std::min(step, from + n - at);
      for (size_t s = 0; s < stages_.size(); ++s) {
        point(t, stages_[s], at, data);
        t.stages[s].runner().run(data, m);
      }
    }
  }

  const RegionRun& run_;
  const BoundLoop& bound_;
  const std::vector<Stage>& stages_;
  DimWalk walk_;
  int64_t tile_;
  uint64_t transposed_ = 0;
  bool integers_ = false;
};

}  // namespace

void run_pointwise_loop(const RegionRun& run, const BoundLoop& loop) {
  if (run.numel(loop.loop.space) == 0) return;
  PointwiseLoop(run, loop).run();
}

}  // namespace sy::cpu
