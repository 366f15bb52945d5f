#include "aten/ops/copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using List = std::vector<int64_t>;

Tensor numbers(const List& sizes, ScalarType dtype) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n).remainder(251).to(dtype).reshape(sizes);
}

// Element by element, without the kernel in question.
void expect_copied(const Tensor& dst, const Tensor& src) {
  const Tensor to = on_host(dst), from = on_host(src.expand(dst.sizes()));
  ASSERT_EQ(to.sizes(), from.sizes());
  const auto read = [](const Tensor& t, const List& at) {
    int64_t offset = t.storage_offset();
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * t.strides()[d];
    const char* base = static_cast<const char*>(t.storage()->data());
    switch (t.dtype()) {
      case ScalarType::Float:
        return static_cast<double>(
            reinterpret_cast<const float*>(base)[offset]);
      case ScalarType::Byte:
        return static_cast<double>(
            reinterpret_cast<const uint8_t*>(base)[offset]);
      case ScalarType::Short:
        return static_cast<double>(
            reinterpret_cast<const int16_t*>(base)[offset]);
      default: return reinterpret_cast<const double*>(base)[offset];
    }
  };
  List at(static_cast<size_t>(dst.dim()));
  for (int64_t i = 0; i < dst.numel(); ++i) {
    int64_t rest = i;
    for (size_t d = at.size(); d-- > 0;) {
      at[d] = rest % dst.sizes()[d];
      rest /= dst.sizes()[d];
    }
    ASSERT_EQ(read(to, at), read(from, at)) << "element " << i;
  }
}

constexpr ScalarType kDtypes[] = {ScalarType::Float, ScalarType::Byte,
                                  ScalarType::Short, ScalarType::Double};

TEST(Copy, OfAnyStridesAndDtypes) {
  for (const ScalarType to : kDtypes) {
    for (const ScalarType from : kDtypes) {
      // Transposed tiles, rows of a few elements, gaps, one row for all.
      Tensor wide = zeros({70, 91}, to);
      wide.copy_(numbers({91, 70}, from).t());
      expect_copied(wide, numbers({91, 70}, from).t());

      Tensor narrow = zeros({300, 6}, to).slice(1, 0, 6, 2);
      const Tensor rows = numbers({300, 6}, from).slice(1, 0, 6, 2);
      narrow.copy_(rows);
      expect_copied(narrow, rows);

      Tensor spread = zeros({5, 2100}, to).slice(1, 0, 2100, 2);
      spread.copy_(numbers({1050}, from));
      expect_copied(spread, numbers({1050}, from));
    }
  }
}

TEST(Copy, OfRowsThatRepeatOrLieFarApart) {
  // Rows of some pages, copied in pieces, and of some lines on other pages.
  for (const ScalarType dtype : {kByte, kFloat, kDouble}) {
    for (const int64_t n : {40, 300, 1000, 2500}) {
      const Tensor row = numbers({1, n}, dtype);
      Tensor repeated = zeros({3, n}, dtype);
      repeated.copy_(row);
      expect_copied(repeated, row);
      const Tensor far = numbers({2, 6, n}, dtype).transpose(0, 1);
      Tensor near = zeros({6, 2, n}, dtype);
      near.copy_(far);
      expect_copied(near, far);
    }
  }
}

TEST(Copy, TheKernelChecksWhatItIsGiven) {
  const Tensor self = zeros({3});
  SY_EXPECT_ERROR(_copy_from(self, zeros({2})), ValueError,
                  "expected sizes that broadcast, got [2] and [3]");
  SY_EXPECT_ERROR(_copy_from(zeros({2, 3}), self), ValueError,
                  "[_copy_from] self: expected sizes that broadcast to");
  Tensor out = zeros({2, 3});
  _copy_from(numbers({3}, kFloat), out);
  expect_copied(out, numbers({3}, kFloat));
}

}  // namespace
}  // namespace sy::families
