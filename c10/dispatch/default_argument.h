#pragma once

#include "c10/schema/default_value.h"
#include "c10/schema/type.h"
#include "c10/tensor/value.h"

namespace sy {

// The default of an argument of type `type`, boxed. None if there is no
// default.
SY_API Value default_value(DefaultValue v, Type type);

}  // namespace sy
