#pragma once

// What programs are compiled to, and whether.

#include "aten/backend/jit.h"
