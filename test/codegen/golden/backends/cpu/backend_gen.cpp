// Generated from backends/cpu/backend.yaml by sygen. Do not edit.
#include "backends/cpu/backend_gen.h"

#include "aten/backend/engines.h"
#include "backends/cpu/engine/pointwise.h"
#include "backends/cpu/engine/reduce.h"
#include "backends/cpu/engine/scan.h"
#include "c10/plugin/library.h"

namespace {

constexpr sy::PointwiseEngine kPointwise{
    &sy::cpu::pointwise, &sy::cpu::pointwise_outputs, &sy::cpu::pointwise_out,
    &sy::cpu::pointwise_inplace};
constexpr sy::ReduceEngine kReduce{&sy::cpu::reduce, &sy::cpu::reduce_results,
                                   &sy::cpu::reduce_out, &sy::cpu::reduce_outs};
constexpr sy::ScanEngine kScan{&sy::cpu::scan_results, &sy::cpu::scan_outs};
constinit sy::BackendEngines engines{&kPointwise, &kReduce, &kScan};

}  // namespace

SY_LIBRARY_IMPL(_, CPU, m) {
  m.service(sy::BackendService::kEngines, &engines);
}
