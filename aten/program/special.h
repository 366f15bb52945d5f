#pragma once

// The special functions that primitives are made of, for backends, which see
// the generator's folders by way of aten alone.

#include "codegen/lang/special/functions.h"
