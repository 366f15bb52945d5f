#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "aten/backend/capture.h"
#include "backends/lazy/graph.h"
#include "c10/dispatch/thread_state.h"

// Records calls on tensors of another device than the lazy one, for
// sy::compile.
//
// Note [Captured memory]
// A tensor that a captured call makes is one of the captured device, whose
// storage has no memory but a LazyValue, as a lazy tensor's. Memory that was
// there keeps its address and its elements: an Entry says which value it has
// now. When a piece ends, entries that were written get their elements, and all
// storages get memory. A piece that a look ended (capture.h, Note [Looks]) is a
// graph of its own, whose values are these storages; later pieces find them as
// memory that was there.

namespace sy::lazy {

class Capture final : public capture::Recorder, public CaptureHooks {
 public:
  // The capture of this thread, or nullptr.
  static Capture* current() noexcept {
    return static_cast<Capture*>(thread_state.capture);
  }

  Capture(Device device, const GraphEngine& engine,
          capture::GradListener* listener);
  ~Capture() override;

  // ---- for the code that records. The caller holds graph_mutex() where it
  // does for the lazy device.

  Device device() const { return device_; }
  const GraphEngine& engine() const { return engine_; }
  bool takes(const TensorBase& t) const;
  // Calls that are recorded see the elements of `t` from now on. Ends the piece
  // if earlier ones have written its memory as a tensor of other elements: no
  // value is what `t` has. Then all that was recorded runs.
  void end_piece_to_see(const TensorBase& t);
  // The value that `t` is a part of, and where that begins in the storage of
  // `t`, in elements. Calls see `t`.
  struct ValuePart {
    intrusive_ptr<LazyValue> value;
    int64_t offset = 0;
  };
  ValuePart value_of(const TensorBase& t);
  // Whether `t`, which calls see, is all elements of its value.
  bool is_whole(const TensorBase& t) const;
  // All of `t`'s value is another one from now on. Ends the piece if calls see
  // its memory in another way too.
  void give(const TensorBase& t, const intrusive_ptr<LazyNode>& node,
            uint16_t result);
  // A node, until the capture ends: chains of nodes are not taken down by
  // recursion.
  void keep(const intrusive_ptr<LazyNode>& node) { nodes_.push_back(node); }
  // A storage that has a LazyValue and no memory.
  void made(const Storage& s) { made_.emplace_back(s); }
  // A call that draws numbers, or that other processes make too: it runs after
  // the last such call, needed or not.
  void order(const intrusive_ptr<LazyNode>& node);
  // Whether the memory was made in the capture, and no recorded call has seen
  // it yet.
  bool is_untouched(const TensorBase& t) const {
    const StorageImpl* const s = t.storage().get();
    return takes(t) && fresh_.contains(s) && !by_storage_.contains(s);
  }
  // A tensor whose elements cannot be seen as an input: they are taken as they
  // are.
  void reads_elsewhere(const TensorBase& t);

  // Ends the piece and makes the call, as a look if it can be one. Not under
  // graph_mutex().
  void call(const OperatorEntry& op, Value* args, size_t num_args,
            Value* results, size_t num_results);

  // ---- CaptureHooks
  void on_new_memory(const Storage& s, bool given) override;
  void on_pointer(StorageImpl& s, const char* asked) override;
  void on_grad(const intrusive_ptr<TensorImpl>& t) override;
  void on_note(const CaptureNote& note) override;

  // ---- capture::Recorder
  int add_input(const Tensor& t) override;
  const std::vector<capture::Break>& breaks() const override { return breaks_; }
  void add_break(std::string reason) override {
    repeats_ = false;
    note_break(std::move(reason), false);
  }
  void stop_looks() override { repeats_ = false; }
  std::vector<capture::Piece> take_pieces() override {
    return std::move(pieces_);
  }
  bool is_outer(const Tensor& t) override;
  bool is_written(const Tensor& t) override;
  const std::vector<Tensor>& sighted() const override { return sighted_; }
  void check_results(TensorList results) override;
  capture::Graphs finish(TensorList results, TensorList gradients,
                         std::vector<Storage>* values) override;
  void flush() override { end_piece(); }

 private:
  struct Entry {
    TensorBase tensor;  // holds the storage, but for fresh memory
    StorageImpl* storage = nullptr;
    ScalarType dtype = ScalarType::Undefined;
    int64_t offset = 0, numel = 0;  // the elements that it has, in a row
    void* address = nullptr;        // of the first
    bool whole = false;
    bool fresh = false;    // memory that was made in this capture
    bool written = false;  // `value` is not what the memory has
    bool seed = false;     // the gradient of a result
    int source = -1;
    intrusive_ptr<LazyNode> data;
    intrusive_ptr<LazyValue> value;

    bool has(const TensorBase& t) const;
  };
  friend class Finish;

  Entry* find(const TensorBase& t) const;
  // The entry of memory that calls see.
  Entry& entry_of(const TensorBase& t);
  bool has_written(const StorageImpl& s) const;
  void sight(const TensorBase& t);
  Entry& new_entry(const TensorBase& seen);
  bool is_known(const StorageImpl& s) const;
  // Whether code beyond the capture can see the memory.
  bool lives_on(const Entry& e) const;
  // Values of memory that nobody has any more are nobody's.
  void drop_dead();
  void note_break(std::string reason, bool repeats);
  void end_piece();
  // Ends the piece as a graph, to be followed by a look.
  void end_piece_by_look();
  void make_look(const OperatorEntry& op, Value* args, size_t num_args,
                 Value* results, size_t num_results);
  bool can_look(const OperatorEntry& op, const Value* args, size_t n) const;
  // Whether no replay may find other elements: nothing that is recorded or was
  // there before.
  bool is_plain(const TensorBase& t) const;
  void forget_recorded();
  // The graph of what is recorded, which has run. `living`: storages of its
  // values.
  capture::Graphs finish_piece(std::vector<Storage>* living);
  struct Write {
    void* to;
    Storage from;
    size_t bytes;
  };
  std::vector<Write> find_writes() const;
  void give_memory();

  const Device device_;
  const GraphEngine& engine_;
  capture::GradListener* const listener_;
  const ThreadModes before_;
  std::deque<Entry> entries_;
  std::unordered_multimap<const StorageImpl*, Entry*> by_storage_;
  // Storages that were allocated in the capture. A weak owner keeps the address
  // from being used again.
  std::unordered_map<const StorageImpl*, weak_intrusive_ptr<StorageImpl>>
      fresh_;
  std::vector<weak_intrusive_ptr<StorageImpl>> made_;
  std::vector<intrusive_ptr<LazyNode>> ordered_;
  std::vector<intrusive_ptr<LazyNode>> nodes_;
  std::vector<capture::Break> breaks_;
  std::vector<Tensor> sighted_;
  std::unordered_set<const TensorImpl*> known_;  // the tensors of sighted_
  int sources_ = 0;
  // Whether all breaks so far are looks; the pieces before them.
  bool repeats_ = true;
  std::vector<capture::Piece> pieces_;
  // Storages whose memory earlier pieces have made, and those of before that
  // they have written. A weak owner keeps the address from being used again.
  std::unordered_map<const StorageImpl*, weak_intrusive_ptr<StorageImpl>>
      made_before_, written_before_;
};

// The device of tensors of recorded calls, and the one that computes these.
Device recorded_device();
Device computing_device();
// The engine that runs the graphs of these calls.
const GraphEngine& computing_engine();

}  // namespace sy::lazy
