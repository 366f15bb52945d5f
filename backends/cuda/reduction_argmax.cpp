#include "backends/cuda/reduction_argmax.h"

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/engine/reduce_launch.h"
#include "backends/cuda/print/body.h"

namespace sy::cuda {

namespace {

class Kernels final : public ReduceKernels {
 public:
  Kernels(int device, bool max, ScalarType dtype)
      : device_(device),
        defines_{{"SY_E", print::element_name(dtype)},
                 {"SY_T", print::type_name(program::compute_type_of(dtype))},
                 {"SY_MAX", max ? "1" : "0"}} {}
  const Function& of(print::ReduceShell shell) override {
    constexpr const char* kNames[] = {"find_rows", "find_columns",
                                      "find_pieces"};
    return kernel(device_, "reduction_argmax.cu",
                  kNames[static_cast<int>(shell)], defines_);
  }

 private:
  int device_;
  Define defines_[3];
};

}  // namespace

void find_extremes(const char* op, bool max, Tensor self,
                   std::optional<int64_t> dim, Tensor* values, Tensor* places) {
  const uint64_t reduced =
      dim ? (self.dim() == 0 ? 0
                             : uint64_t{1} << wrap_dim(op, *dim, self.dim()))
          : (self.dim() == TensorImpl::kMaxDims
                 ? ~uint64_t{0}
                 : (uint64_t{1} << self.dim()) - 1);
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if ((reduced >> d & 1) != 0) count *= self.sizes()[static_cast<size_t>(d)];
  }
  SY_CHECK(count > 0, Index,
           "[{}] self: expected at least one element to choose from, got {}",
           op, describe(self));
  const int64_t kept = places->numel();
  if (kept == 0) return;
  // Places of several dims are counted row by row.
  if (!dim && !self.is_contiguous()) {
    const Tensor dense(make_tensor(self.sizes(), self.dtype(), self.device()));
    copy_tensor(dense, self);
    self = dense;
  }
  const ReduceLayout layout =
      layout_of(&self, reduced, places->dim() == self.dim());
  Tensor* const outs[] = {places, values};
  const int n = values == nullptr ? 1 : 2;
  const OrderedResults results(layout, outs, n);
  ReduceParams<1> params = {};
  params.results[1] = results.tensors()[0]->raw_data();
  const TensorBase* written[] = {results.tensors()[0], nullptr};
  if (n == 2) {
    params.results[0] = results.tensors()[1]->raw_data();
    written[1] = results.tensors()[1];
  }
  const ReduceCut cut(layout, self.raw_data(),
                      static_cast<int64_t>(self.itemsize()), kept, count);
  const int device = self.device().index();
  Kernels kernels(device, max, self.dtype());
  const int64_t sizes[] = {static_cast<int64_t>(compute_type_size(
                               program::compute_type_of(self.dtype()))),
                           8};
  launch_reduce({device, &cut, &layout, &self, kept, count, sizes, written, n},
                kernels, &params, sizeof params);
  results.store();
}

namespace {

Tensor place_of(const char* op, bool max, const Tensor& self,
                std::optional<int64_t> dim, bool keepdim) {
  Dims sizes;
  const int64_t at = dim ? wrap_dim(op, *dim, self.dim()) : -1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool reduced = !dim || d == at;
    if (!reduced) sizes.push_back(self.sizes()[static_cast<size_t>(d)]);
    if (reduced && keepdim) sizes.push_back(1);
  }
  Tensor places(make_tensor(sizes, kLong, self.device()));
  find_extremes(op, max, self, dim, nullptr, &places);
  return places;
}

}  // namespace

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place_of("argmax", true, self, dim, keepdim);
}

Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place_of("argmin", false, self, dim, keepdim);
}

}  // namespace sy::cuda
