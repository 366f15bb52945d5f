#pragma once

#include <cstdint>
#include <string>

#include "layers.h"

namespace vision {

// Fills all tensors of a state dict with numbers that follow from the seed and
// the sorted names; test/reference.py has the same. Convolutions and linear
// layers get numbers that keep the size of what goes through.
void draw_weights(nn::Module& model, uint64_t seed);

// Weights from "seed:3", from a .safetensors file, or from what torch.save
// wrote of a state dict. The model is in evaluation afterwards.
void load_weights(nn::Module& model, const std::string& source);

}  // namespace vision
