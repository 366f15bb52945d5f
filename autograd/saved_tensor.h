#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autograd/node.h"

namespace sy::autograd {

class SavedVisitor;

// A tensor that a node needs for its gradient, with the version that it had. It
// holds an input as it is. It holds a result as an alias that does not own its
// node, so that a graph has no cycle. Within SavedTensorHooks it holds what the
// pack hook returned. The undefined tensor may be saved.
class SY_API SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(SavedTensor&&) noexcept = default;
  SavedTensor& operator=(SavedTensor&&) noexcept = default;

  // Throws ValueError for inference tensors, and what a pack hook throws.
  void save(const Tensor& t);
  void save(const std::optional<Tensor>& t) {
    if (t.has_value()) save(*t);
  }
  // Saves `t`, output `nr` of the node that keeps this. Call it after
  // set_history or rebase_history.
  void save_output(const Tensor& t, uint32_t nr = 0);

  // `argument` is the tensor's name for messages. Throws Error if the tensor
  // was written since, or if an earlier backward has freed it. In grad mode a
  // result is again an output of `node`.
  Tensor unpack(const Node& node, const char* argument) const;
  std::optional<Tensor> unpack_optional(const Node& node,
                                        const char* argument) const;

 private:
  friend class SavedVisitor;
  enum State : uint8_t { kUndefined, kInput, kOutput, kPacked, kReleased };
  [[noreturn]] SY_COLD void overwritten(const Node& node, const char* argument,
                                        const Tensor& t) const;
  // `t` as an output of the node. `place` is a tensor where the output lay.
  Tensor as_output(const Node& node, const Tensor& t,
                   const Tensor& place) const;
  SY_COLD void pack(const Tensor& t, bool is_output);
  SY_COLD Tensor unpack_by_hook(const Node& node, const char* argument,
                                const Tensor& stand_in) const;

  // kPacked: a tensor without memory that has the metadata of the saved one.
  // Its backend metadata is what the hook returned.
  Tensor tensor_;
  uint32_t version_ = 0;
  uint32_t output_nr_ : 24 = 0;
  State state_ : 8 = kUndefined;
};

class SY_API SavedTensorList {
 public:
  void save(TensorList list);
  void save(ArrayRef<std::optional<Tensor>> list);
  std::vector<Tensor> unpack(const Node& node, const char* argument) const;
  std::vector<std::optional<Tensor>> unpack_optional(
      const Node& node, const char* argument) const;
  size_t size() const { return list_.size(); }

 private:
  friend class SavedVisitor;
  std::vector<SavedTensor> list_;
};

// A saved tensor as a node keeps it.
struct SavedView {
  std::string name;
  Tensor tensor;  // undefined if released; without memory if packed
  bool is_output = false;
  bool packed = false;
  bool released = false;
};

// Node::visit_saved shows saved tensors to it. It releases them, or lists them.
class SY_API SavedVisitor {
 public:
  SavedVisitor() = default;  // releases
  explicit SavedVisitor(std::vector<SavedView>* found) : found_(found) {}
  ~SavedVisitor() {
    if (SY_UNLIKELY(packed_ != nullptr)) free_packed();
  }
  SavedVisitor(const SavedVisitor&) = delete;
  SavedVisitor& operator=(const SavedVisitor&) = delete;

  void operator()(const char* name, SavedTensor& t) noexcept {
    if (SY_LIKELY(found_ == nullptr && t.state_ != SavedTensor::kPacked)) {
      t.tensor_.reset();
      t.state_ = SavedTensor::kReleased;
    } else {
      visit(name, t);
    }
  }
  void operator()(const char* name, SavedTensorList& l) noexcept;

 private:
  SY_COLD void visit(const char* name, SavedTensor& t) noexcept;
  SY_COLD void free_packed() noexcept;

  std::vector<SavedView>* found_ = nullptr;
  // Freed with the visitor, so that no destructors of the user run under the
  // lock.
  std::vector<Tensor>* packed_ = nullptr;
};

// The tensors that node `n` keeps now.
SY_API std::vector<SavedView> saved_tensors(Node& n);

}  // namespace sy::autograd
