#include "examples/digits/device.h"

#include <sy/library.h>

#include <memory>
#include <string>

namespace digits {

Comparison compare(const Classifier& model, const sy::Tensor& images,
                   sy::Device device) {
  const sy::NoGradGuard no_grad;
  const Classifier copy =
      std::static_pointer_cast<ClassifierImpl>(model->clone(device));
  const sy::Tensor moved = images.to(device);

  sy::reset_fallback_counts();
  const sy::Tensor there = sy::log_softmax(copy(moved), 1);
  const sy::Tensor guesses = there.argmax(1);

  Comparison c{};
  const sy::Device cpu(sy::kCPU);
  const sy::Tensor here = sy::log_softmax(model(images), 1);
  c.difference = here.sub(there.to(cpu)).abs().amax().item<float>();
  c.predictions = images.size(0);
  c.equal = guesses.to(cpu).eq(here.argmax(1)).sum().item<int64_t>();
  for (const sy::FallbackCount& f : sy::fallback_counts()) {
    c.fallbacks.emplace_back(f.op, f.calls);
  }
  return c;
}

std::string fallback_report(const Comparison& c) {
  if (c.fallbacks.empty()) return "no call fell back to the CPU";
  std::string text = "calls that fell back to the CPU: ";
  for (const auto& [name, calls] : c.fallbacks) {
    if (&name != &c.fallbacks.front().first) text += ", ";
    text += name;
    if (calls > 1) text += " x" + std::to_string(calls);
  }
  return text;
}

}  // namespace digits
