#pragma once

#include <cstdint>
#include <vector>

#include "c10/schema/definition.h"
#include "model/derivative.h"
#include "model/exact_out.h"
#include "model/model.h"

// The plan for each form of an entry: printed by sygen, run by the loader of
// schemas. This file makes the decisions that both need.

namespace sy::model {

// The kernel that serves backends without an own one.
enum class FormKernel : uint8_t {
  kNone,
  kComposite,
  kForeach,
  kView,
  kStore,          // stores the results of the entry's own signature
  kRecordedStore,  // the same, by operators that autograd records
};
FormKernel kernel_of(const Operator& op, const Overload& form);
// The keys of such kernels. Autograd records an implicit one by its parts.
inline constexpr char kImplicit[] = "CompositeImplicitAutograd";
inline constexpr char kExplicit[] = "CompositeExplicitAutograd";
bool is_implicit(FormKernel kernel, const Overload& form);

// The action of autograd for a call of the form.
enum class FormGradient : uint8_t {
  kNone,         // nothing is registered
  kFallthrough,  // nothing has to be recorded
  kRecord,       // a node is the history of the results or written tensors
  kRecordView,   // the same for self, which becomes another view
  kOverwrite,    // the history of the written tensor ends
  kReject,       // an error if an argument requires a gradient
};
// `plan`: that of the entry, empty for a composite.
FormGradient gradient_of(const Operator& op, const Overload& form,
                         const DerivativePlan& plan);
// Whether autograd records the parts of which the operator is made.
bool is_recorded_by_parts(const Operator& op);

// Bits of OperatorFlags.
uint16_t flags_of(const Operator& op, const Overload& form, ExactOut* exact);

// Whether every call checks more of the arguments than their types.
bool has_contract(const Operator& op);
// Whether the form has every argument that the contract reads.
bool contract_applies(const Operator& op, const Overload& form);
// Whether calls are checked before a kernel runs.
bool has_guard(const Operator& op, const Overload& form);

// Whether a backend without data makes the results by `shape:` alone.
bool has_sizes_kernel(const Operator& op);

// The layout of fresh results that a kernel of `dispatch:` fills. Row-major, if
// nothing is set.
struct ResultLayout {
  bool by_columns = false;  // matrices are column-major
  int like = -1;            // the argument whose memory format they have
};
ResultLayout result_layout(const Operator& op);

// The copies that keep a kernel from reading elements it has written already.
enum class InputsApart : uint8_t {
  kNone,
  kCopied,         // inputs that share memory with a written tensor
  kCopiedIfNeeded  // inputs that a pointwise loop would read too late
};
InputsApart inputs_apart(const Operator& op, const Overload& form);
// Whether the tensors that are written must not share memory.
bool are_outs_apart(const Overload& form);
// Positions of the tensors, and lists of them, that the form only reads.
std::vector<int> read_tensors(const FunctionSchema& form);

}  // namespace sy::model
