#pragma once

// Callables that are captured once and replayed.

#include "frontend/compile/compile.h"
