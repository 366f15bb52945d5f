#pragma once

#include <cstdint>

// The operations of attention on rows of scores, for the instruction set of
// this machine.

namespace sy::cpu {

template <class T>
struct AttentionKernel {
  // Takes n more scores into the softmax of a row. *most is the largest score
  // so far, and *sum is the sum of exp(score - *most). The scores become their
  // exponentials. Returns the factor for the sums that were made before.
  T (*take)(T* scores, int64_t n, T* most, T* sum);
  // The scores become the weights exp(score - log_sum). `grads` are the
  // gradients of the weights and become those of the scores: weight * (grad -
  // delta) * scale.
  void (*backward)(T* scores, T* grads, int64_t n, T log_sum, T delta, T scale);
  // row *= by.
  void (*scale)(T* row, int64_t n, T by);
  T (*dot)(const T* a, const T* b, int64_t n);
  // add: row += by. hide: row = -inf where `keep` is 0.
  void (*add)(T* row, const T* by, int64_t n);
  void (*hide)(T* row, const uint8_t* keep, int64_t n);
};
template <class T>
const AttentionKernel<T>& attention_kernel();

}  // namespace sy::cpu
