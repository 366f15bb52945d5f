#include "aten/contract/index_list.h"
#include "backends/meta/advanced_indexing_kernels_gen.h"

namespace sy::meta {

Tensor index_tensor(const Tensor& self, OptionalTensors indices) {
  const IndexPlan plan = plan_index("index", self, indices);
  return Tensor(make_tensor(plan.result_sizes(), self.dtype(), self.device()));
}

}  // namespace sy::meta
