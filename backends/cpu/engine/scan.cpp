#include <algorithm>
#include <cstring>
#include <memory>

#include "aten/backend/engine_calls.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/engine/pointwise.h"
#include "backends/cpu/backend_gen.h"
#include "backends/cpu/engine/scan_known.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/rows.h"
#include "backends/cpu/tiles/runner.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Scans that go on side by side, so that a step is one run of the program.
constexpr int64_t kLanes = 256;
// Elements of each lane brought in at a time where lanes lie one after another.
constexpr int64_t kSteps = 32;
// Rows are cut where fewer than this many are there, into pieces no shorter.
constexpr int64_t kFewRows = 64, kShortPiece = 256;

struct Scratch {
  alignas(64) char in[kLanes * kSteps * 8];
  alignas(64) char turned[kLanes * kSteps * 8];
  alignas(64) char wide[kLanes * kSteps * 8];
  alignas(64) int64_t places[kLanes * kSteps];
  alignas(64) int64_t turned_places[kLanes * kSteps];
  alignas(64) char acc[kLanes * 8];
  alignas(64) char next[kLanes * 8];
  alignas(64) char take[kLanes];
  alignas(64) int64_t at[kLanes];
};

// How many pieces a row is cut into.
int64_t row_pieces(int64_t rows, int64_t length) {
  if (rows >= kFewRows) return 1;
  return std::clamp<int64_t>(length / kShortPiece, 1, kLanes / rows);
}

// Scans contiguous elements of self's dtype into contiguous values and places.
class Scan {
 public:
  Scan(const ScanOp& op, const ScanPlan& plan, ScalarType self,
       ScalarType result)
      : op_(op),
        type_(program::compute_type_of(plan.compute)),
        stored_(program::storage_of(type_)),
        item_(static_cast<int64_t>(compute_type_size(type_))),
        self_size_(static_cast<int64_t>(element_size(self))),
        result_size_(static_cast<int64_t>(element_size(result))),
        load_(tiles::convert_fn(self, stored_)),
        store_(tiles::convert_fn(stored_, result)) {
    eval_uniforms(op.combine, nullptr, 0, type_, uniforms_);
  }

  // outer x size x inner elements: lanes are columns.
  void columns(const char* x, int64_t outer, int64_t size, int64_t inner,
               char* values, int64_t* places) const {
    const int64_t strips = (inner + kLanes - 1) / kLanes;
    const int64_t work = size * std::min(inner, kLanes);
    parallel_for(0, outer * strips, std::max<int64_t>(1, 16384 / work),
                 [&](int64_t begin, int64_t end) {
                   const auto s = std::make_unique_for_overwrite<Scratch>();
                   for (int64_t t = begin; t < end; ++t) {
                     const int64_t first = t % strips * kLanes;
                     const int64_t n = std::min(kLanes, inner - first);
                     int64_t at = t / strips * size * inner + first;
                     for (int64_t k = 0; k < size; ++k, at += inner) {
                       load_(s->in, x + at * self_size_, n);
                       step(s->in, k, k == 0, n, s.get());
                       store_(values + at * result_size_, s->acc, n);
                       if (op_.chooses) {
                         std::memcpy(places + at, s->at,
                                     static_cast<size_t>(n) * 8);
                       }
                     }
                   }
                 });
  }

  // Rows one after another: lanes are rows, or pieces of them.
  void rows(const char* x, int64_t rows, int64_t length, char* values,
            int64_t* places) const {
    const int64_t cuts = row_pieces(rows, length);
    const int64_t piece = (length + cuts - 1) / cuts;
    const int64_t pieces = (length + piece - 1) / piece;
    // The last piece of a row may be shorter: it is a lane of its own group.
    const int64_t whole = length / piece;
    const int64_t lanes = rows * whole;
    const int64_t groups = (lanes + kLanes - 1) / kLanes;
    // Few groups are cut into narrower ones, for the threads to share.
    const int64_t width =
        groups > 1 ? kLanes
                   : std::max<int64_t>(1, std::min(kLanes, (lanes + 3) / 4));
    const int64_t tasks = (lanes + width - 1) / width;
    parallel_for(0, tasks, std::max<int64_t>(1, 16384 / (width * piece)),
                 [&](int64_t begin, int64_t end) {
                   const auto s = std::make_unique_for_overwrite<Scratch>();
                   for (int64_t t = begin; t < end; ++t) {
                     group(x, t * width, std::min(width, lanes - t * width),
                           whole, piece, piece, 0, length, values, places,
                           s.get());
                   }
                 });
    if (whole < pieces) {
      const auto s = std::make_unique_for_overwrite<Scratch>();
      for (int64_t r = 0; r < rows; r += kLanes) {
        group(x, r, std::min(kLanes, rows - r), 1, piece,
              length - whole * piece, whole * piece, length, values, places,
              s.get());
      }
    }
    if (pieces > 1) join(rows, length, piece, values, places);
  }

