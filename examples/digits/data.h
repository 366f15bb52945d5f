#pragma once

#include <sy/sy.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace digits {

// Images and what they show, row by row.
struct Dataset {
  sy::Tensor images;  // float32 [n, 64], 0 (paper) to 1 (ink)
  sy::Tensor labels;  // int64 [n], 0 to 9

  int64_t size() const { return labels.numel(); }
  // A dataset of the given rows, copied.
  Dataset rows(const std::vector<int64_t>& which) const;
  Dataset to(sy::Device device) const;
};

// Lines of 64 grey values, 0 to 16, and a digit. Throws std::runtime_error
// with file and line for anything else.
Dataset read_csv(const std::string& path);

struct Split {
  Dataset train, test;
};
// Shuffles by the seed and puts `train_part` of the rows into `train`.
Split split(const Dataset& all, double train_part, uint64_t seed);

// 0 to n - 1 in random order, the same on every machine.
std::vector<int64_t> permutation(int64_t n, std::mt19937_64& random);

}  // namespace digits
