#include <algorithm>

#include "backends/cpu/engine/reduce_engine.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

ReduceCut::ReduceCut(const ReduceLayout& layout, int64_t width)
    : layout_(layout),
      inner_(layout.inner()),
      columns_(inner_ ? 1 : layout.kept.size(0)),
      width_(std::min(columns_, width)),
      strips_((columns_ + width_ - 1) / width_),
      others_(layout.kept.numel / columns_),
      in_piece_(inner_ ? kReducePiece
                       : std::max<int64_t>(1, 8 * kReducePiece / width_)),
      pieces_((layout.reduced.numel + in_piece_ - 1) / in_piece_) {
  // Narrower strips where there is not one for each thread: pieces, which the
  // results depend on, stay as they are.
  constexpr int64_t kNarrowest = 128;
  const int64_t threads = get_num_threads();
  if (inner_ || tasks() >= threads) return;
  const int64_t wanted =
      (threads + others_ * pieces_ - 1) / (others_ * pieces_);
  const int64_t narrow = (columns_ + wanted - 1) / wanted;
  width_ =
      std::min(width_, (narrow + kNarrowest - 1) / kNarrowest * kNarrowest);
  strips_ = (columns_ + width_ - 1) / width_;
}

ReduceCut::Task ReduceCut::task(int64_t i) const {
  const int64_t piece = i % pieces_;
  const int64_t column = i / pieces_ % strips_ * width_;
  const int64_t other = i / pieces_ / strips_;
  const int64_t from = piece * in_piece_;
  return {piece,
          other * columns_ + column,
          std::min(width_, columns_ - column),
          from,
          std::min(layout_.reduced.numel, from + in_piece_),
          layout_.data + layout_.kept.offset(other, inner_ ? 0 : 1) +
              (inner_ ? 0 : column * layout_.kept.stride(0))};
}

int64_t ReduceCut::grain(int64_t elements) const {
  const int64_t work = width_ * std::min(layout_.reduced.numel, in_piece_);
  return std::max<int64_t>(1, elements / work);
}

}  // namespace sy::cpu
