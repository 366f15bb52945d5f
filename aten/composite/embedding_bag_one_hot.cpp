#include "aten/engine/guard.h"
#include "aten/ops/embedding_bag.h"
#include "aten/ops/embedding_bag_kernels.h"
#include "aten/ops/factory.h"
#include "aten/ops/number.h"
#include "aten/ops/scatter.h"
#include "aten/ops/statistics.h"
#include "aten/ops/view.h"

namespace sy::composite {

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  Dims sizes(self.sizes());
  if (self.numel() == 0) {
    SY_CHECK(num_classes > 0, Value,
             "[one_hot] num_classes: expected a positive number for an empty "
             "tensor, got ",
             num_classes);
    sizes.push_back(num_classes);
    return sy::empty(sizes, self.options());
  }
  SY_CHECK(num_classes >= -1, Value,
           "[one_hot] num_classes: expected a number of classes or -1, got ",
           num_classes);
  const int64_t least = sy::min(self).item<int64_t>();
  const int64_t most = sy::max(self).item<int64_t>();
  SY_CHECK(least >= 0 && most < INT64_MAX, Index,
           "[one_hot] self: expected classes from 0 on, got ",
           least < 0 ? least : most);
  SY_CHECK(num_classes == -1 || most < num_classes, Index,
           "[one_hot] self: expected classes below ", num_classes, ", got ",
           most);
  sizes.push_back(num_classes == -1 ? most + 1 : num_classes);
  Tensor out = sy::zeros(sizes, self.options());
  return out.scatter_(-1, self.unsqueeze(-1), Scalar(1));
}

}  // namespace sy::composite
