// Generated from backends/meta/backend.yaml by sygen. Do not edit.
#include "backends/meta/backend_gen.h"

#include "aten/backend/engine_kernels.h"
#include "c10/plugin/library.h"

SY_LIBRARY_IMPL(_, Meta, m) {
  m.service(sy::BackendService::kEngines,
            const_cast<sy::BackendEngines*>(&sy::meta::kEngines));
}

SY_LIBRARY_IMPL(aten, Meta, m) {
  sy::register_engine_kernels(m, sy::meta::kEngines);
}
