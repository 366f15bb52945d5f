#pragma once

// The special functions that primitives are made of, for backends: they may
// include the generator's folders only through aten.

#include "lang/special/functions.h"
