#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten/backend/capture.h"
#include "frontend/compile/backward.h"
#include "frontend/compile/guards.h"
#include "frontend/compile/kept.h"

namespace sy::compiling {

// .grad as it is, without telling a capture; undefined if there is none.
const Tensor& grad_of(const Tensor& t);

// A tensor that a replay finds again.
struct TensorPlace {
  // kSeed: a gradient of a result, which only a backward graph reads. kValue:
  // memory that an earlier step of the call has made.
  enum Kind : uint8_t { kArgument, kOuter, kGrad, kSeed, kValue };
  Kind kind = kArgument;
  // The index among the arguments, in Variant::outer, in Variant::grads, or
  // among the values of step `step`.
  int index = 0;
  int step = 0;
};

// The effect of a call on .grad of a tensor.
struct Grad {
  enum Effect : uint8_t { kNone, kReset, kSet };
  TensorPlace of;
  TensorGuard before;
  // The first .grad from before the call that lies in the same memory.
  size_t shares = 0;
  Effect effect = kNone;
  bool read = false;  // the call needs the elements that it had
  size_t result = 0;  // of the graph, for kSet
};

struct BoundInput {
  TensorPlace place;
  bool whole = false, written = false;
  // The bytes from the tensor's own first element to the input; for kOuter and
  // kValue, from the begin of the storage.
  int64_t offset = 0;
  // The element at which the tensor began in a whole storage, and the size of
  // the storage in bytes.
  int64_t first = 0;
  size_t bytes = 0;
};

struct Output {
  bool defined = true;
  bool is_place = false;  // it is the tensor at `place` itself
  bool requires_grad = false;
  TensorPlace place;
  size_t result = 0;  // of the graph
};

// A part of a call that ends where the code looks at elements: a graph, then
// the look (aten/backend/capture.h). Variants that begin alike share it.
struct Step {
  std::unique_ptr<capture::Graph> graph;
  std::unique_ptr<capture::Look> look;
  std::vector<BoundInput> inputs, look_inputs;
  Device device;
};

// The values that the steps of a call have made, step by step.
struct Frame {
  std::vector<std::vector<Storage>> values;
};

// A capture, ready to be replayed. Not changed once it is made.
struct Variant {
  ArgumentGuard arguments;
  std::vector<Outer> outer;
  std::vector<Grad> grads;
  std::vector<BoundInput> inputs;
  std::vector<Output> outputs;
  std::vector<int64_t> lengths;
  // The memory of `outer`, sorted, and the arguments that lie there or where a
  // .grad is.
  std::vector<const StorageImpl*> captured;
  std::vector<bool> shares;
  // Arguments and tensors of the program, and whether hooks ran there, if
  // gradients arrived within the call.
  struct Hooked {
    TensorPlace of;
    bool hooks;
  };
  std::vector<Hooked> hooked;
  // The steps that run before `forward`, and what each look must see for that.
  std::vector<std::shared_ptr<const Step>> steps;
  std::vector<std::vector<uint64_t>> seen;
  std::unique_ptr<capture::Graph> forward;
  // nullptr if there are steps.
  std::shared_ptr<const Backward> backward;

  bool matches(const Arguments& a) const;
  // Why it does not match; "" if it does.
  std::string difference(const Arguments& a) const;
  // Replays the rest of a call after its steps, which have left `frame`.
  void replay(const Arguments& a, const Frame& frame, Outputs* out) const;
  // The results of a run that has left these values.
  void deliver(const Arguments& a, const Frame& frame,
               const std::vector<Storage>& values, Outputs* out) const;
  // The memory of an input; not for kSeed.
  capture::Memory memory_of(const BoundInput& in, const Arguments& a,
                            const Frame& frame) const;
  // The text that two captures of equal calls must have in common; the tensors
  // of the program must be the same, too.
  std::string text() const;
  std::string step_text(size_t i) const;
  bool has_same_tensors(const Variant& other) const;
  // The calls without sizes and numbers: variants with equal ones may be the
  // same calls on tensors of other sizes.
  std::string structure() const;
  // Looks at sharing and hooks as they are, once all else is known.
  // `before`: the gradients as they were.
  void guard_sharing(const Arguments& a, const std::vector<Tensor>& before,
                     bool gradients_arrived);

 private:
  const Tensor& at(TensorPlace p, const Arguments& a) const;
  Storage storage_at(TensorPlace p, const Arguments& a,
                     const Frame& frame) const;
  void bump_versions(const std::vector<BoundInput>& of,
                     const Arguments& a) const;
  bool outer_matches(std::string* why) const;
  bool grads_match(const Arguments& a, std::string* why) const;
  // `grad(i)` is the .grad that grads[i] is about.
  template <class Grads>
  bool shares_memory(const Tensor& argument, const Grads& grad) const;
  template <class Grads>
  static size_t first_sharing(size_t i, const Grads& grad);
  bool sharing_matches(const Arguments& a, std::string* why) const;
  bool hooks_match(const Arguments& a, std::string* why) const;
  bool whole_matches(const BoundInput& in, const Arguments& a) const;
  int64_t begin_of(const BoundInput& in, const Arguments& a) const;
  std::vector<Tensor> input_tensors(const Arguments& a) const;
};

}  // namespace sy::compiling
