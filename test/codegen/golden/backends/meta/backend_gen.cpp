// Generated from backends/meta/backend.yaml by sygen. Do not edit.
#include "backends/meta/backend_gen.h"

#include "aten/backend/engine_kernels.h"
#include "backends/meta/engine/pointwise.h"
#include "backends/meta/engine/reduce.h"
#include "backends/meta/engine/scan.h"
#include "c10/plugin/library.h"

namespace {

constexpr sy::PointwiseEngine kPointwise{
    &sy::meta::pointwise, &sy::meta::pointwise_outputs,
    &sy::meta::pointwise_out, &sy::meta::pointwise_inplace};
constexpr sy::ReduceEngine kReduce{&sy::meta::reduce, &sy::meta::reduce_results,
                                   &sy::meta::reduce_out,
                                   &sy::meta::reduce_outs};
constexpr sy::ScanEngine kScan{&sy::meta::scan_results, &sy::meta::scan_outs};
constexpr sy::BackendEngines kEngines{&kPointwise, &kReduce, &kScan, false};

}  // namespace

SY_LIBRARY_IMPL(_, Meta, m) {
  m.service(sy::BackendService::kEngines,
            const_cast<sy::BackendEngines*>(&kEngines));
}

SY_LIBRARY_IMPL(aten, Meta, m) {
  sy::register_engine_kernels(m, kEngines);
}
