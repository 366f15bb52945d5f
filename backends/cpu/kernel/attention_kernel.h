#pragma once

#include <cstdint>

// What attention does to rows of scores, for the instruction set of this
// machine.

namespace sy::cpu {

template <class T>
struct AttentionKernel {
  // Takes n more scores into a row's softmax: *most is the largest so far, *sum
  // that of exp(score - *most). Scores become their exponentials; the return
  // value is what the sums made before have to be multiplied by.
  T (*take)(T* scores, int64_t n, T* most, T* sum);
  // Scores become weights exp(score - log_sum), and `grads`, of the weights,
  // those of the scores: weight * (grad - delta) * scale.
  void (*backward)(T* scores, T* grads, int64_t n, T log_sum, T delta, T scale);
  // row *= by.
  void (*scale)(T* row, int64_t n, T by);
  T (*dot)(const T* a, const T* b, int64_t n);
  // row += by; row = -inf where `keep` is 0.
  void (*add)(T* row, const T* by, int64_t n);
  void (*hide)(T* row, const uint8_t* keep, int64_t n);
};
template <class T>
const AttentionKernel<T>& attention_kernel();

}  // namespace sy::cpu
