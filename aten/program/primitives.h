#pragma once

// The primitives that programs are made of, for backends: they may include the
// generator's folders only through aten.

#include "lang/primitives.h"
