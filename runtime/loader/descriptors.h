#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "aten/backend/node.h"
#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"
#include "aten/program/op_desc.h"
#include "c10/tensor/value.h"
#include "model/programs.h"

// The descriptors that sygen prints as constants, with arrays of their own.

namespace sy::runtime {

// The arrays that a program points to, in one block.
using ProgramArrays = std::unique_ptr<std::byte[]>;
// A view of a copy of the program's arrays, which `arrays` holds then.
// `indices`: the places of its scalars among those of the call, if they are
// others.
ElementProgram copy_program(const lang::Program& program,
                            const std::vector<int>& indices,
                            ProgramArrays* arrays);

// A scalar of a call, read from a boxed argument.
struct ScalarSource {
  InternedString name;
  NodeScalar::Kind kind;
  InternedString text;  // of kEquals

  Scalar read(const Value& v) const {
    return read_scalar(kind, text.c_str(), v);
  }
};
std::vector<ScalarSource> scalar_sources(
    const std::vector<lang::ScalarInput>& scalars,
    const FunctionSchema& schema);

class PointwiseData {
 public:
  // `name`, for messages, outlives this.
  PointwiseData(const model::PointwiseParts& parts,
                const FunctionSchema& schema, const char* name);
  PointwiseData(const PointwiseData&) = delete;
  PointwiseData& operator=(const PointwiseData&) = delete;

  // The op names what the operands and the scalars are read from.
  const PointwiseOp& op() const { return op_; }
  const std::vector<ScalarSource>& scalars() const { return scalars_; }

  static constexpr int kMaxScalars = 32;

 private:
  std::vector<ScalarSource> scalars_;
  std::vector<const char*> names_;  // of inputs, then of scalars
  std::vector<lang::Uniform> defaults_;
  std::unique_ptr<ElementProgram> at_defaults_;
  ProgramArrays arrays_[2];
  PointwiseOp op_;
};

class ReduceData {
 public:
  // `name`, for messages, outlives this.
  ReduceData(const model::ReduceParts& parts, const char* name,
             const FunctionSchema& schema, size_t accumulators, bool in_double);
  ReduceData(const ReduceData&) = delete;
  ReduceData& operator=(const ReduceData&) = delete;

  const ReduceOp& op() const { return op_; }
  const std::vector<ScalarSource>& scalars() const { return scalars_; }

 private:
  std::vector<ScalarSource> scalars_;
  std::vector<lang::Uniform> identity_;
  std::unique_ptr<ElementProgram> finish_;
  ProgramArrays arrays_[3];
  ReduceOp op_;
};

class ScanData {
 public:
  // `name`, for messages, outlives this.
  ScanData(const model::Operator& op, const char* name);
  ScanData(const ScanData&) = delete;
  ScanData& operator=(const ScanData&) = delete;

  const ScanOp& op() const { return op_; }

 private:
  ProgramArrays arrays_;
  ScanOp op_;
};

// The limit of the engines that the program exceeds, as a text, or "".
// `operands`: its inputs and results are tensors of one call.
std::string beyond_limits(const lang::Program& program, bool operands = true);

}  // namespace sy::runtime
