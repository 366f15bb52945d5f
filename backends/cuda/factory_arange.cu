#include "element.cuh"

#include "copy.cuh"

#ifndef SY_TO
#define SY_TO float
#endif
#ifndef SY_FROM
#define SY_FROM int64_t
#endif

// SY_FROM is int64_t, which wraps, or the type to which a sum in double is
// rounded before it becomes an element.
SY_KERNEL(arange, ArangeParams, 256) {
  auto* const to = reinterpret_cast<SY_TO*>(p.to);
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    SY_FROM v;
    if (p.whole != 0) {
      v = static_cast<SY_FROM>(static_cast<int64_t>(
          static_cast<uint64_t>(p.first) +
          static_cast<uint64_t>(i) * static_cast<uint64_t>(p.by)));
    } else {
      v = static_cast<SY_FROM>(p.start + static_cast<double>(i) * p.step);
    }
    to[i] = element_cast<SY_TO>(v);
  }
}
