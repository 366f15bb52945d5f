#include "examples/common/model.h"

#include <sy/distributed.h>
#include <sy/lazy.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace models {

namespace {

void run_recorded(sy::Device device) {
  if (device.is_lazy()) sy::lazy::sync();
}

sy::optim::SGD sgd(const nn::Module& model) {
  return sy::optim::SGD(model.parameters(),
                        sy::optim::SGDOptions(kRate).momentum(kMomentum));
}

// The median time of a call in microseconds, of those of about a second.
template <class F>
double median_us(const F& call) {
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

void Uniform::fill(nn::Module& model) {
  const sy::NoGradGuard no_grad;
  model.to(device_);
  for (const auto& module : model.modules()) {
    const bool embeds = module->as<nn::Embedding>() != nullptr;
    for (const auto& [name, p] : module->named_parameters(/*recurse=*/false)) {
      if (p.dim() > 1) {
        const int64_t inputs = p.numel() / p.size(0);
        const double bound = std::sqrt(3.0 / static_cast<double>(inputs));
        p.copy_(tensor(p.sizes(), embeds ? 1 : bound));
      } else if (name == "bias") {
        p.zero_();
      }
    }
  }
}

sy::Device device_of(const char* name) {
  const sy::Device device(name);
  if (device.is_lazy()) sy::load_library("lazy").keep();
  if (device.is_cuda()) sy::load_library("cuda").keep();
  return device;
}

sy::Tensor evaluate(const nn::AnyModule& model, const sy::Tensor& input) {
  const sy::NoGradGuard no_grad;
  model.ptr()->eval();
  const sy::Tensor result = model.forward(input);
  model.ptr()->train();
  return result;
}

sy::Tensor train_step(const nn::AnyModule& model,
                      sy::optim::Optimizer& optimizer, const sy::Tensor& input,
                      const sy::Tensor& targets) {
  const sy::Tensor loss = sy::cross_entropy_loss(
      model.forward(input).flatten(0, -2), targets.flatten());
  loss.backward();
  optimizer.step();
  // Gradients that are gone need no memory when the step runs.
  optimizer.zero_grad();
  run_recorded(loss.device());
  return loss.detach();
}

double mean_over_ranks(const sy::Tensor& number) {
  return sy_dist::all_reduce(number, "avg").item<double>();
}

Trial try_out(const nn::AnyModule& model, const sy::Tensor& input,
              const sy::Tensor& targets) {
  Trial r;
  r.before = evaluate(model, input);
  sy::optim::SGD optimizer = sgd(*model.ptr());
  std::vector<sy::Tensor> losses;
  for (int i = 0; i < kSteps; ++i) {
    losses.push_back(train_step(model, optimizer, input, targets));
  }
  r.losses = sy::stack(losses);
  r.after = evaluate(model, input);
  return r;
}

double difference(const Trial& trial, const sy::NamedTensors& record) {
  return std::max({relative_difference(trial.before, record["before"]),
                   relative_difference(trial.losses, record["losses"]),
                   relative_difference(trial.after, record["after"])});
}

void print_times(const nn::AnyModule& model, const sy::Tensor& input,
                 const sy::Tensor& targets) {
  const double inference = median_us([&] {
    const sy::Tensor held = evaluate(model, input);
    run_recorded(held.device());
  });
  std::printf("inference      %9.0f us\n", inference);
  sy::optim::SGD optimizer = sgd(*model.ptr());
  const double step =
      median_us([&] { train_step(model, optimizer, input, targets); });
  std::printf("training step  %9.0f us\n", step);
}

}  // namespace models
