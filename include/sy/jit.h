#pragma once

// The compilation of programs: its results, and whether it is on.

#include "aten/backend/jit.h"
