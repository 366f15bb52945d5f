#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "aten/backend/capture.h"
#include "frontend/compile/backward.h"
#include "frontend/compile/guards.h"

namespace sy::compiling {

// .grad as it is, without telling a capture; undefined if there is none.
const Tensor& grad_of(const Tensor& t);

// A tensor that a replay finds again.
struct Place {
  // kSeed: a gradient of a result, which only a backward graph reads. kValue:
  // memory that an earlier step of the call has made.
  enum Kind : uint8_t { kArgument, kOuter, kGrad, kSeed, kValue };
  Kind kind = kArgument;
  // Of the arguments, of Variant::outer, of Variant::grads, of the values of
  // step `step`.
  int index = 0;
  int step = 0;
};

// A tensor that the code reaches without being given it.
struct Outer {
  std::shared_ptr<const Tensor> tensor;  // no view; see outer.h
  Storage storage;
  TensorGuard guard;
};

// What happens to .grad of a tensor.
struct Grad {
  enum Effect : uint8_t { kNone, kReset, kSet };
  Place of;
  TensorGuard before;
  Effect effect = kNone;
  bool read = false;  // the call needs the elements that it had
  size_t result = 0;  // of the graph, for kSet
};

struct BoundInput {
  Place place;
  bool whole = false, written = false;
  // Where it begins behind the tensor's own first element; of kOuter and
  // kValue: in the storage. In bytes.
  int64_t offset = 0;
  // Of a whole storage: where the tensor began in it, and its size in bytes.
  int64_t first = 0;
  size_t bytes = 0;
};

struct Output {
  bool defined = true;
  bool is_place = false;  // it is the tensor at `place` itself
  bool requires_grad = false;
  Place place;
  size_t result = 0;  // of the graph
};

// A part of a call that ends where the code looks at elements: a graph, then
// the look (aten/backend/capture.h). Variants that begin alike share it.
struct Step {
  std::unique_ptr<capture::Graph> graph;
  std::unique_ptr<capture::Look> look;
  std::vector<BoundInput> inputs, look_inputs;
  Device device;
  // Whether looks have seen what they saw before: falls with each that has not.
  // See walk.h.
  mutable std::atomic<int> luck{64};
};

// What the steps of a call have made, step by step.
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
  // What runs before `forward`, and what each look must see for that.
  std::vector<std::shared_ptr<const Step>> steps;
  std::vector<std::vector<uint64_t>> seen;
  std::unique_ptr<capture::Graph> forward;
  std::shared_ptr<const Backward> backward;

  bool matches(const Arguments& a) const;
  // Why it does not match; "" if it does.
  std::string difference(const Arguments& a) const;
  // After its steps, which have left `frame`.
  void replay(const Arguments& a, const Frame& frame, Outputs* out) const;
  // The results of a run that has left these values.
  void deliver(const Arguments& a, const Frame& frame,
               const std::vector<Storage>& values, Outputs* out) const;
  // Where an input is; not for kSeed.
  capture::Memory memory_of(const BoundInput& in, const Arguments& a,
                            const Frame& frame) const;
  // What two captures of equal calls must have in common.
  std::string text() const;
  std::string step_text(size_t i) const;

 private:
  const Tensor& at(Place p, const Arguments& a) const;
  Storage storage_at(Place p, const Arguments& a, const Frame& frame) const;
  void bump_versions(const std::vector<BoundInput>& of,
                     const Arguments& a) const;
  bool outer_matches(std::string* why) const;
  bool grads_match(const Arguments& a, std::string* why) const;
  bool whole_matches(const BoundInput& in, const Arguments& a) const;
  int64_t begin_of(const BoundInput& in, const Arguments& a) const;
  std::vector<Tensor> input_tensors(const Arguments& a,
                                    const Frame& frame) const;
};

}  // namespace sy::compiling
