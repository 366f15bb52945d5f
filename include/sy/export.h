#pragma once

// Models that Python exported with torch.export: sy::load_program. Only
// programs that load some need to include it.

#include "frontend/export/program.h"
#include "frontend/export/program_facts.h"
