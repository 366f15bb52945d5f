#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <tuple>

#include "aten/engine/structured.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/device/sequence_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"

// Connectionist temporal classification. The recursions have a block for each
// sequence, the gradient one for each sequence and step.

namespace sy::cuda {

namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;
constexpr unsigned kSequenceThreads = 512, kGradThreads = 256;

// A power of two that has a thread for each of n, if there are so many.
unsigned threads_for(int64_t n, unsigned most) {
  return static_cast<unsigned>(
      std::clamp<uint64_t>(std::bit_ceil(static_cast<uint64_t>(n)), 32, most));
}

// One line for each sequence, on the device.
Tensor places_of(const Tensor& targets, IntArrayRef steps, IntArrayRef labels,
                 Device device) {
  const auto batch = static_cast<int64_t>(steps.size());
  const Tensor out(make_tensor({batch, 3}, kLong, Device(kCPU)));
  auto* place = static_cast<SequencePlace*>(out.raw_data());
  int64_t at = 0;
  for (int64_t i = 0; i < batch; ++i, ++place) {
    const auto k = static_cast<size_t>(i);
    if (targets.dim() == 2) at = i * targets.size(1);
    *place = {at, steps[k], labels[k]};
    at += labels[k];
  }
  return out.to(device);
}

class Sequences {
 public:
  Sequences(const char* op, int argument, const Tensor& log_probs,
            const Tensor& targets, IntArrayRef steps, IntArrayRef labels,
            int64_t blank)
      : device_(log_probs.device().index()),
        log_probs_(log_probs),
        labels_(targets.to(log_probs.device(), kLong).contiguous()),
        places_(places_of(targets, steps, labels, log_probs.device())) {
    const IntArrayRef sizes = log_probs.sizes(), strides = log_probs.strides();
    SY_CHECK(sizes[1] <= kMost, Value,
             "[{}] log_probs: expected at most {} sequences, got {}", op, kMost,
             sizes[1]);
    p.places = static_cast<const SequencePlace*>(places_.raw_data());
    p.labels = static_cast<const long long*>(labels_.raw_data());
    p.log_probs = log_probs_.raw_data();
    p.step_stride = strides[0];
    p.batch_stride = strides[1];
    p.class_stride = strides[2];
    p.steps = sizes[0];
    p.batch = sizes[1];
    p.classes = sizes[2];
    p.states = 2 * *std::max_element(labels.begin(), labels.end()) + 1;
    p.blank = blank;
    p.targets = argument;
  }

  Tensor new_rows() const {
    return new_result(log_probs_, {p.batch, p.steps, p.states},
                      log_probs_.scalar_type());
  }
  // A block for each sequence.
  void recurse(const char* name,
               std::initializer_list<const TensorBase*> used) {
    run(name,
        {{static_cast<unsigned>(p.batch)},
         {threads_for(p.states, kSequenceThreads)}},
        used);
  }
  void run(const char* name, const LaunchShape& shape,
           std::initializer_list<const TensorBase*> used) {
    const ScalarType dtype = log_probs_.scalar_type();
    const Define defines[] = {{"SY_T", print::element_name(dtype)},
                              {"SY_F", dtype == kFloat ? "f32" : "f64"}};
    const TensorBase* all[9] = {&log_probs_, &labels_, &places_};
    std::copy(used.begin(), used.end(), all + 3);
    launch(device_, kernel(device_, "loss_sequence.cu", name, defines), shape,
           &p, sizeof p, all, std::size(all));
  }

  SequenceParams p = {};

 private:
  int device_;
  Tensor log_probs_, labels_, places_;
};

}  // namespace

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs,
                                     const Tensor& targets,
                                     IntArrayRef input_lengths,
                                     IntArrayRef target_lengths, int64_t blank,
                                     bool /*zero_infinity*/) {
  Sequences all("_ctc_loss", 1, log_probs, targets, input_lengths,
                target_lengths, blank);
  const Tensor losses =
      new_result(log_probs, {all.p.batch}, log_probs.scalar_type());
  const Tensor alpha = all.new_rows();
  all.p.losses = losses.raw_data();
  all.p.alpha = alpha.raw_data();
  all.recurse("ctc_alpha", {&losses, &alpha});
  return {losses, alpha};
}

Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs,
                          const Tensor& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths,
                          const Tensor& neg_log_likelihood,
                          const Tensor& log_alpha, int64_t blank,
                          bool zero_infinity) {
  Sequences all("_ctc_loss_backward", 2, log_probs, targets, input_lengths,
                target_lengths, blank);
  SequenceParams& p = all.p;
  const Tensor beta = all.new_rows();
  p.beta = beta.raw_data();
  all.recurse("ctc_beta", {&beta});

  const Tensor next = new_result(log_probs, {p.batch, p.states / 2}, kLong);
  p.next = static_cast<long long*>(next.raw_data());
  all.run("ctc_next", shape_for(next.numel(), 256, 1, 1 << 16), {&next});

  const Tensor by = grad.contiguous(), losses = neg_log_likelihood.contiguous();
  const Tensor alpha = log_alpha.contiguous();
  const Tensor out =
      new_result(log_probs, log_probs.sizes(), log_probs.scalar_type());
  p.grad = by.raw_data();
  p.losses = losses.raw_data();
  p.alpha = alpha.raw_data();
  p.out = out.raw_data();
  p.zero_infinity = zero_infinity ? 1 : 0;
  const int64_t blocks = std::min<int64_t>(p.steps * p.batch, 1 << 16);
  all.run("ctc_grad",
          {{static_cast<unsigned>(blocks)},
           {threads_for(std::max(p.states, p.classes), kGradThreads)}},
          {&by, &losses, &alpha, &beta, &next, &out});
  return out;
}

}  // namespace sy::cuda
