// Connectionist temporal classification: states and recursions are those of
// backends/cpu/loss_sequence.cpp. SY_T is float or double, SY_F the namespace
// of its primitives. Sums have a fixed order.

#include "block.cuh"
#include "functors/math_double.cuh"
#include "functors/math_float.cuh"
#include "sequence_params.cuh"

#ifndef SY_T
#define SY_T float
#define SY_F f32
#endif

namespace sy::cuda {

using T = SY_T;

constexpr int kSequenceThreads = 512;
constexpr T kNever = -T(__builtin_inf());

__device__ __forceinline__ T log_sum(T a, T b) {
  const T most = a < b ? b : a, least = a < b ? a : b;
  if (most == kNever) return most;
  return most + SY_F::log1p(SY_F::exp(least - most));
}
__device__ __forceinline__ T log_sum(T a, T b, T c) {
  T most = a < b ? b : a;
  most = most < c ? c : most;
  if (most == kNever) return most;
  return most + SY_F::log(SY_F::exp(a - most) + SY_F::exp(b - most) +
                          SY_F::exp(c - most));
}
struct AddLogs {
  __device__ __forceinline__ T operator()(T a, T b) const {
    return log_sum(a, b);
  }
};

struct Sequence {
  const SequenceParams& p;
  const int64_t index, steps, labels, states;
  const long long* const label;
  const T* const log_probs;

  __device__ __forceinline__ Sequence(const SequenceParams& params, int64_t i)
      : p(params),
        index(i),
        steps(p.places[i].steps),
        labels(p.places[i].labels),
        states(2 * labels + 1),
        label(p.labels + p.places[i].first),
        log_probs(static_cast<const T*>(p.log_probs) + i * p.batch_stride) {}

  // Wrong labels are reported, and count as 0.
  __device__ __forceinline__ int64_t label_of(int64_t k) const {
    return label[k] < 0 || label[k] >= p.classes ? 0 : label[k];
  }
  __device__ __forceinline__ void check(int64_t k) const {
    if (label[k] >= 0 && label[k] < p.classes) return;
    report(p.head, Fault::kIndex, p.targets, label[k], p.classes);
  }
  __device__ __forceinline__ int64_t class_of(int64_t s) const {
    return (s & 1) != 0 ? label_of(s / 2) : p.blank;
  }
  __device__ __forceinline__ bool skips(int64_t s) const {
    return (s & 1) != 0 && s >= 3 && label_of(s / 2) != label_of(s / 2 - 1);
  }
  __device__ __forceinline__ T log_prob(int64_t step, int64_t s) const {
    return log_probs[step * p.step_stride + class_of(s) * p.class_stride];
  }
  __device__ __forceinline__ int64_t row(int64_t step) const {
    return (index * p.steps + step) * p.states;
  }
  __device__ __forceinline__ T* alpha(int64_t step) const {
    return static_cast<T*>(p.alpha) + row(step);
  }
  __device__ __forceinline__ T* beta(int64_t step) const {
    return static_cast<T*>(p.beta) + row(step);
  }

  __device__ __forceinline__ T loss() const {
    if (steps == 0) return labels == 0 ? T{0} : -kNever;
    const T* const last = alpha(steps - 1);
    if (labels == 0) return -last[0];
    return -log_sum(last[2 * labels], last[2 * labels - 1]);
  }
};

}  // namespace sy::cuda