 private:
  // *acc and *at after one more element of each of n lanes.
  void step(const char* x, int64_t k, bool first, int64_t n, Scratch* s) const {
    if (first) {
      std::memcpy(s->acc, x, static_cast<size_t>(n * item_));
      if (op_.chooses) std::fill(s->at, s->at + n, k);
      return;
    }
    const void* in[] = {s->acc, x};
    if (!op_.chooses) {
      void* out[] = {s->next};
      tiles::run_contiguous(op_.combine.body, type_, in, 0, uniforms_, out, n);
      std::memcpy(s->acc, s->next, static_cast<size_t>(n * item_));
      return;
    }
    void* out[] = {s->take};
    tiles::run_contiguous(op_.combine.body, type_, in, 0, uniforms_, out, n);
    choose(s->take, s->acc, x, s->acc, n);
    for (int64_t i = 0; i < n; ++i) s->at[i] = s->take[i] != 0 ? k : s->at[i];
  }

  // to[i] = take[i] ? b[i] : a[i]
  void choose(const char* take, const char* a, const char* b, char* to,
              int64_t n) const {
    const auto run = [&]<class T>() {
      const T *x = reinterpret_cast<const T*>(a),
              *y = reinterpret_cast<const T*>(b);
      T* z = reinterpret_cast<T*>(to);
      for (int64_t i = 0; i < n; ++i) z[i] = take[i] != 0 ? y[i] : x[i];
    };
    visit_element_size(static_cast<size_t>(item_), run);
  }

  // Lanes [first, first + n): `per_row` to a row, `piece` elements apart from
  // element `from` on, `count` elements each.
  void group(const char* x, int64_t first, int64_t n, int64_t per_row,
             int64_t piece, int64_t count, int64_t from, int64_t length,
             char* values, int64_t* places, Scratch* s) const {
    const auto place = [&](int64_t lane, int64_t k) {
      return lane / per_row * length + from + lane % per_row * piece + k;
    };
    for (int64_t k = 0; k < count; k += kSteps) {
      const int64_t m = std::min(kSteps, count - k);
      for (int64_t i = 0; i < n; ++i) {
        load_(s->in + i * m * item_, x + place(first + i, k) * self_size_, m);
      }
      turn(s->in, n, m, s->turned, item_);
      for (int64_t j = 0; j < m; ++j) {
        step(s->turned + j * n * item_, k + j, k + j == 0, n, s);
        std::memcpy(s->wide + j * n * item_, s->acc,
                    static_cast<size_t>(n * item_));
        if (op_.chooses) {
          std::memcpy(s->places + j * n, s->at, static_cast<size_t>(n) * 8);
        }
      }
      turn(s->wide, m, n, s->in, item_);
      if (op_.chooses) {
        turn(reinterpret_cast<char*>(s->places), m, n,
             reinterpret_cast<char*>(s->turned_places), 8);
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = place(first + i, k);
        store_(values + at * result_size_, s->in + i * m * item_, m);
        if (!op_.chooses) continue;
        const int64_t begin = place(first + i, 0) % length;
        for (int64_t j = 0; j < m; ++j) {
          places[at + j] = s->turned_places[i * m + j] + begin;
        }
      }
    }
  }

  static void turn(const char* from, int64_t rows, int64_t cols, char* to,
                   int64_t size) {
    tiles::transpose(static_cast<size_t>(size), to, rows * size, from,
                     cols * size, rows, cols);
  }

