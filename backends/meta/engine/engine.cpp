#include "aten/backend/engine_calls.h"
#include "backends/meta/backend_gen.h"

// The results of engines have sizes and a dtype, and no elements.

namespace sy::meta {

struct PointwiseWays {
  static void run(const PointwiseOp&, const PointwiseArgs&,
                  const PointwisePlan&, Tensor*) {}
};
struct ReduceWays {
  static void run(const ReduceOp&, const ReduceArgs&, const ReducePlan&,
                  Tensor* const*) {}
};
struct ScanWays {
  static void run(const ScanOp&, const ScanArgs&, const ScanPlan&,
                  Tensor* const*) {}
};

}  // namespace sy::meta

template struct sy::PointwiseCalls<sy::meta::PointwiseWays>;
template struct sy::ReduceCalls<sy::meta::ReduceWays>;
template struct sy::ScanCalls<sy::meta::ScanWays>;
