#include "backends/cuda/engine/region_kernels.h"

#include <algorithm>
#include <string_view>

#include "backends/cuda/compile/jit.h"
#include "backends/cuda/engine/interpret.h"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/region_interpret.h"
#include "backends/cuda/print/body.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

using print::ReduceShell;
using print::RegionPacks;

class WalkSource final : public ProgramSource {
 public:
  WalkSource(const RegionStep& step, const RegionPacks& packs)
      : step_(step), packs_(packs) {}
  std::string text(const std::string& name) const override {
    return print::print_region_walk(name, step_.text, packs_);
  }
  std::string label() const override { return "region"; }

 private:
  const RegionStep& step_;
  RegionPacks packs_;
};

class ReductionSource final : public ProgramSource {
 public:
  ReductionSource(const RegionStep& step, ReduceShell shell)
      : step_(step), shell_(shell) {}
  std::string text(const std::string& name) const override {
    return print::print_region_reduce(name, step_.text, shell_);
  }
  std::string label() const override { return "region"; }

 private:
  const RegionStep& step_;
  ReduceShell shell_;
};

class RowSource final : public ProgramSource {
 public:
  explicit RowSource(const RegionRowStep& step) : step_(step) {}
  std::string text(const std::string& name) const override {
    return print::print_region_row(name, step_.text);
  }
  std::string label() const override { return "region of rows"; }

 private:
  const RegionRowStep& step_;
};

const OperatorEntry* operator_of(const RegionNode& n) {
  if (n.name == nullptr) return nullptr;
  const auto op = Dispatcher::singleton().find(n.name);
  return op ? &op->entry() : nullptr;
}

// Only integers fail for their values: where they are divided.
const OperatorEntry* failing_operator(const print::RegionText& t) {
  const auto node = [&](int i) -> const RegionNode& {
    return t.region->nodes[static_cast<size_t>(i)];
  };
  for (const int i : t.nodes) {
    const RegionNode& n = node(i);
    if (print::may_divide_by_zero(n.body,
                                  program::compute_type_of(n.compute))) {
      return operator_of(n);
    }
  }
  if (t.reduction >= 0) return operator_of(node(t.reduction));
  return t.nodes.empty() ? nullptr : operator_of(node(t.nodes.back()));
}

}  // namespace

PreparedStep::PreparedStep(const RegionStep& step)
    : step_(step),
      interpretable_(can_interpret(step)),
      named_(failing_operator(step.text)) {
  cost_ = print::region_cost(step.text);
  hash_ =
      hash_of(reduces() ? ReductionSource(step, ReduceShell::kRows).text("k")
                        : WalkSource(step, {}).text("k"));
}

RegionWalkShape PreparedStep::shape_of(
    const std::vector<const RegionPlace*>& operands,
    const RegionWalk& walk) const {
  const print::RegionText& t = step_.text;
  const size_t inputs = t.inputs.size();
  const auto dtype_of = [&](size_t k) {
    return k < inputs
               ? t.values->dtype(t.inputs[k])
               : t.region->outputs[static_cast<size_t>(t.outputs[k - inputs])]
                     .memory.dtype;
  };
  uint64_t fixed = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const int64_t stride = walk.strides[k][0];
    if (stride == 0 && k < inputs) {
      fixed |= uint64_t{1} << k;
    } else if (stride != static_cast<int64_t>(element_size(dtype_of(k)))) {
      return {};
    }
  }
  RegionWalkShape shape;
  shape.packs = print::region_packs(t, cost_, fixed);
  const int64_t width = shape.packs.width;
  if (width == 1) return {};
  if (walk.dims > 1 && walk.sizes[0] % width != 0) return {};
  // Elements that go one by one, until all operands are aligned. Rows are
  // aligned as they are, or not at all.
  const auto is_aligned = [&](int64_t skipped) {
    for (size_t k = 0; k < operands.size(); ++k) {
      if ((fixed >> k & 1) != 0) continue;
      const auto item = static_cast<int64_t>(element_size(dtype_of(k)));
      auto all = static_cast<uint64_t>(
          reinterpret_cast<intptr_t>(operands[k]->data) + skipped * item);
      for (int d = 1; d < walk.dims; ++d) {
        all |= static_cast<uint64_t>(walk.strides[k][d]);
      }
      if (all % static_cast<uint64_t>(std::min<int64_t>(width * item, 16)) != 0)
        return false;
    }
    return true;
  };
  const int64_t tried = walk.dims > 1 ? 1 : width;
  while (shape.skipped < tried && !is_aligned(shape.skipped)) ++shape.skipped;
  if (shape.skipped == tried || walk.numel < shape.skipped + width) return {};
  shape.n_packs = (walk.numel - shape.skipped) / width;
  return shape;
}

const Function* PreparedStep::find_walk(int device,
                                        const RegionPacks& packs) const {
  Hasher h;
  h.add(hash_.a).add(hash_.b);
  h.add(static_cast<uint64_t>(packs.width)).add(packs.fixed);
  return program(device, key_of(h), WalkSource(step_, packs));
}

const Function* PreparedStep::find_reduction(int device,
                                             ReduceShell shell) const {
  Hasher h;
  h.add(hash_.a).add(hash_.b).add(static_cast<uint64_t>(shell));
  return program(device, key_of(h), ReductionSource(step_, shell));
}

void PreparedStep::ask(int device) const {
  const print::RegionText& t = step_.text;
  if (reduces()) {
    find_reduction(device, ReduceShell::kRows);
    return;
  }
  // Inputs that do not vary over the last dim of contiguous operands are fixed.
  const int last = static_cast<int>(t.region->sizes.size()) - 1;
  uint64_t fixed = 0;
  for (size_t i = 0; i < t.inputs.size() && last >= 0; ++i) {
    if ((t.values->dims(t.inputs[i]) >> last & 1) == 0) {
      fixed |= uint64_t{1} << i;
    }
  }
  const RegionPacks packs = print::region_packs(t, cost_, fixed);
  find_walk(device, packs.width == 1 ? RegionPacks() : packs);
}

bool PreparedStep::has_to_wait(int device) const {
  if (!interpretable_) return true;
  if (jit_mode() != JitMode::kBackground) return false;
  const print::RegionText& t = step_.text;
  return !std::all_of(t.nodes.begin(), t.nodes.end(), [&](int i) {
    const RegionNode& n = t.region->nodes[static_cast<size_t>(i)];
    const program::ComputeType type = program::compute_type_of(n.compute);
    return has_interpreter(device, type, needs_special_functions(n.body, type));
  });
}

PreparedRow::PreparedRow(const RegionRowStep& step) : step_(step) {
  const Hash h = hash_of(RowSource(step).text("k"));
  key_ = {{h.a, h.b}};
}

const Function* PreparedRow::find(int device) const {
  return program(device, key_, RowSource(step_));
}

void PreparedOnCuda::ask(int device) const {
  if (row_) {
    row_->find(device);
    return;
  }
  for (const PreparedStep& s : steps_) s.ask(device);
}

PreparedOnCuda::PreparedOnCuda(const Region& r)
    : PreparedRegion(r), values_(region()) {
  RegionReason why;
  const bool planned = plan_region(region(), values_, &plan_, &why);
  SY_INTERNAL_ASSERT(planned, "{}", why.text);
  for (const RegionStep& s : plan_.steps) steps_.emplace_back(s);
  if (plan_.row) row_.emplace(*plan_.row);
}

}  // namespace sy::cuda
