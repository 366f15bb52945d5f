#include "examples/common/model.h"

#include <sy/lazy.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace models {

namespace {

void run_recorded(sy::Device device) {
  if (device.is_lazy()) sy::lazy::sync();
}

// The median time of a call in microseconds, of those of about a second.
double median_us(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::vector<double> times;
  while (times.size() < 5 || Clock::now() - begin < std::chrono::seconds(1)) {
    const auto start = Clock::now();
    call();
    times.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start)
            .count());
  }
  const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// The largest difference, by the largest of `expected`.
double relative_difference(const sy::Tensor& got, const sy::Tensor& expected) {
  return got.to(sy::kCPU).sub(expected).abs().amax().item<double>() /
         expected.abs().amax().item<double>();
}

}  // namespace

uint64_t Uniform::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

sy::Tensor Uniform::tensor(sy::IntArrayRef sizes, double bound) {
  sy::Tensor t = sy::empty(sizes);
  float* const data = t.mutable_data_ptr<float>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    const double unit = static_cast<double>(next() >> 11) * 0x1p-53;
    data[i] = static_cast<float>((2 * unit - 1) * bound);
  }
  return t.to(device_);
}

sy::Tensor Uniform::integers(sy::IntArrayRef sizes, uint64_t high) {
  sy::Tensor t = sy::empty(sizes, sy::kLong);
  int64_t* const data = t.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    data[i] = static_cast<int64_t>((next() >> 11) % high);
  }
  return t.to(device_);
}

sy::Tensor Uniform::full(sy::IntArrayRef sizes, double value) const {
  return sy::full(sizes, value).to(device_);
}

sy::Device device_of(const char* name) {
  if (std::strcmp(name, "lazy") == 0) sy::load_library("lazy").keep();
  return sy::Device(name);
}

void require_gradients(const sy::NamedTensors& weights) {
  for (const auto& [name, w] : weights) w.requires_grad_();
}

Sgd::Sgd(const sy::NamedTensors& weights, double learning_rate, double momentum)
    : learning_rate_(learning_rate), momentum_(momentum) {
  for (const auto& [name, w] : weights) {
    weights_.push_back(w);
    velocity_.push_back(sy::zeros_like(w));
  }
}

void Sgd::step() {
  const sy::NoGradGuard no_grad;
  std::vector<sy::Tensor> gradients;
  for (const sy::Tensor& w : weights_) gradients.push_back(w.grad());
  sy::_foreach_mul_(velocity_, momentum_);
  sy::_foreach_add_(velocity_, gradients);
  sy::_foreach_add_(weights_, velocity_, -learning_rate_);
  for (const sy::Tensor& w : weights_) w.mutable_grad().reset();
  run_recorded(weights_[0].device());
}

Trial try_out(const sy::NamedTensors& weights, const Function& scores,
              const Function& loss) {
  const auto evaluate = [&] {
    const sy::NoGradGuard no_grad;
    return scores();
  };
  Trial r;
  r.before = evaluate();
  require_gradients(weights);
  Sgd sgd(weights, kRate, kMomentum);
  std::vector<sy::Tensor> losses;
  for (int i = 0; i < kSteps; ++i) {
    const sy::Tensor value = loss();
    losses.push_back(value.detach());
    value.backward();
    sgd.step();
  }
  r.losses = sy::stack(losses);
  r.after = evaluate();
  return r;
}

double difference(const Trial& trial, const sy::NamedTensors& record) {
  return std::max({relative_difference(trial.before, record["before"]),
                   relative_difference(trial.losses, record["losses"]),
                   relative_difference(trial.after, record["after"])});
}

void print_times(const sy::NamedTensors& weights, const Function& scores,
                 const Function& loss) {
  {
    const sy::NoGradGuard no_grad;
    const double forward = median_us([&] {
      const sy::Tensor held = scores();
      run_recorded(held.device());
    });
    std::printf("inference      %9.0f us\n", forward);
  }
  require_gradients(weights);
  Sgd sgd(weights, kRate, kMomentum);
  const double step = median_us([&] {
    loss().backward();
    sgd.step();
  });
  std::printf("training step  %9.0f us\n", step);
}

}  // namespace models
