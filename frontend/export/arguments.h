#pragma once

#include <optional>
#include <string>

#include "c10/schema/type.h"
#include "frontend/export/plan.h"

namespace sy::exporting {

// An argument of a node as the type of its operator wants it.
struct ArgumentPlan {
  Source source;  // unless it is a list with slots
  std::optional<ListPlan> list;
};

// Gives the slot of a value, or kConstant if there is none of the name.
class Slots {
 public:
  virtual ~Slots() = default;
  virtual int32_t find(const std::string& name) = 0;
};

// Throws TypeError "expected float, got a string" for what does not fit, and
// ValueError for a name without a slot.
ArgumentPlan plan_argument(const ArgumentText& text, Type type, Slots& slots);

// The constant that the text is by itself, and slots by name.
Source plan_source(const ArgumentText& text, Slots& slots);

// A list of values. Throws TypeError for one that is not of the kind.
Value make_list(ListPlan::Kind kind, const Value* items, size_t n);

// "a list", for messages.
const char* kind_name(ArgumentText::Kind kind);

}  // namespace sy::exporting
