#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"
#include "model/derivative.h"
#include "model/model.h"

// The element programs of pointwise and reduce operators and what else their
// descriptors hold: printed by sygen, filled in by the loader of schemas.

namespace sy::model {

struct PointwiseParts {
  std::string name;  // "add.Tensor", for messages
  std::string rule;  // of promote_rules()
  lang::Program program;
  // The program with every scalar at its default, if that is simpler; then
  // `defaults` has a value for each scalar.
  std::optional<lang::Program> at_defaults;
  std::vector<lang::Uniform> defaults;
  // Bit 31 of promote_scalars: a whole number counts too.
  std::uint32_t promote_inputs = 0, promote_scalars = 0, whole_scalars = 0;
  std::uint32_t lower_bounds = 0, upper_bounds = 0;  // min, max of clamp
};
PointwiseParts pointwise_parts(const Operator& op);
// The parts of a derivative that is one program: formula.fused is set.
PointwiseParts fused_parts(const Operator& op, const GradFormula& formula);

struct ReduceParts {
  std::string rule;
  lang::Program map, combine;
  std::optional<lang::Program> finish;
  std::vector<lang::ScalarInput> scalars;  // of the call
  std::vector<lang::Uniform> identity;     // empty: there is none
};
ReduceParts reduce_parts(const Operator& op);
struct ScanParts {
  std::string rule;
  lang::Program combine;  // of two elements
};
ScanParts scan_parts(const Operator& op);
// The way to read a scalar from an argument: NodeScalar::Kind of
// aten/program/op_desc.h, in its order.
enum class ScalarKind : std::uint8_t {
  kScalar,
  kInt,
  kFloat,
  kBool,
  kHasValue,
  kEquals,
};
ScalarKind scalar_kind(const lang::ScalarInput& scalar, Type argument);

// The arguments that a program takes: NodeDesc there.
struct NodeParts {
  struct Scalar {
    int argument;
    ScalarKind kind;
    std::string text;  // of kEquals
  };
  std::vector<int> inputs;
  std::vector<Scalar> scalars;
  int dim = -1, keepdim = -1, dtype = -1;
};
// The parts of a pointwise, reduce or scan operator.
NodeParts node_parts(const Operator& op);

// Whether operators can take the steps of the operator's programs if a backend
// has no kernel for it: aten/backend/decompose.h.
bool is_decomposable(const Operator& op);

// The indices of the call's scalars, one for each of the program's; -1 for the
// number of elements. Empty if they are the same.
std::vector<int> scalar_indices(const lang::Program& program,
                                const std::vector<lang::ScalarInput>& scalars);

lang::Program pointwise_program(const Operator& op);

}  // namespace sy::model
