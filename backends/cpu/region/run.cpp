#include "backends/cpu/region/run.h"

#include <algorithm>

#include "aten/engine/iter.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

DimWalk::DimWalk(uint64_t dims, IntArrayRef sizes,
                 const std::pmr::vector<const int64_t*>& strides)
    : strides_(strides.get_allocator()) {
  int which[TensorImpl::kMaxDims];
  int64_t list_sizes[TensorImpl::kMaxDims];
  int n = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if ((dims >> d & 1) == 0) continue;
    numel_ *= sizes[d];
    if (sizes[d] == 1) continue;
    which[n] = static_cast<int>(d);
    list_sizes[n++] = sizes[d];
  }
  const size_t memories = strides.size();
  std::pmr::vector<int64_t> own(memories * static_cast<size_t>(n),
                                strides_.get_allocator());
  std::pmr::vector<const int64_t*> lists(memories, strides_.get_allocator());
  for (size_t m = 0; m < memories; ++m) {
    int64_t* const to = own.data() + m * static_cast<size_t>(n);
    for (int d = 0; d < n; ++d) to[d] = strides[m][which[d]];
    lists[m] = to;
  }
  uint8_t order[TensorImpl::kMaxDims];
  sort_dims(lists.data(), static_cast<int>(memories), list_sizes, n, order);
  // The dims that remain: first[i] is the fastest of those that are one.
  int first[TensorImpl::kMaxDims];
  for (int i = 0; i < n; ++i) {
    const int d = order[i];
    bool merges = n_ > 0;
    for (size_t m = 0; m < memories && merges; ++m) {
      merges = lists[m][d] == lists[m][first[n_ - 1]] * sizes_[n_ - 1];
    }
    if (merges) {
      sizes_[n_ - 1] *= list_sizes[d];
    } else {
      first[n_] = d;
      sizes_[n_++] = list_sizes[d];
    }
  }
  strides_.resize(memories * static_cast<size_t>(n_));
  for (size_t m = 0; m < memories; ++m) {
    for (int d = 0; d < n_; ++d) {
      strides_[m * static_cast<size_t>(n_) + static_cast<size_t>(d)] =
          lists[m][first[d]];
    }
  }
}

RegionRun::RegionRun(const Region& region, const Plan& plan,
                     const RegionCall& call)
    : region_(region), plan_(plan), call_(call) {}

int64_t RegionRun::numel(uint64_t dims) const {
  int64_t n = 1;
  for (size_t d = 0; d < call_.sizes.size(); ++d) {
    if (dims >> d & 1) n *= call_.sizes[d];
  }
  return n;
}

void RegionRun::allocate_temporaries() {
  if (plan_.temporaries.empty()) return;
  temporaries_.assign(plan_.values.size(), nullptr);
  alias_products();
  for (const int v : plan_.temporaries) {
    if (temporaries_[static_cast<size_t>(v)] != nullptr) continue;
    const PlanValue& value = plan_.values[static_cast<size_t>(v)];
    const auto bytes =
        static_cast<size_t>(numel(value.dims)) * element_size(value.dtype);
    storages_.push_back(StorageImpl::allocate(bytes, Device(kCPU)));
    temporaries_[static_cast<size_t>(v)] =
        static_cast<char*>(storages_.back()->data());
  }
}

// A product whose result one program reads and overwrites is computed in the
// memory of that program's output.
void RegionRun::alias_products() {
  for (const Loop& loop : plan_.loops) {
    if (!loop.is_product) continue;
    const auto result = static_cast<size_t>(loop.product.result);
    const int v = loop.memories[result].index;
    const Loop* reader = nullptr;
    int readers = 0;
    for (const Loop& other : plan_.loops) {
      for (const Memory& m : other.memories) {
        if (&other == &loop || m.kind != Memory::kTemporary || m.index != v) {
          continue;
        }
        reader = &other;
        ++readers;
      }
    }
    const PlanValue& value = plan_.values[static_cast<size_t>(v)];
    if (readers != 1 || reader->is_product || reader->reduced != 0 ||
        reader->phases.size() != 1 || reader->phases[0].stages.size() != 1 ||
        reader->space != value.dims) {
      continue;
    }
    BoundLoop dense(loop, &memory_);
    bind_memory(loop.memories[result], &dense);
    for (const Memory& m : reader->memories) {
      if (m.kind != Memory::kOutput) continue;
      const RegionOutput& o = region_.outputs[static_cast<size_t>(m.index)];
      BoundLoop out(loop, &memory_);
      bind_memory(m, &out);
      if (o.donor >= 0 ||
          element_size(o.memory.dtype) != element_size(value.dtype) ||
          !std::equal(dense.strides[0], dense.strides[0] + sizes().size(),
                      out.strides[0])) {
        continue;
      }
      temporaries_[static_cast<size_t>(v)] = out.data[0];
      break;
    }
  }
}

