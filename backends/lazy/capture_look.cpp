#include <algorithm>

#include "backends/lazy/capture.h"
#include "backends/lazy/look.h"
#include "backends/lazy/record.h"
#include "backends/lazy/run.h"
#include "c10/process/error.h"

// Pieces that end with a look.

namespace sy::lazy {

namespace {

constexpr size_t kMostPieces = 256;

bool is_item(const OperatorEntry& op) {
  return op.name() == "aten::_local_scalar_dense";
}

bool draws_elsewhere(const LazyNode& n) {
  return is_collective(OperatorHandle(n.op)) ||
         std::any_of(n.args.begin(), n.args.end(), [](const Value& v) {
           return v.tag() == Value::Tag::Generator;
         });
}

}  // namespace

bool Capture::is_plain(const TensorBase& t) const {
  const StorageImpl& s = *t.storage();
  if (s.data_acquire() == nullptr) return false;
  if (!takes(t) || t.impl()->is_wrapped_number()) return true;
  return fresh_.contains(&s) && !by_storage_.contains(&s);
}

// The capture must know what to undo if a replay sees something else (a write,
// a draw).
bool Capture::can_look(const OperatorEntry& op, const Value* args,
                       size_t n) const {
  return repeats_ && pieces_.size() < kMostPieces &&
         RecordedLook::can_repeat(op, args, n) &&
         std::none_of(ordered_.begin(), ordered_.end(),
                      [](const auto& node) { return draws_elsewhere(*node); });
}

void Capture::call(const OperatorEntry& op, Value* args, size_t num_args,
                   Value* results, size_t num_results) {
  const auto make = [&] {
    const PlainModes modes;
    OperatorHandle(&op).call_boxed(args, num_args, results, num_results);
  };
  if (is_item(op) && is_plain(args[0].to_tensor())) return make();
  std::string reason = is_item(op) ? std::string("item reads elements")
                                   : str("{} cannot be recorded", op.name());
  if (can_look(op, args, num_args)) {
    note_break(std::move(reason), true);
    end_piece_by_look();
    return make_look(op, args, num_args, results, num_results);
  }
  add_break(std::move(reason));
  end_piece();
  make();
}

void Capture::end_piece_by_look() {
  capture::Piece piece;
  for (const Entry& e : entries_) {
    if (e.written && !e.fresh) {
      written_before_.emplace(e.storage, e.tensor.storage());
    }
  }
  try {
    std::vector<Storage> living;
    capture::Graphs graphs = finish_piece(&living);
    piece.graph = std::move(graphs.forward);
    piece.graph_tensors = std::move(graphs.seen);
    for (const Storage& s : living) {
      piece.values.emplace_back(s);
      made_before_.emplace(s.get(), s);
      fresh_.erase(s.get());
    }
  } catch (...) {
    repeats_ = false;
    pieces_.clear();
    forget_recorded();
    throw;
  }
  forget_recorded();
  pieces_.push_back(std::move(piece));
}

void Capture::make_look(const OperatorEntry& op, Value* args, size_t num_args,
                        Value* results, size_t num_results) {
  capture::Piece& piece = pieces_.back();
  auto look = std::make_unique<RecordedLook>(
      op, args, num_args, [&](const TensorBase& t) { return !is_plain(t); });
  std::vector<Value> own(args, args + num_args), made;
  call_inner(op, own, &made);
  std::copy_n(made.begin(), num_results, results);
  piece.look_tensors = look->tensors();
  look->forget_tensors();
  std::vector<Storage> values;
  bool told = RecordedLook::describe(made, &values, &piece.seen);
  for (const Storage& s : values) {
    for (const Tensor& t : piece.look_tensors) {
      told = told && t.storage().get() != s.get();
    }
    piece.values.emplace_back(s);
    made_before_.emplace(s.get(), s);
  }
  piece.look = std::move(look);
  if (told) return;
  breaks_.back().repeats = repeats_ = false;
  pieces_.clear();
}

}  // namespace sy::lazy