// A block for each sequence: the threads take the states of a step.
SY_KERNEL(ctc_alpha, SequenceParams, kSequenceThreads) {
  const Sequence one(p, blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  for (int64_t k = t; k < one.labels; k += threads) one.check(k);
  for (int64_t step = 0; step < one.steps; ++step) {
    T* const to = one.alpha(step);
    const T* const from = to - p.states;
    for (int64_t s = t; s < p.states; s += threads) {
      T sum = kNever;
      if (step == 0 && s < 2 && s < one.states) sum = one.log_prob(0, s);
      if (step > 0 && s < one.states) {
        sum = log_sum(from[s], s > 0 ? from[s - 1] : kNever,
                      one.skips(s) ? from[s - 2] : kNever) +
              one.log_prob(step, s);
      }
      to[s] = sum;
    }
    __syncthreads();
  }
  for (int64_t step = one.steps; step < p.steps; ++step) {
    for (int64_t s = t; s < p.states; s += threads) one.alpha(step)[s] = kNever;
  }
  if (t == 0) static_cast<T*>(p.losses)[blockIdx.x] = one.loss();
}

// The same from the end: of all endings that begin in a state at a step.
SY_KERNEL(ctc_beta, SequenceParams, kSequenceThreads) {
  const Sequence one(p, blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  for (int64_t step = one.steps - 1; step >= 0; --step) {
    T* const to = one.beta(step);
    const T* const from = to + p.states;
    for (int64_t s = t; s < one.states; s += threads) {
      T sum = kNever;
      if (step < one.steps - 1) {
        sum = log_sum(from[s], s + 1 < one.states ? from[s + 1] : kNever,
                      s + 2 < one.states && one.skips(s + 2) ? from[s + 2]
                                                             : kNever) +
              one.log_prob(step, s);
      } else if (s >= 2 * one.labels - 1) {
        sum = one.log_prob(step, s);
      }
      to[s] = sum;
    }
    __syncthreads();
  }
}

// Finds the labels that are equal, so that each class has one thread.
SY_KERNEL(ctc_next, SequenceParams, 256) {
  const int64_t width = p.states / 2;
  for (int64_t at = first_index(); at < p.batch * width; at += index_stride()) {
    const Sequence one(p, at / width);
    const int64_t k = at % width;
    if (k >= one.labels) continue;
    one.check(k);
    const int64_t own = one.label_of(k);
    int64_t next = k + 1, before = 0;
    while (next < one.labels && one.label_of(next) != own) ++next;
    while (before < k && one.label_of(before) != own) ++before;
    p.next[at] = before < k ? ~next : next;
  }
}

// A block for each sequence and step: the threads take classes.
SY_KERNEL(ctc_grad, SequenceParams, 256) {
  __shared__ T room[256 / kWarpSize];
  const int t = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  for (int64_t b = blockIdx.x; b < p.steps * p.batch; b += gridDim.x) {
    const int64_t step = b / p.batch;
    const Sequence one(p, b % p.batch);
    const T loss = static_cast<const T*>(p.losses)[one.index];
    const T by = static_cast<const T*>(p.grad)[one.index];
    const bool zero =
        step >= one.steps || (p.zero_infinity != 0 && loss == -kNever);
    T* const row = static_cast<T*>(p.out) + b * p.classes;
    for (int64_t c = t; c < p.classes; c += threads) row[c] = zero ? 0 : kNever;
    if (zero) continue;
    const T* const alpha = one.alpha(step);
    const T* const beta = one.beta(step);
    T blanks = kNever;
    for (int64_t s = t; s < one.states; s += threads) {
      if (one.class_of(s) != p.blank) continue;
      blanks = log_sum(blanks, alpha[s] + beta[s]);
    }
    blanks = reduce_to_all(blanks, threads, room, AddLogs());
    __syncthreads();
    if (t == 0) row[p.blank] = blanks;
    const long long* const next = p.next + one.index * (p.states / 2);
    for (int64_t k = t; k < one.labels; k += threads) {
      const int64_t own = one.label_of(k);
      if (next[k] < 0 || own == p.blank) continue;
      T sum = kNever;
      for (int64_t j = k; j < one.labels;
           j = next[j] < 0 ? ~next[j] : next[j]) {
        sum = log_sum(sum, alpha[2 * j + 1] + beta[2 * j + 1]);
      }
      row[own] = sum;
    }
    __syncthreads();
    const T* const x = one.log_probs + step * p.step_stride;
    for (int64_t c = t; c < p.classes; c += threads) {
      const T lp = x[c * p.class_stride];
      row[c] = (SY_F::exp(lp) - SY_F::exp(row[c] + loss - lp)) * by;
    }
  }
}