void RegionRun::bind_memory(const Memory& m, BoundLoop* out) {
  const size_t n = call_.sizes.size();
  auto* const strides = static_cast<int64_t*>(
      memory_.allocate(n * sizeof(int64_t), alignof(int64_t)));
  const auto operand = [&](const RegionOperand& said, const RegionMemory& got) {
    const auto item = static_cast<int64_t>(element_size(said.dtype));
    for (size_t d = 0; d < n; ++d) {
      const int64_t s = said.strides[d] == 0 || got.strides == nullptr
                            ? said.strides[d]
                            : got.strides[d];
      strides[d] = call_.sizes[d] == 1 ? 0 : s * item;
    }
    out->data.push_back(static_cast<char*>(got.data));
    out->dtypes.push_back(said.dtype);
  };
  const auto i = static_cast<size_t>(m.index);
  switch (m.kind) {
    case Memory::kInput: operand(region_.inputs[i], call_.inputs[i]); break;
    case Memory::kOutput:
      operand(region_.outputs[i].memory, call_.outputs[i]);
      break;
    case Memory::kTemporary: {
      const PlanValue& value = plan_.values[i];
      auto stride = static_cast<int64_t>(element_size(value.dtype));
      for (size_t d = n; d-- > 0;) {
        const bool varies = value.dims >> d & 1;
        strides[d] = varies && call_.sizes[d] != 1 ? stride : 0;
        if (varies) stride *= call_.sizes[d];
      }
      out->data.push_back(temporaries_[i]);
      out->dtypes.push_back(value.dtype);
      break;
    }
  }
  out->strides.push_back(strides);
}

BoundLoop RegionRun::bind(const Loop& loop) {
  BoundLoop out(loop, &memory_);
  for (const Memory& m : loop.memories) bind_memory(m, &out);
  return out;
}

void RegionRun::run() {
  allocate_temporaries();
  for (const Loop& loop : plan_.loops) {
    const BoundLoop bound = bind(loop);
    if (loop.is_product) {
      run_product(*this, bound);
    } else if (loop.reduced == 0) {
      run_pointwise_loop(*this, bound);
    } else {
      run_reduce_loop(*this, bound);
    }
  }
}

StageNumbers::StageNumbers(const Stage& stage, const program::Uniform* uniforms)
    : program_(&stage.body.program) {
  for (size_t i = 0; i < stage.uniforms.size(); ++i) {
    uniforms_[i] = uniforms[stage.uniforms[i]];
  }
  if (program_->bool_uniforms != 0) {
    program_ = resolved_.resolve(*program_, uniforms_);
  }
}

BoundStage::BoundStage(const Stage& stage, const program::Uniform* uniforms,
                       const int64_t* strides)
    : numbers_(stage, uniforms), runner_(make(stage, strides)) {}

tiles::Runner BoundStage::make(const Stage& stage,
                               const int64_t* strides) const {
  tiles::Operand operands[program::kMaxInputs + program::kMaxResults];
  size_t n = 0;
  for (const auto* list : {&stage.inputs, &stage.outputs}) {
    for (const Port& port : *list) {
      operands[n] = {nullptr, strides[n], port.dtype};
      ++n;
    }
  }
  return tiles::Runner(numbers_.program(), stage.type, operands,
                       numbers_.uniforms(), operands + stage.inputs.size());
}

void check_division(bool integers) {
  if (!integers) return;
  SY_CHECK(!tiles::take_error(), Value,
           "[region] expected a divisor other than 0, got an integer 0");
}

}  // namespace sy::cpu
