#include "aten/engine/structured.h"
#include "aten/result_type.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/device/search_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"

namespace sy::cuda {

namespace {

Tensor checked_sorter(const Tensor& sequence,
                      const std::optional<Tensor>& sorter) {
  if (!sorter || !sorter->defined()) return {};
  SY_CHECK(sorter->scalar_type() == kLong, Type,
           "[searchsorted] sorter: expected int64 indices, got {}",
           sorter->scalar_type());
  SY_CHECK(sorter->sizes() == sequence.sizes(), Value,
           "[searchsorted] sorter: expected the sizes of sorted_sequence, {}, "
           "got {}",
           sequence.sizes(), sorter->sizes());
  return sorter->contiguous();
}

}  // namespace

Tensor searchsorted_Tensor(const Tensor& sorted_sequence, const Tensor& self,
                           bool out_int32, bool right,
                           std::optional<std::string_view> side,
                           const std::optional<Tensor>& sorter) {
  const int64_t n = sorted_sequence.size(-1);
  SY_CHECK(!out_int32 || n <= INT32_MAX, Value,
           "[searchsorted] out_int32: expected at most 2^31 - 1 elements in a "
           "row, got {}",
           n);
  const Tensor both[] = {sorted_sequence, self};
  const ScalarType dtype = result_type(both);
  const Device device = sorted_sequence.device();
  const Tensor order = checked_sorter(sorted_sequence, sorter);
  const Tensor rows = sorted_sequence.to(dtype).contiguous();
  const Tensor values = self.to(device, dtype).contiguous();
  const Tensor out = new_result(rows, self.sizes(), out_int32 ? kInt : kLong);
  const Define define[] = {{"SY_ELEMENT", print::element_name(dtype)}};
  const int index = device.index();
  SearchParams p = {};
  p.n = n;
  if (order.defined()) {
    p.order = order.raw_data();
    p.count = order.numel();
    launch(index,
           kernel(index, "histogram_searchsorted.cu", "check_sorter", define),
           shape_for(p.count, 256, 1, 1 << 16), p, {&order});
  }
  if (out.numel() == 0) return out;
  p.count = values.numel();
  // All values are for a vector.
  p.width = sorted_sequence.dim() == 1 ? values.numel() : self.size(-1);
  p.rows = rows.raw_data();
  p.values = values.raw_data();
  p.out = out.raw_data();
  p.right = right || (side && *side == "right") ? 1 : 0;
  p.narrow = out_int32 ? 1 : 0;
  launch(
      index, kernel(index, "histogram_searchsorted.cu", "find_places", define),
      shape_for(p.count, 256, 1, 1 << 16), p, {&rows, &values, &order, &out});
  return out;
}

}  // namespace sy::cuda
