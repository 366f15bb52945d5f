// Places in sorted rows. SY_ELEMENT is the dtype of both.

#include "element.cuh"
#include "search_params.cuh"

#ifndef SY_ELEMENT
#define SY_ELEMENT float
#endif

using Element = SY_ELEMENT;

template <class E>
struct CompareAs {
  using type = E;
};
template <>
struct CompareAs<half16> {
  using type = float;
};
template <>
struct CompareAs<bfloat16> {
  using type = float;
};
template <>
struct CompareAs<bool_byte> {
  using type = uint8_t;
};
using Compared = CompareAs<Element>::type;

// Finds the first place whose element is not less than the value (right: is
// greater); the place of NaN is the end. Each step halves the rest, as on the
// CPU.
SY_KERNEL(find_places, SearchParams, 256) {
  for (int64_t i = first_index(); i < p.count; i += index_stride()) {
    const int64_t first = i / p.width * p.n;
    const auto* const row = static_cast<const Element*>(p.rows) + first;
    const auto* const order =
        p.order == nullptr ? nullptr
                           : static_cast<const int64_t*>(p.order) + first;
    const auto v =
        element_cast<Compared>(static_cast<const Element*>(p.values)[i]);
    const auto is_before = [&](int64_t at) {
      if (order != nullptr) {
        at = order[at];
        if (at < 0 || at >= p.n) {
          report(p.head, Fault::kIndex, 5, at, p.n);
          at = 0;
        }
      }
      const auto x = element_cast<Compared>(row[at]);
      return p.right != 0 ? !(x > v) : !(x >= v);
    };
    int64_t begin = 0, left = p.n;
    while (left > 1) {
      const int64_t half = left / 2;
      if (is_before(begin + half - 1)) begin += half;
      left -= half;
    }
    if (p.n > 0 && is_before(begin)) ++begin;
    if (p.narrow != 0) {
      static_cast<int32_t*>(p.out)[i] = static_cast<int32_t>(begin);
    } else {
      static_cast<int64_t*>(p.out)[i] = begin;
    }
  }
}

// A sorter whose index no search has met is wrong all the same.
SY_KERNEL(check_sorter, SearchParams, 256) {
  for (int64_t i = first_index(); i < p.count; i += index_stride()) {
    const int64_t at = static_cast<const int64_t*>(p.order)[i];
    if (at < 0 || at >= p.n) report(p.head, Fault::kIndex, 5, at, p.n);
  }
}
