#include "backends/cpu/engine/accumulator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/tiles/runner.h"

namespace sy::cpu {

namespace {

using program::ComputeType;

// Partial accumulators of a row side by side, where its program combines them.
constexpr int64_t kLanes = 512;

}  // namespace

bool find_kernel(const program::Program& p, int i, tiles::Reduction* kind) {
  using lang::Prim;
  if (p.n_steps != p.n_results) return false;
  const program::Step* step = nullptr;
  for (int k = 0; k < p.n_steps; ++k) {
    if (p.steps[k].dst == p.results[i].reg) step = &p.steps[k];
  }
  const int other = i + p.n_results;
  if (step == nullptr || !((step->a == i && step->b == other) ||
                           (step->a == other && step->b == i))) {
    return false;
  }
  switch (step->op) {
    case Prim::add: *kind = tiles::Reduction::sum; return true;
    case Prim::mul: *kind = tiles::Reduction::prod; return true;
    case Prim::maximum: *kind = tiles::Reduction::max; return true;
    case Prim::minimum: *kind = tiles::Reduction::min; return true;
    case Prim::logical_or: *kind = tiles::Reduction::any; return true;
    case Prim::logical_and: *kind = tiles::Reduction::all; return true;
    default: return false;
  }
}

bool agrees(tiles::Reduction kind, ComputeType type) {
  const bool sums =
      kind == tiles::Reduction::sum || kind == tiles::Reduction::prod;
  return !sums || program::is_floating(type) || type == ComputeType::i64;
}

program::Uniform none_of(tiles::Reduction kind, ComputeType accumulator) {
  const bool one =
      kind == tiles::Reduction::prod || kind == tiles::Reduction::all;
  return program::make_uniform(accumulator, false, int64_t{one});
}

void fill_identity(const lang::Uniform& identity, ScalarType dtype, char* to,
                   int64_t n) {
  const ComputeType type = program::compute_type_of(dtype);
  const program::Uniform u =
      identity.is_int ? program::make_uniform(type, false, identity.i)
                      : program::make_uniform(type, false, identity.d);
  const auto size = static_cast<int64_t>(element_size(dtype));
  for (int64_t j = 0; j < n; ++j) {
    std::memcpy(to + j * size, &u, static_cast<size_t>(size));
  }
}

Combiner::Combiner(const Combination& c)
    : program_(*c.program),
      type_(c.type),
      uniforms_(c.uniforms),
      identity_(c.identity),
      k_(c.count),
      known_(true) {
  SY_INTERNAL_ASSERT(k_ <= kMaxAccumulators);
  for (int i = 0; i < k_; ++i) {
    dtypes_[i] = c.dtypes[i];
    const ComputeType type = program::compute_type_of(dtypes_[i]);
    known_ = known_ && find_kernel(program_, i, &kinds_[i]) &&
             is_logical(kinds_[i]) == (dtypes_[i] == kBool) &&
             agrees(kinds_[i], type_) &&
             tiles::reduce_fn(kinds_[i], type) != nullptr;
  }
  for (int i = 0; i < k_; ++i) {
    const ComputeType type = program::compute_type_of(dtypes_[i]);
    kept_[i] =
        known_ ? program::storage_of(tiles::accumulator_type(kinds_[i], type))
               : dtypes_[i];
    size_[i] = static_cast<int64_t>(element_size(kept_[i]));
    results_[i] = tiles::convert_fn(kept_[i], dtypes_[i]);
    if (!known_) continue;
    reduce_[i] = tiles::reduce_fn(kinds_[i], type);
    reduce_rows_[i] = tiles::reduce_rows_fn(kinds_[i], type);
    none_[i] = none_of(kinds_[i], program::compute_type_of(kept_[i]));
  }
}

Accumulator::Accumulator(const Combiner& combiner, int64_t columns)
    : c_(combiner), of_row_(columns == 0) {
  const int64_t room = columns != 0 ? columns : c_.known_ ? 1 : kLanes;
  const auto plane = static_cast<size_t>((room * 8 + 63) / 64 * 64);
  const auto k = static_cast<size_t>(c_.k_);
  memory_.reset(2 * k * plane);
  for (size_t i = 0; i < k; ++i) {
    kept_[i] = memory_.get() + i * plane;
    spare_[i] = memory_.get() + (k + i) * plane;
  }
}

void Accumulator::combine(const char* const* a, const char* const* b,
                          char* const* to, int64_t n) {
  const void* in[2 * Combiner::kMaxAccumulators];
  void* out[Combiner::kMaxAccumulators];
  for (int i = 0; i < c_.k_; ++i) {
    in[i] = a[i];
    in[c_.k_ + i] = b[i];
    out[i] = to[i];
  }
  tiles::run_contiguous(c_.program_, c_.type_, in, 0, c_.uniforms_, out, n);
}

// An accumulator that a kernel adds to; of the first elements to be added, max
// and min begin with one each.
void Accumulator::begin(int i, const char* first) {
  const auto size = static_cast<size_t>(c_.size_[i]);
  if (begins_with_element(c_.kinds_[i])) {
    std::memcpy(kept_[i], first, static_cast<size_t>(width_) * size);
    return;
  }
  for (int64_t j = 0; j < width_; ++j) {
    std::memcpy(kept_[i] + j * c_.size_[i], &c_.none_[i], size);
  }
}

void Accumulator::add(const char* const* data, const int64_t* row_stride,
                      int64_t rows, int64_t n) {
  if (rows == 0 || n == 0) return;
  if (c_.known_) {
    for (int i = 0; i < c_.k_; ++i) {
      if (empty_) begin(i, data[i]);
      if (of_row_) {
        c_.reduce_[i](kept_[i], data[i], n);
      } else {
        c_.reduce_rows_[i](kept_[i], data[i], row_stride[i], rows, n);
      }
    }
    empty_ = false;
    return;
  }
  const char* at[Combiner::kMaxAccumulators];
  for (int i = 0; i < c_.k_; ++i) at[i] = data[i];
  if (of_row_) {
    for (int64_t from = 0; from < n; from += kLanes) {
      add_row(at, std::min(kLanes, n - from));
      for (int i = 0; i < c_.k_; ++i) at[i] += kLanes * c_.size_[i];
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (empty_) {
      for (int i = 0; i < c_.k_; ++i) {
        std::memcpy(kept_[i], at[i], static_cast<size_t>(n * c_.size_[i]));
      }
      empty_ = false;
    } else {
      combine(kept_, at, spare_, n);
      std::swap(kept_, spare_);
    }
    for (int i = 0; i < c_.k_; ++i) at[i] += row_stride[i];
  }
}

// Up to kLanes elements of a row are combined with the lanes.
void Accumulator::add_row(const char* const* data, int64_t n) {
  const int64_t both = std::min(n, lanes_);
  if (both > 0) {
    combine(kept_, data, spare_, both);
    for (int i = 0; i < c_.k_; ++i) {
      std::memcpy(kept_[i], spare_[i], static_cast<size_t>(both * c_.size_[i]));
    }
  }
  if (n > lanes_) {
    for (int i = 0; i < c_.k_; ++i) {
      std::memcpy(kept_[i] + lanes_ * c_.size_[i],
                  data[i] + lanes_ * c_.size_[i],
                  static_cast<size_t>((n - lanes_) * c_.size_[i]));
    }
    lanes_ = n;
  }
  empty_ = false;
}

bool Accumulator::settle() {
  while (lanes_ > 1) {
    const int64_t half = lanes_ / 2, rest = lanes_ - 2 * half;
    const char* upper[Combiner::kMaxAccumulators];
    for (int i = 0; i < c_.k_; ++i) upper[i] = kept_[i] + half * c_.size_[i];
    combine(kept_, upper, spare_, half);
    for (int i = 0; i < c_.k_ && rest != 0; ++i) {
      std::memcpy(spare_[i] + half * c_.size_[i],
                  kept_[i] + 2 * half * c_.size_[i],
                  static_cast<size_t>(c_.size_[i]));
    }
    std::swap(kept_, spare_);
    lanes_ = half + rest;
  }
  return !empty_;
}

void Accumulator::merge(const char* const* other) {
  if (empty_) {
    for (int i = 0; i < c_.k_; ++i) {
      std::memcpy(kept_[i], other[i],
                  static_cast<size_t>(width_ * c_.size_[i]));
    }
    empty_ = false;
    return;
  }
  if (!c_.known_) {
    combine(kept_, other, spare_, width_);
    std::swap(kept_, spare_);
    return;
  }
  for (int i = 0; i < c_.k_; ++i) {
    const ComputeType type = program::compute_type_of(c_.kept_[i]);
    if (of_row_) {
      tiles::reduce_fn(c_.kinds_[i], type)(kept_[i], other[i], 1);
    } else {
      tiles::reduce_rows_fn(c_.kinds_[i], type)(kept_[i], other[i], 0, 1,
                                                width_);
    }
  }
}

void Accumulator::results(char* const* out) const {
  for (int i = 0; i < c_.k_; ++i) {
    c_.results_[i](out[i], kept_[i], width_);
  }
}

void Accumulator::reduce_row(const char* const* data, int64_t n,
                             char* const* out) const {
  for (int i = 0; i < c_.k_; ++i) {
    program::Uniform all = c_.none_[i];
    if (begins_with_element(c_.kinds_[i])) {
      std::memcpy(&all, data[i], static_cast<size_t>(c_.size_[i]));
    }
    c_.reduce_[i](&all, data[i], n);
    c_.results_[i](out[i], &all, 1);
  }
}

void Accumulator::identity(char* const* out) const {
  for (int i = 0; i < c_.k_; ++i) {
    fill_identity(c_.identity_[i], c_.dtypes_[i], out[i], width_);
  }
}

}  // namespace sy::cpu
