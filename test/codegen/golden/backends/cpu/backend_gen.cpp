// Generated from backends/cpu/backend.yaml by sygen. Do not edit.
#include "backends/cpu/backend_gen.h"

#include "aten/backend/engine_kernels.h"
#include "c10/plugin/library.h"

SY_LIBRARY_IMPL(_, CPU, m) {
  m.service(sy::BackendService::kEngines,
            const_cast<sy::BackendEngines*>(&sy::cpu::kEngines));
}
