#pragma once

// Compiled programs: docs/jit.md.
#include "backends/cpu/jit/stats.h"
