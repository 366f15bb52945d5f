#pragma once

#include <deque>
#include <string>
#include <vector>

#include "aten/backend/region.h"
#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"

// Builds regions from operators and tensors, and collects the numbers of a run.
//
//   RegionBuilder b(x.sizes());
//   const int v = b.input(x);
//   const int m = b.reduce(amax, {&x, 1}, v);
//   b.output(b.pointwise(sub, {...}, {v, m}), out);
//   RegionHandle h = prepare_region(kCPU, b.region());

namespace sy {

class SY_API RegionBuilder {
 public:
  explicit RegionBuilder(IntArrayRef sizes);
  RegionBuilder(const RegionBuilder&) = delete;

  // Each of these adds an input or a node, and returns the number of its first
  // value. Inputs come before all nodes.
  int input(ScalarType dtype, IntArrayRef strides);
  // An input with the strides of a tensor, broadcast to the region's sizes.
  // `open`: each run gives the strides.
  int input(const TensorBase& t, bool open = false);

  // Copies the program and the lists, but not `name`.
  int pointwise(const program::Program& p, ScalarType compute,
                ArrayRef<int> inputs, ArrayRef<ScalarType> results,
                const char* name = nullptr);
  // An operator on values. `args` has the arguments for promotion and the
  // numbers, which are added to uniforms(). Throws what the call would throw.
  int pointwise(const PointwiseOp& op, const PointwiseArgs& args,
                ArrayRef<int> inputs);
  // Converts a value.
  int cast(int value, ScalarType to);

  // Reduce over the region's dims `reduced`.
  int reduce(const RegionNode& node, ArrayRef<int> inputs);
  int reduce(const ReduceOp& op, const ReduceArgs& args, int input,
             uint64_t reduced);

  // The sum of a * b over the dims `reduced`.
  int product(int a, int b, uint64_t reduced, ScalarType dtype);
  int convolution(int x, int weight, uint64_t reduced, ScalarType dtype,
                  ArrayRef<RegionWindow> windows);

  // Returns the number of the output among the outputs.
  int output(int value, ScalarType dtype, IntArrayRef strides, int donor = -1);
  int output(int value, const TensorBase& t, int donor = -1);

  // Borrows from the builder, until the builder changes.
  Region region();
  // The numbers of a run, as the arguments of the operators had them.
  const std::vector<program::Uniform>& uniforms() const { return uniforms_; }
  // Adds a number for a program that was added without one. A program without
  // uniforms needs none.
  void uniform(program::Uniform u) { uniforms_.push_back(u); }

 private:
  struct OwnProgram {
    std::vector<program::Step> steps;
    std::vector<program::Result> results;
    program::Program view;
  };
  const program::Program& keep(const program::Program& p);
  template <class T>
  ArrayRef<T> keep(std::deque<std::vector<T>>* lists, ArrayRef<T> list);
  int add(RegionNode node, ArrayRef<int> inputs, ArrayRef<ScalarType> results);
  void add_uniforms(const ElementProgram& p, const Scalar* scalars,
                    int64_t count, ScalarType compute);

  // Deques, because elements must keep their addresses.
  std::vector<int64_t> sizes_;
  std::deque<std::vector<int64_t>> strides_;
  std::deque<std::vector<uint16_t>> values_;
  std::deque<std::vector<ScalarType>> dtypes_;
  std::deque<std::vector<RegionWindow>> windows_;
  std::deque<OwnProgram> programs_;
  std::vector<RegionOperand> inputs_;
  std::vector<RegionNode> nodes_;
  std::vector<RegionOutput> outputs_;
  std::vector<program::Uniform> uniforms_;
  std::vector<ScalarType> value_dtypes_;
  int next_ = 0;
};

// A tensor as an operand of a run. It is broadcast to the sizes of the region,
// aligned at the last dim. `strides` gets one stride for each size. Throws
// ValueError if the sizes do not fit, TypeError for another dtype.
SY_API RegionMemory region_memory(const RegionOperand& operand,
                                  IntArrayRef sizes, const TensorBase& t,
                                  int64_t* strides, const char* what);

// Runs a handle on tensors. Throws what check_call does.
SY_API void run_region(const RegionHandle& handle, IntArrayRef sizes,
                       ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                       ArrayRef<program::Uniform> uniforms = {});

// A listing for people, one node per line.
SY_API std::string region_text(const Region& region);

}  // namespace sy