  // Every piece but the first of a row, combined with what is before it.
  void join(int64_t rows, int64_t length, int64_t piece, char* values,
            int64_t* places) const {
    parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
      const auto s = std::make_unique_for_overwrite<Scratch>();
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t k = piece; k < length; k += piece) {
          const int64_t at = r * length + k;
          join_piece(at, std::min(piece, length - k), values, places, s.get());
        }
      }
    });
  }

  // The values are of the program's type: they are read again.
  void join_piece(int64_t at, int64_t count, char* values, int64_t* places,
                  Scratch* s) const {
    const char* const last = values + (at - 1) * item_;
    const int64_t before = op_.chooses ? places[at - 1] : 0;
    constexpr int64_t kRun = kLanes * kSteps;
    for (int64_t k = 0; k < count; k += kRun) {
      const int64_t n = std::min(kRun, count - k);
      char* const to = values + (at + k) * item_;
      const void* in[] = {last, to};
      void* out[] = {op_.chooses ? s->wide : to};
      tiles::run_contiguous(op_.combine.body, type_, in, 1, uniforms_, out, n);
      if (!op_.chooses) continue;
      for (int64_t i = 0; i < n; ++i) {
        if (s->wide[i] != 0) continue;
        std::memcpy(to + i * item_, last, static_cast<size_t>(item_));
        places[at + k + i] = before;
      }
    }
  }

  const ScanOp& op_;
  program::ComputeType type_;
  ScalarType stored_;
  int64_t item_, self_size_, result_size_;
  tiles::ConvertFn load_, store_;
  program::Uniform uniforms_[program::kMaxUniforms];
};

// `values` and `places` are contiguous in the order of self's dims, `places`
// undefined without a choice; `values` may be self.
void scan_to(const ScanOp& op, const ScanPlan& plan, const Tensor& self,
             const Tensor& values, const Tensor& places) {
  int64_t outer = 1, size = 1, inner = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t n = self.sizes()[static_cast<size_t>(d)];
    (d < plan.dim ? outer : d == plan.dim ? size : inner) *= n;
  }
  const Scan scan(op, plan, self.dtype(), values.dtype());
  const auto* x = static_cast<const char*>(self.raw_data());
  auto* to = static_cast<char*>(values.raw_data());
  auto* at =
      places.defined() ? static_cast<int64_t*>(places.raw_data()) : nullptr;
  if (inner == 1) {
    scan.rows(x, outer, size, to, at);
  } else {
    scan.columns(x, outer, size, inner, to, at);
  }
}

}  // namespace

// The results are the same for any number of threads.
struct ScanWays {
  static void run(const ScanOp& op, const ScanArgs& args, const ScanPlan& plan,
                  Tensor* const* outs) {
    Tensor self(*args.self);
    if (self.numel() == 0) return;
    if (calls::narrows(self.dtype(), plan.result)) {
      self = contiguous_cpu(self, plan.result);
    }
    int64_t inner = 1;
    for (int64_t d = plan.dim + 1; d < self.dim(); ++d) {
      inner *= self.sizes()[static_cast<size_t>(d)];
    }
    // Few columns are better scanned as rows.
    const bool turn = inner > 1 && inner < 16;
    ScanPlan p = plan;
    if (turn) p.dim = self.dim() - 1;
    const Tensor x = turn ? rows_of(self, plan.dim) : contiguous_cpu(self);
    const RowCount n = count_rows(x, p.dim);
    const bool as_rows = inner == 1 || turn;
    const bool known = as_rows && knows_scan(op, plan);
    const bool joins = as_rows && !known && row_pieces(n.rows, n.length) > 1;
    const ScalarType wide =
        program::storage_of(program::compute_type_of(plan.compute));
    Tensor room[2];
    for (int i = 0; i < result_count(op); ++i) {
      const Tensor& out = *outs[i];
      const ScalarType dtype = i == 0 && joins ? wide : out.dtype();
      const bool direct = !turn && out.is_contiguous() &&
                          out.dtype() == dtype &&
                          sharing(out, self) == Sharing::None;
      room[i] =
          direct ? out : Tensor(make_tensor(x.sizes(), dtype, Device(kCPU)));
    }
    if (known) {
      scan_known(op, plan, contiguous_cpu(x, plan.result), n,
                 room[0].raw_data(),
                 room[1].defined() ? room[1].raw_data() : nullptr);
    } else {
      scan_to(op, p, x, room[0], room[1]);
    }
    for (int i = 0; i < result_count(op); ++i) {
      if (room[i].is_same(*outs[i])) continue;
      copy_cpu(turn ? with_dim_last(*outs[i], plan.dim) : *outs[i], room[i]);
    }
  }
};

}  // namespace sy::cpu

template struct sy::ScanCalls<sy::cpu::ScanWays>;
