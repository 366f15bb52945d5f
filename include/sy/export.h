#pragma once

// Models that Python exported with torch.export, sy::load_program; models for
// Python, sy::export_program. Only programs that use them need to include it.

#include "frontend/export/export_program.h"
#include "frontend/export/program.h"
#include "frontend/export/program_facts.h"
