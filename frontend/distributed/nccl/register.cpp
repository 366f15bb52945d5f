#include "c10/plugin/library.h"
#include "frontend/distributed/nccl/engine.h"

SY_LIBRARY_FRAGMENT(sy_dist, m) {
  // Leaked: threads may use it until the process ends.
  static auto& engine = *new sy::distributed::nccl::NcclEngine;
  sy::distributed::register_engine(engine);
}
