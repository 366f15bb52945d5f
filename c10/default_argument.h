#pragma once

#include "c10/schema/default_value.h"
#include "c10/schema/type.h"
#include "c10/value.h"

namespace sy {

// A default of a signature, boxed for an argument of that type. None if there
// is no default.
SY_API Value default_value(DefaultValue v, Type type);

}  // namespace sy
