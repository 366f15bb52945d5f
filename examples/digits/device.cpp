#include "examples/digits/device.h"

#include <sy/library.h>

#include <memory>

namespace digits {
namespace {

// A backend may define NAME::native_calls() -> int, NAME being its devices'.
int64_t native_calls(sy::Device device) {
  const std::string name =
      sy::backend_device_name(device.type()) + "::native_calls";
  const auto op = sy::Dispatcher::singleton().find(name);
  return op ? op->typed<int64_t()>().call() : -1;
}

}  // namespace

Comparison compare(const Classifier& model, const sy::Tensor& images,
                   sy::Device device) {
  const sy::NoGradGuard no_grad;
  const Classifier copy =
      std::static_pointer_cast<ClassifierImpl>(model->clone(device));
  const sy::Tensor moved = images.to(device);

  sy::reset_fallback_counts();
  const int64_t before = native_calls(device);
  const sy::Tensor there = sy::log_softmax(copy(moved), 1);
  const sy::Tensor guesses = there.argmax(1);
  const int64_t after = native_calls(device);

  Comparison c{};
  for (const sy::FallbackCount& f : sy::fallback_counts()) {
    c.fallbacks.emplace_back(f.op, f.calls);
  }
  c.native_calls = before < 0 ? -1 : after - before;
  const sy::Device cpu(sy::kCPU);
  const sy::Tensor here = sy::log_softmax(model(images), 1);
  c.difference = here.sub(there.to(cpu)).abs().amax().item<float>();
  c.predictions = images.size(0);
  c.equal = guesses.to(cpu).eq(here.argmax(1)).sum().item<int64_t>();
  return c;
}

}  // namespace digits
