#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten/backend/node.h"
#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"
#include "aten/program/op_desc.h"
#include "c10/value.h"
#include "codegen/programs.h"

// The descriptors that sygen prints as constants, with arrays of their own.

namespace sy::runtime {

// An ElementProgram and what it points to. Stays where it is.
class ProgramData {
 public:
  ProgramData(const lang::Program& program, const std::vector<int>& indices);
  ProgramData(const ProgramData&) = delete;
  ProgramData& operator=(const ProgramData&) = delete;

  const ElementProgram& get() const { return program_; }

 private:
  lang::Program compiled_;
  std::vector<uint8_t> scalar_index_;
  ElementProgram program_;
};

// A scalar of a call, read from a boxed argument.
struct ScalarSource {
  std::string name;
  NodeScalar::Kind kind;
  std::string text;  // of kEquals

  Scalar read(const Value& v) const {
    return read_scalar(kind, text.c_str(), v);
  }
};
std::vector<ScalarSource> scalar_sources(
    const std::vector<lang::ScalarInput>& scalars,
    const FunctionSchema& schema);

class PointwiseData {
 public:
  PointwiseData(const codegen::PointwiseParts& parts,
                const FunctionSchema& schema);
  PointwiseData(const PointwiseData&) = delete;
  PointwiseData& operator=(const PointwiseData&) = delete;

  const PointwiseOp& op() const { return op_; }
  // Names of what the operands and the scalars are read from.
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<ScalarSource>& scalars() const { return scalars_; }

  static constexpr int kMaxScalars = 32;

 private:
  std::string name_;
  std::vector<std::string> inputs_;
  std::vector<ScalarSource> scalars_;
  std::vector<const char*> input_names_, scalar_names_;
  std::vector<lang::Uniform> defaults_;
  std::vector<std::unique_ptr<ProgramData>> programs_;
  PointwiseOp op_;
};

class ReduceData {
 public:
  ReduceData(const codegen::ReduceParts& parts, const std::string& name,
             const FunctionSchema& schema, size_t accumulators, bool in_double);
  ReduceData(const ReduceData&) = delete;
  ReduceData& operator=(const ReduceData&) = delete;

  const ReduceOp& op() const { return op_; }
  const std::vector<ScalarSource>& scalars() const { return scalars_; }

 private:
  std::string name_;
  std::vector<ScalarSource> scalars_;
  std::vector<lang::Uniform> identity_;
  std::vector<std::unique_ptr<ProgramData>> programs_;
  ReduceOp op_;
};

class ScanData {
 public:
  explicit ScanData(const codegen::Operator& op);
  ScanData(const ScanData&) = delete;
  ScanData& operator=(const ScanData&) = delete;

  const ScanOp& op() const { return op_; }

 private:
  std::string name_;
  std::unique_ptr<ProgramData> program_;
  ScanOp op_;
};

// What goes beyond the engines' limits, or "". `operands`: its inputs and
// results are tensors of one call.
std::string beyond_limits(const lang::Program& program, bool operands = true);

}  // namespace sy::runtime
