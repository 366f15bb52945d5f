#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "layers.h"

namespace vision {

// Fills all tensors of a state dict with numbers that follow from the seed and
// the sorted names; test/reference.py has the same. Convolutions and linear
// layers get numbers that keep the size of what goes through.
void draw_weights(nn::Module& model, uint64_t seed);

// Weights from "seed:3", from a .safetensors file, or from what torch.save
// wrote of a state dict.
class Weights {
 public:
  // Throws FileError for another file.
  explicit Weights(const std::string& source);
  // Whether there is a tensor of that name: a seed has all.
  bool contains(const std::string& name) const;
  // The model is in evaluation afterwards. Throws ValueError if names or sizes
  // are those of another one.
  void load(nn::Module& model) const;

 private:
  std::string source_;
  std::optional<uint64_t> seed_;
  nn::StateDict state_;
};

}  // namespace vision
