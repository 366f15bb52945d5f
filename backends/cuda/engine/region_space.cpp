#include "backends/cuda/engine/region_space.h"

#include "aten/engine/iter.h"
#include "backends/cuda/engine/layout.h"
#include "c10/process/error.h"

namespace sy::cuda {

int64_t RegionSpace::numel(uint64_t space) const {
  int64_t n = 1;
  for (int d = 0; d < dims(); ++d) {
    if ((space >> d & 1) != 0) n *= size(d);
  }
  return n;
}

RegionPlace RegionSpace::place(const RegionOperand& said,
                               const RegionMemory& m) const {
  RegionPlace p;
  p.data = static_cast<char*>(m.data);
  const auto item = static_cast<int64_t>(element_size(said.dtype));
  for (int d = 0; d < dims(); ++d) {
    const auto at = static_cast<size_t>(d);
    const int64_t stride = said.strides[at] == 0 || m.strides == nullptr
                               ? said.strides[at]
                               : m.strides[d];
    p.strides[d] = size(d) == 1 ? 0 : stride * item;
  }
  return p;
}

RegionPlace RegionSpace::contiguous(char* data, ScalarType dtype,
                                    const std::vector<int>& order,
                                    uint64_t space) const {
  RegionPlace p;
  p.data = data;
  auto stride = static_cast<int64_t>(element_size(dtype));
  for (const int d : order) {
    if ((space >> d & 1) == 0) continue;
    p.strides[d] = size(d) == 1 ? 0 : stride;
    stride *= size(d);
  }
  return p;
}

std::vector<int> RegionSpace::order(
    const std::vector<const RegionPlace*>& operands, uint64_t space) const {
  std::vector<int> all;
  for (int d = 0; d < dims(); ++d) {
    if ((space >> d & 1) != 0) all.push_back(d);
  }
  std::vector<std::vector<int64_t>> strides(operands.size());
  std::vector<const int64_t*> rows;
  std::vector<int64_t> sizes;
  for (const int d : all) sizes.push_back(size(d));
  for (size_t k = 0; k < operands.size(); ++k) {
    for (const int d : all) strides[k].push_back(operands[k]->strides[d]);
    rows.push_back(strides[k].data());
  }
  std::vector<uint8_t> by(all.size());
  sort_dims(rows.data(), static_cast<int>(rows.size()), sizes.data(),
            static_cast<int>(all.size()), by.data());
  std::vector<int> out;
  for (const uint8_t i : by) out.push_back(all[i]);
  return out;
}

RegionWalk RegionSpace::walk(const std::vector<const RegionPlace*>& operands,
                             const std::vector<int>& order,
                             uint64_t space) const {
  RegionWalk w;
  for (const int d : order) {
    if ((space >> d & 1) == 0) continue;
    int64_t strides[kMostRegionOperands] = {};
    for (size_t k = 0; k < operands.size(); ++k) {
      strides[k] = operands[k]->strides[d];
    }
    SY_CHECK(push_dim(&w, size(d), strides), Value,
             "[region] sizes: expected at most {} groups of dims, got {}",
             kWalkDims, call_.sizes);
  }
  close_walk(&w);
  return w;
}

}  // namespace sy::cuda
