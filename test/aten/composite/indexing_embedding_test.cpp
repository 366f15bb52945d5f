#include <vector>

#include <gtest/gtest.h>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/shape.h"
#include "aten/tensor_new.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;

// Words 2, 0, 2, 1 of four, with the gradients 0 to 7.
Values gradient(ScalarType dtype, int64_t padding_idx, bool by_freq) {
  const Tensor grad = arange(8).reshape({2, 2, 2}).to(dtype);
  const Tensor words = tensor({2, 0, 2, 1}).reshape({2, 2});
  return values(embedding_dense_backward(grad, words, 4, padding_idx, by_freq));
}

TEST(EmbeddingDenseBackward, AddsTheRowsOfEachWord) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
    EXPECT_EQ(gradient(dtype, -1, false), (Values{2, 3, 6, 7, 4, 6, 0, 0}));
    EXPECT_EQ(gradient(dtype, 1, false), (Values{2, 3, 0, 0, 4, 6, 0, 0}));
    EXPECT_EQ(gradient(dtype, 2, false), (Values{2, 3, 6, 7, 0, 0, 0, 0}));
    EXPECT_EQ(gradient(dtype, -1, true), (Values{2, 3, 6, 7, 2, 3, 0, 0}));
    EXPECT_EQ(gradient(dtype, 0, true), (Values{0, 0, 6, 7, 2, 3, 0, 0}));
  }
}

TEST(EmbeddingDenseBackward, LeavesItsArgumentsAndChecksTheWords) {
  const Tensor grad = ones({2, 3}), words = tensor({1, 1});
  const Tensor out = embedding_dense_backward(grad, words, 2, 1, true);
  EXPECT_EQ(values(out), Values(6, 0));
  EXPECT_EQ(values(grad), Values(6, 1));
  EXPECT_EQ(
      embedding_dense_backward(zeros({0, 3}), zeros({0}, kLong), 2, -1, false)
          .sizes(),
      IntArrayRef({2, 3}));
  SY_EXPECT_ERROR(embedding_dense_backward(grad, tensor({0, 2}), 2, -1, false),
                  IndexError,
                  "[index_add] index: expected indices in [0, 1] for dim 0");
}

}  // namespace
}  // namespace sy
