#include <algorithm>
#include <cstdio>

#include "models/resnet.h"
#include "models/weights.h"
#include "picture/file.h"
#include "picture/prepare.h"
#include "program/arguments.h"

// Says what a picture shows: the three classes that are most likely.

namespace vision {
namespace {

constexpr std::string_view kUsage =
    "classify MODEL WEIGHTS PICTURE [--labels FILE] [--classes N] [--size N]";

void classify(const Arguments& arguments) {
  const sy::NoGradGuard no_grad;
  ResNetOptions options = resnet_options(arguments[0]);
  options.classes = arguments.number("classes", 1000);
  const ResNet model(options);
  Weights(arguments[1]).load(*model);
  model->to(arguments.device());
  const Labels labels(arguments.option("labels", ""));

  const int64_t side = arguments.number("size", 256);
  const Tensor picture = center_crop(
      resized_picture(read_picture(arguments[2]), side), side * 7 / 8);
  const Tensor input = normalised(picture).unsqueeze(0).to(arguments.device());
  const Tensor logits = model(input).select(0, 0);
  const int64_t n = std::min<int64_t>(3, options.classes);
  const auto [likely, classes] = logits.softmax(0).topk(n);
  const Tensor p = likely.cpu(), c = classes.cpu();
  for (int64_t i = 0; i < n; ++i) {
    std::printf("%.5f %s\n", static_cast<double>(p.select(0, i).item<float>()),
                labels[c.select(0, i).item<int64_t>()].c_str());
  }
  save(arguments, {{"logits", logits}, {"likely", p}, {"classes", c}});
  tell_fallbacks(arguments.device());
}

}  // namespace
}  // namespace vision

int main(int argc, char** argv) try {
  vision::classify(vision::Arguments(argc, argv, vision::kUsage));
} catch (const std::exception& e) {
  std::fprintf(stderr, "classify: %s\n", e.what());
  return 1;
}
