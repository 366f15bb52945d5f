#pragma once

#include <span>
#include <string>

#include "codegen/model_names.h"
#include "codegen/site/facts.h"
#include "model/model.h"

namespace sy::codegen::site {

// Pictures as <svg> elements that take their colours from the page (variables
// of CSS), so that they are right in light, dark and print, and carry a title
// for those who cannot see them. Empty where there is nothing to draw. At most
// some 8 KB each.

// A curve or a family of curves, solid, and their derivatives, dashed.
std::string curves_svg(const std::string& name, const OperatorFacts& facts);

// The flow of elements from a small input to a small output, with arrows, from
// the operator's index expression, its reduce, its scan, or its view.
std::string flow_svg(const Model& model, const Operator& op);

// The parts of a composite, as a graph of its calls. A call is a link, for a
// page beside those of the operators, if one of `families` has the called
// operator.
std::string composition_svg(const Model& model, const Operator& op,
                            std::span<const Family> families);

// Keys, guard, kernel: where a call goes.
std::string dispatch_svg(const OperatorFacts& facts);

}  // namespace sy::codegen::site
