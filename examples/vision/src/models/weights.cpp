#include "weights.h"

#include <sy/io.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace vision {
namespace {

// Splitmix64, whose i-th number is computed alone.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  // From -1 to 1.
  double next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-52 - 1;
  }

 private:
  uint64_t state_;
};

struct Range {
  double middle, bound;
};

// What makes weights of predictors smaller than others: with random weights,
// too, boxes stay near their anchors, and classes are no certainties.
double less_for(std::string_view name) {
  if (name.find("bbox_pred") != name.npos) return 0.05;
  if (name.find("cls_logits") != name.npos) return 0.1;
  return name.find("cls_score") == name.npos ? 1 : 0.1;
}

Range range_of(std::string_view name, const Tensor& t) {
  if (t.dim() > 1) {
    const double inputs = static_cast<double>(t.numel() / t.size(0));
    return {0, less_for(name) * std::sqrt(6 / inputs)};
  }
  if (name.ends_with("running_var")) return {1, 0.5};
  if (name.ends_with("weight")) return {1, 0.2};
  return {0, 0.1};
}

}  // namespace

void draw_weights(nn::Module& model, uint64_t seed) {
  const sy::NoGradGuard no_grad;
  const nn::StateDict state = model.state_dict();
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) {
    if (tensor.is_floating_point()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  Numbers numbers(seed);
  for (const std::string& name : names) {
    Tensor t = state[name];  // the model's own
    const Range r = range_of(name, t);
    const Tensor drawn = sy::empty(t.sizes(), sy::TensorOptions(sy::kFloat));
    auto* const to = static_cast<float*>(drawn.data_ptr());
    for (int64_t i = 0; i < t.numel(); ++i) {
      to[i] = static_cast<float>(r.middle + r.bound * numbers.next());
    }
    t.copy_(drawn);
  }
}

Weights::Weights(const std::string& source) : source_(source) {
  constexpr std::string_view kSeed = "seed:";
  if (source.starts_with(kSeed)) {
    const std::string number = source.substr(kSeed.size());
    char* end = nullptr;
    seed_ = std::strtoull(number.c_str(), &end, 10);
    SY_CHECK(!number.empty() && *end == '\0', Value,
             "[{}] expected a number after seed:", source);
  } else if (source.ends_with(".safetensors")) {
    for (auto& [name, t] : sy::load_safetensors(source)) state_.insert(name, t);
  } else {
    state_ = sy::load_state_dict(source);
  }
}

bool Weights::contains(const std::string& name) const {
  return seed_ || state_.contains(name);
}

void Weights::load(nn::Module& model) const try {
  if (seed_) {
    draw_weights(model, *seed_);
  } else {
    model.load_state_dict(state_);
  }
  model.eval();
} catch (sy::Error& e) {
  e.add_prefix("[" + source_ + "] ");
  throw;
}

}  // namespace vision
