#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "aten/program/resolve.h"
#include "backends/cpu/region/plan.h"
#include "backends/cpu/tiles/runner.h"
#include "c10/tensor/storage.h"
#include "c10/tensor/tensor_impl.h"

// A run of a region: its memory, the walk of each loop over that memory, and
// the data of each thread.

namespace sy::cpu {

class RegionRun;

// The memory for all that one run or one thread of it needs to know, side by
// side and freed at once: a small region would take longer to allocate than to
// run. For one thread.
class RunMemory : public std::pmr::monotonic_buffer_resource {
 public:
  RunMemory() : monotonic_buffer_resource(room_, sizeof(room_)) {}

 private:
  alignas(64) std::byte room_[16 << 10];
};

// Some dims of a loop. They are sorted so that the written memories (or without
// any, the first that is read) are walked in order. Neighbours that lie as one
// are merged.
class DimWalk {
 public:
  // `strides[m]`: the strides of memory m in bytes, one for each dim of the
  // region. The walk keeps its data in the memory of that list.
  DimWalk(uint64_t dims, IntArrayRef sizes,
          const std::pmr::vector<const int64_t*>& strides);
  int ndim() const { return n_; }
  int64_t size(int d) const { return d < n_ ? sizes_[d] : 1; }
  int64_t stride(int memory, int d) const {
    return d < n_ ? strides_[static_cast<size_t>(memory * n_ + d)] : 0;
  }
  int64_t numel() const { return numel_; }
  // The byte offset of element `index` of the dims from `first` on.
  int64_t offset(int memory, int64_t index, int first = 0) const {
    if (n_ - first <= 1) return index * stride(memory, first);
    int64_t at = 0;
    for (int d = first; d < n_ && index != 0; ++d) {
      at += index % sizes_[d] * stride(memory, d);
      index /= sizes_[d];
    }
    return at;
  }

 private:
  int n_ = 0;
  int64_t numel_ = 1;
  int64_t sizes_[TensorImpl::kMaxDims];
  std::pmr::vector<int64_t> strides_;
};

// A loop with the memory that it walks. `strides`: of each memory, in bytes.
struct BoundLoop {
  const Loop& loop;
  std::pmr::vector<char*> data;
  std::pmr::vector<const int64_t*> strides;
  std::pmr::vector<ScalarType> dtypes;

  BoundLoop(const Loop& walked, RunMemory* memory)
      : loop(walked), data(memory), strides(memory), dtypes(memory) {
    data.reserve(loop.memories.size());
    strides.reserve(loop.memories.size());
    dtypes.reserve(loop.memories.size());
  }
};

class RegionRun {
 public:
  RegionRun(const Region& region, const Plan& plan, const RegionCall& call);
  void run();

  IntArrayRef sizes() const { return call_.sizes; }
  const program::Uniform* uniforms() const { return call_.uniforms; }
  const RegionCall& call() const { return call_; }
  int64_t numel(uint64_t dims) const;
  // For the thread that runs the region.
  RunMemory* memory() const { return &memory_; }

 private:
  BoundLoop bind(const Loop& loop);
  void bind_memory(const Memory& m, BoundLoop* out);
  void allocate_temporaries();
  void alias_products();

  const Region& region_;
  const Plan& plan_;
  const RegionCall& call_;
  mutable RunMemory memory_;
  // The memory of the plan's temporaries, by value; null for other values.
  std::pmr::vector<char*> temporaries_{&memory_};
  std::pmr::vector<Storage> storages_{&memory_};
};

// A stage's numbers, and its program with what they choose.
class StageNumbers {
 public:
  StageNumbers(const Stage& stage, const program::Uniform* uniforms);
  const program::Program& program() const { return *program_; }
  const program::Uniform* uniforms() const { return uniforms_; }

 private:
  program::Uniform uniforms_[program::kMaxUniforms];
  program::Resolved resolved_;
  const program::Program* program_;
};

// A stage ready for the operands of a run; each thread has its own.
class BoundStage {
 public:
  // `strides`: those of its inputs, then of its outputs, in bytes.
  BoundStage(const Stage& stage, const program::Uniform* uniforms,
             const int64_t* strides);
  const tiles::Runner& runner() const { return runner_; }
  void take_code(int64_t work) { runner_.take_code(work); }

 private:
  tiles::Runner make(const Stage& stage, const int64_t* strides) const;

  StageNumbers numbers_;
  tiles::Runner runner_;
};

void run_pointwise_loop(const RegionRun& run, const BoundLoop& loop);
void run_reduce_loop(const RegionRun& run, const BoundLoop& loop);
void run_product(const RegionRun& run, const BoundLoop& loop);

// Throws ValueError if a kernel on this thread divided an integer by zero since
// the last call. Without `integers` it does nothing.
void check_division(bool integers);

}  // namespace sy::cpu
