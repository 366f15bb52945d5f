#pragma once

#include <string>

#include "codegen/emit/common.h"
#include "codegen/model_names.h"
#include "model/compiled.h"
#include "model/derivative.h"

namespace sy::codegen {

// "MulTensorBackward"; of a leading underscore, "InternalSoftmaxBackward".
std::string node_name(const Operator& op);

// The node's class, and the programs that its formulas may run.
void emit_node(Writer& w, const Operator& op, const DerivativePlan& plan,
               const CompiledPrograms& compiled);
// The node of operators that overwrite `self` with values that do not depend on
// it.
void emit_overwrite_node(Writer& w);

// The statements by which a kernel fills the variable `node` in, before and
// after the call. `written`: the argument that the call overwrites, or "".
void emit_saves(Writer& w, const DerivativePlan& plan,
                const std::string& written, const std::string& node);
// The member that holds the geometry of "self" or of the "view".
std::string geometry_member(const DerivativePlan& plan, std::string_view of);
// "if (node->needs(1)) ", for a value that only some gradients read.
std::string if_needed(const DerivativePlan& plan, const Saved& s,
                      const std::string& node);
bool has_result_saves(const DerivativePlan& plan);
template <class F>
void emit_result_saves(Writer& w, const DerivativePlan& plan,
                       const std::string& node, F&& result) {
  for (const GradFormula& f : plan.formulas) {
    if (f.by_geometry) {
      w.line("  {}->{} = Geometry(*{}.impl());", node,
             geometry_member(plan, "view"), result(0));
    }
  }
  for (const Saved& s : plan.saved) {
    if (!s.is_result) continue;
    const std::string value = result(s.result);
    const std::string to =
        fmt::format("  {}{}->{}_", if_needed(plan, s, node), node, s.cpp);
    // Only the first of several results has a history, as a rule.
    if (s.kind == Saved::kMeta || (s.result > 0 && !plan.uses_grads)) {
      w.line("{}.save({});", to, value);
    } else {
      w.line("{}.save_output({}{});", to, value,
             s.result == 0 ? "" : fmt::format(", {}", s.result));
    }
  }
}

}  // namespace sy::codegen
