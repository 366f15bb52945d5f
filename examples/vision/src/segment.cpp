#include <cstdio>

#include "models/deeplabv3.h"
#include "models/weights.h"
#include "picture/draw.h"
#include "picture/file.h"
#include "picture/prepare.h"
#include "program/arguments.h"

// Colours each pixel of a picture by what it belongs to.

namespace vision {
namespace {

constexpr std::string_view kUsage =
    "segment WEIGHTS PICTURE OUT [--labels FILE] [--backbone NAME] [--size N]";

// Tells how large the part of each class is.
void tell(const Tensor& classes, const Labels& labels) {
  const Tensor counts = sy::bincount(classes.flatten());
  for (int64_t i = 0; i < counts.size(0); ++i) {
    const auto n = counts.select(0, i).item<int64_t>();
    if (n == 0) continue;
    std::printf(
        "%5.1f %% %s\n",
        100 * static_cast<double>(n) / static_cast<double>(classes.numel()),
        labels[i].c_str());
  }
}

void segment(const Arguments& arguments) {
  const sy::NoGradGuard no_grad;
  const Weights weights(arguments[0]);
  DeepLabV3Options options;
  options.backbone = resnet_options(arguments.option("backbone", "resnet101"));
  options.aux = weights.contains("aux_classifier.0.weight");
  const DeepLabV3 model(options);
  weights.load(*model);
  model->to(arguments.device());

  const Tensor picture = read_picture(arguments[1]);
  const Tensor input =
      normalised(resized_picture(picture, arguments.number("size", 520)))
          .unsqueeze(0)
          .to(arguments.device());
  const Tensor scores = model(input);
  const Tensor classes = scores.argmax(1, /*keepdim=*/true);
  // In the picture's own size.
  const Tensor whole =
      sy::upsample_nearest2d(classes.cpu().to(sy::kFloat),
                             {picture.size(1), picture.size(2)})
          .select(0, 0)
          .select(0, 0)
          .to(sy::kLong);
  const Tensor colours = coloured(whole);
  write_picture(arguments[2], colours);
  tell(whole, Labels(arguments.option("labels", "")));
  save(arguments, {{"scores", scores.select(0, 0)},
                   {"classes", whole},
                   {"coloured", colours}});
  tell_fallbacks(arguments.device());
}

}  // namespace
}  // namespace vision

int main(int argc, char** argv) try {
  vision::segment(vision::Arguments(argc, argv, vision::kUsage));
} catch (const std::exception& e) {
  std::fprintf(stderr, "segment: %s\n", e.what());
  return 1;
}
