#pragma once

#include <optional>
#include <vector>

#include "autograd/node.h"

namespace sy::autograd {

// A tensor that a node needs for its gradient, with the version it had. Inputs
// are held as they are; results as an alias that does not own its node, so
// that a graph holds no cycle. The undefined tensor may be saved.
class SY_API SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(SavedTensor&&) noexcept = default;
  SavedTensor& operator=(SavedTensor&&) noexcept = default;

  void save(const Tensor& t);
  void save(const std::optional<Tensor>& t) {
    if (t.has_value()) save(*t);
  }
  // `t` is output `nr` of the node that keeps this; call it after set_history
  // or rebase_history.
  void save_output(const Tensor& t, uint32_t nr = 0);

  // `argument` is its name, for messages. Throws Error if it was written since,
  // or if an earlier backward has freed it. In grad mode a result is again an
  // output of `node`.
  Tensor unpack(const Node& node, const char* argument) const;
  std::optional<Tensor> unpack_optional(const Node& node,
                                        const char* argument) const;
  void release() noexcept {
    tensor_.reset();
    state_ = kReleased;
  }
  bool released() const { return state_ == kReleased; }

 private:
  enum State : uint8_t { kUndefined, kInput, kOutput, kReleased };
  [[noreturn]] SY_COLD void overwritten(const Node& node, const char* argument,
                                        const Tensor& t) const;
  Tensor as_output(const Node& node, const Tensor& t) const;

  Tensor tensor_;
  uint32_t version_ = 0;
  uint16_t output_nr_ = 0;
  State state_ = kUndefined;
};

class SY_API SavedTensorList {
 public:
  void save(TensorList list);
  void save(ArrayRef<std::optional<Tensor>> list);
  std::vector<Tensor> unpack(const Node& node, const char* argument) const;
  std::vector<std::optional<Tensor>> unpack_optional(
      const Node& node, const char* argument) const;
  void release() noexcept {
    for (SavedTensor& t : list_) t.release();
  }
  size_t size() const { return list_.size(); }

 private:
  std::vector<SavedTensor> list_;
};

}  // namespace sy::autograd
