#pragma once

#include <vector>

#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"

// The dtypes and the layouts that tests of families go over.

namespace sy::families {

inline constexpr ScalarType kDtypes[] = {kBool,  kByte,  kChar, kShort,
                                         kInt,   kLong,  kHalf, kBFloat16,
                                         kFloat, kDouble};

struct LaidOut {
  const char* name;
  Tensor tensor;
};

// The elements of t in every layout that its sizes allow.
inline std::vector<LaidOut> layouts(const Tensor& t) {
  std::vector<LaidOut> all = {
      {"contiguous", t.clone(MemoryFormat::Contiguous)}};
  if (t.dim() == 0) return all;
  const auto add = [&](const char* name, const Tensor& room) {
    room.copy_(t);
    all.push_back({name, room});
  };
  std::vector<int64_t> wide = t.sizes().vec(), longer = wide, turned = wide;
  wide.back() *= 2;
  add("every other column",
      zeros(wide, t.options()).slice(-1, 0, wide.back(), 2));
  longer.front() += 1;
  add("from the second row on",
      zeros(longer, t.options()).slice(0, 1, longer.front()));
  if (t.dim() > 1) {
    std::swap(turned.front(), turned.back());
    add("transposed", zeros(turned, t.options()).transpose(0, -1));
  }
  return all;
}

}  // namespace sy::families
