#pragma once

#include <vector>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "aten/tensor_new.h"
#include "backends/cpu/backend_gen.h"
#include "c10/schema/function_schema.h"

// Programs of operators, run as they are written and recorded as a region, so
// that tests compare the two.

namespace sy {

struct Traced {
  int value;
  Tensor eager;
};

class RegionTrace {
 public:
  // All inputs and results broadcast to the sizes.
  explicit RegionTrace(std::vector<int64_t> sizes, bool open = false)
      : sizes_(sizes),
        builder_(open ? std::vector<int64_t>(sizes.size(), kOpen) : sizes),
        open_(open) {}

  Traced input(const Tensor& t) {
    inputs_.push_back(t);
    if (!open_) return {builder_.input(t), t};
    // Strides that are not told, but for the dims that t does not have.
    std::vector<int64_t> strides(sizes_.size(), 0);
    for (int64_t d = 1; d <= t.dim(); ++d) {
      if (t.size(-d) != 1) strides[sizes_.size() - d] = kOpen;
    }
    return {builder_.input(t.scalar_type(), strides), t};
  }

  Traced pointwise(const PointwiseOp& op, std::vector<Traced> in,
                   std::vector<Scalar> scalars = {}) {
    std::vector<const TensorBase*> tensors;
    std::vector<int> values;
    for (const Traced& t : in) {
      tensors.push_back(&t.eager);
      values.push_back(t.value);
    }
    const PointwiseArgs args{tensors.data(), scalars.data()};
    Tensor results[program::kMaxResults];
    if (op.n_outputs == 1) {
      results[0] = cpu::kPointwise.run(op, args);
    } else {
      cpu::kPointwise.results(op, args, results);
    }
    const int first = builder_.pointwise(op, args, values);
    others_.assign(results, results + op.n_outputs);
    return {first, results[0]};
  }
  // Calls an operator by its name, as "add.Tensor"; scalars are those of its
  // program.
  Traced call(const char* name, std::vector<Traced> in,
              std::vector<Scalar> scalars = {}) {
    const NodeDesc* const node = node_of(name);
    SY_INTERNAL_ASSERT(node != nullptr && node->pointwise != nullptr, "{}",
                       name);
    return pointwise(*node->pointwise, std::move(in), std::move(scalars));
  }

  // Reduces over dims of the region; results keep them, with size 1.
  Traced reduce(const ReduceOp& op, Traced in, std::vector<int64_t> dims,
                std::vector<Scalar> scalars = {},
                std::optional<ScalarType> dtype = {}) {
    const auto shift = static_cast<int64_t>(sizes_.size()) - in.eager.dim();
    uint64_t bits = 0;
    for (int64_t& d : dims) {
      bits |= uint64_t{1} << d;
      d -= shift;
    }
    ReduceArgs args{&in.eager, IntArrayRef(dims), true, dtype, scalars.data()};
    Tensor results[ReduceOp::kMaxResults];
    cpu::kReduce.results(op, args, results);
    others_.assign(results, results + op.n_results);
    return {builder_.reduce(op, args, in.value, bits), results[0]};
  }
  Traced reduce(const char* name, Traced in, std::vector<int64_t> dims,
                std::vector<Scalar> scalars = {}) {
    const NodeDesc* const node = node_of(name);
    SY_INTERNAL_ASSERT(node != nullptr && node->reduce != nullptr, "{}", name);
    return reduce(*node->reduce, std::move(in), std::move(dims),
                  std::move(scalars));
  }

  // Result i of the last node.
  Traced other(const Traced& first, int i) const {
    return {first.value + i, others_[static_cast<size_t>(i)]};
  }

  // A place like the eager result, or `to`, which has its elements already
  // where it is the memory of an input.
  void output(const Traced& t, Tensor to = {}, int donor = -1) {
    if (!to.defined()) {
      to = Tensor(
          make_tensor(t.eager.sizes(), t.eager.scalar_type(), Device(kCPU)));
    }
    wanted_.push_back(t.eager);
    outputs_.push_back(to);
    if (!open_) {
      builder_.output(t.value, to, donor);
      return;
    }
    std::vector<int64_t> strides(sizes_.size(), 0);
    for (int64_t d = 1; d <= to.dim(); ++d) {
      if (to.size(-d) != 1) strides[sizes_.size() - d] = kOpen;
    }
    builder_.output(t.value, to.scalar_type(), strides, donor);
  }

  Region region() { return builder_.region(); }
  RegionBuilder& builder() { return builder_; }
  const std::vector<Tensor>& wanted() const { return wanted_; }
  IntArrayRef sizes() const { return sizes_; }

  // The outputs, computed as a region.
  const std::vector<Tensor>& run() {
    const RegionHandle handle = prepare_region(kCPU, builder_.region());
    run_region(handle, sizes_, inputs_, outputs_, builder_.uniforms());
    return outputs_;
  }

  static const NodeDesc* node_of(const char* name) {
    const auto op = Dispatcher::singleton().find(std::string("aten::") + name);
    return op ? node_desc(op->entry()) : nullptr;
  }

 private:
  std::vector<int64_t> sizes_;
  RegionBuilder builder_;
  bool open_;
  std::vector<Tensor> inputs_, outputs_, wanted_, others_;
};

}  // namespace sy
