#include <cmath>
#include <cstdio>

#include "models/maskrcnn.h"
#include "models/weights.h"
#include "picture/draw.h"
#include "picture/file.h"
#include "picture/prepare.h"
#include "program/arguments.h"

// Finds the things in a picture, and draws their boxes and masks over it.

namespace vision {
namespace {

constexpr std::string_view kUsage =
    "detect WEIGHTS PICTURE OUT [--labels FILE] [--backbone NAME] [--size N] "
    "[--score X] [--norm KIND]";

MaskRcnnOptions options_of(const Arguments& arguments) {
  MaskRcnnOptions o;
  o.backbone = resnet_options(arguments.option("backbone", "resnet50"));
  // "published": the weights that come with torchvision were trained so.
  if (arguments.option("norm", "batch") == "published") {
    o.backbone.norm = {.frozen = true, .eps = 0};
  }
  const int64_t side = arguments.number("size", o.transform.min_size);
  o.transform.max_size = o.transform.max_size * side / o.transform.min_size;
  o.transform.min_size = side;
  return o;
}

// The detections that are sure enough.
Detections sure(const Detections& d, double least) {
  const int64_t n = d.scores.ge(least).sum().item<int64_t>();
  const auto first = [&](const Tensor& t) { return t.narrow(0, 0, n).cpu(); };
  return {first(d.boxes), first(d.labels), first(d.scores), first(d.masks)};
}

// Draws and tells detections, the best one on top.
void show(const Detections& d, const Labels& labels, Canvas& canvas) {
  const Tensor boxes = d.boxes.contiguous();
  const auto* const corner = static_cast<const float*>(boxes.data_ptr());
  const auto score = [&](int64_t i) {
    return static_cast<double>(d.scores.select(0, i).item<float>());
  };
  const int64_t n = d.boxes.size(0);
  for (int64_t i = n; i-- > 0;) {
    const auto label = d.labels.select(0, i).item<int64_t>();
    const Colour colour = colour_of(label == 0 ? 0 : 1 + (label - 1) % 20);
    const auto at = [&](int64_t k) {
      return static_cast<int64_t>(std::lround(corner[4 * i + k]));
    };
    canvas.mask(d.masks.select(0, i).select(0, 0), colour);
    canvas.frame(at(0), at(1), at(2), at(3), colour);
    char percent[16];
    std::snprintf(percent, sizeof percent, " %.0f%%", 100 * score(i));
    canvas.text(at(0), at(1), labels[label] + percent, colour);
  }
  for (int64_t i = 0; i < n; ++i) {
    const float* const c = corner + 4 * i;
    std::printf("%.3f %s at %.1f %.1f %.1f %.1f\n", score(i),
                labels[d.labels.select(0, i).item<int64_t>()].c_str(),
                static_cast<double>(c[0]), static_cast<double>(c[1]),
                static_cast<double>(c[2]), static_cast<double>(c[3]));
  }
}

void detect(const Arguments& arguments) {
  const sy::NoGradGuard no_grad;
  const Labels labels(arguments.option("labels", ""));
  const MaskRcnn model(options_of(arguments));
  Weights(arguments[0]).load(*model);
  model->to(arguments.device());

  const Tensor picture = read_picture(arguments[1]);
  const std::vector<Detections> found =
      model(std::vector<Tensor>{as_floats(picture).to(arguments.device())});
  const Detections d = sure(found[0], arguments.real("score", 0.5));
  Canvas canvas(picture);
  show(d, labels, canvas);
  write_picture(arguments[2], canvas.picture());
  save(arguments, {{"boxes", d.boxes},
                   {"labels", d.labels},
                   {"scores", d.scores},
                   {"masks", d.masks},
                   {"drawn", canvas.picture()}});
  tell_fallbacks(arguments.device());
}

}  // namespace
}  // namespace vision

int main(int argc, char** argv) try {
  vision::detect(vision::Arguments(argc, argv, vision::kUsage));
} catch (const std::exception& e) {
  std::fprintf(stderr, "detect: %s\n", e.what());
  return 1;
}
