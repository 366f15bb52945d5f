#pragma once

#include <vector>

#include "aten/backend/capture.h"
#include "backends/lazy/value.h"

// Calls that a capture makes, and each of its replays again: capture::Look.

namespace sy::lazy {

class RecordedLook final : public capture::Look {
 public:
  // A call on memory. `given(t)`: whether a tensor is memory that a replay may
  // find changed; the elements of others are kept.
  template <class Given>
  RecordedLook(const OperatorEntry& op, const Value* args, size_t n,
               const Given& given)
      : op_(op) {
    for (size_t i = 0; i < n; ++i) add_argument(args[i], given);
  }
  // Whether such a call can be made again: it writes nothing, draws nothing,
  // and gives numbers and tensors of their own.
  static bool can_repeat(const OperatorEntry& op, const Value* args, size_t n);

  // The tensors of inputs().
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Describes what code sees of results. False if they cannot be told by words.
  static bool describe(const std::vector<Value>& results,
                       std::vector<Storage>* values,
                       std::vector<uint64_t>* seen);
  // The first run is over: the tensors are let go.
  void forget_tensors() { tensors_.clear(); }

  void run(ArrayRef<capture::Memory> inputs, std::vector<Storage>* values,
           std::vector<uint64_t>* seen) override;
  std::string text() const override;
  std::string text_of(ArrayRef<uint64_t> seen) const override;

 private:
  struct Argument {
    Value value;           // unless it is a tensor or a list
    bool is_list = false;  // of tensors
    bool optional = false;
    // A tensor: the one that is kept, or the number of an input, or neither.
    struct Element {
      TensorBase kept;
      int input = -1;
    };
    std::vector<Element> elements;
  };

  template <class Given>
  void add_argument(const Value& v, const Given& given) {
    Argument a;
    if (v.is_tensor()) {
      a.elements.push_back(element(v.to_tensor(), given(v.to_tensor())));
    } else if (v.tag() == Value::Tag::TensorList ||
               v.tag() == Value::Tag::OptionalTensorList) {
      a.is_list = true;
      a.optional = v.tag() == Value::Tag::OptionalTensorList;
      for (const TensorBase& t : v.to_tensor_list()) {
        a.elements.push_back(element(t, t.defined() && given(t)));
      }
    } else {
      a.value = v;
    }
    args_.push_back(std::move(a));
  }
  Argument::Element element(const TensorBase& t, bool given);
  Value argument(const Argument& a, ArrayRef<capture::Memory> inputs) const;

  const OperatorEntry& op_;
  std::vector<Argument> args_;
  std::vector<Tensor> tensors_;
};

// A tensor with the layout of another, and no memory.
Tensor without_memory(const TensorBase& t);

}  // namespace sy::lazy
