#include "examples/digits/data.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace digits {
namespace {

constexpr int kPixels = 64;
constexpr int kDarkest = 16;

[[noreturn]] void bad_line(const std::string& path, int64_t line,
                           const std::string& what) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + what);
}

// Appends the numbers of one line.
void parse_line(const std::string& path, int64_t number,
                const std::string& line, std::vector<int>& out) {
  const char *at = line.data(), *end = at + line.size();
  for (int column = 0; column <= kPixels; ++column) {
    const int limit = column < kPixels ? kDarkest : 9;
    int value = -1;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > limit) {
      bad_line(path, number,
               "column " + std::to_string(column + 1) +
                   ": expected a number from 0 to " + std::to_string(limit));
    }
    const bool last = column == kPixels;
    if (last ? next != end : (next == end || *next != ',')) {
      bad_line(path, number,
               "expected " + std::to_string(kPixels + 1) +
                   " numbers with commas between them");
    }
    at = next + 1;
    out.push_back(value);
  }
}

sy::Tensor to_tensor(const std::vector<int64_t>& values) {
  sy::Tensor t = sy::empty({static_cast<int64_t>(values.size())}, sy::kLong);
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<int64_t>());
  return t;
}

}  // namespace

Dataset Dataset::rows(const std::vector<int64_t>& which) const {
  const sy::Tensor index = to_tensor(which).to(images.device());
  return {images.index_select(0, index), labels.index_select(0, index)};
}

Dataset Dataset::to(sy::Device device) const {
  return {images.to(device), labels.to(device)};
}

Dataset read_csv(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<int> numbers;
  std::string line;
  int64_t n = 0;
  while (std::getline(in, line)) parse_line(path, ++n, line, numbers);
  if (n == 0) throw std::runtime_error(path + " has no lines");

  Dataset all{sy::empty({n, kPixels}), sy::empty({n}, sy::kLong)};
  float* pixel = all.images.mutable_data_ptr<float>();
  int64_t* label = all.labels.mutable_data_ptr<int64_t>();
  for (auto number = numbers.begin(); number != numbers.end();) {
    for (int i = 0; i < kPixels; ++i) *pixel++ = float(*number++) / kDarkest;
    *label++ = *number++;
  }
  return all;
}

std::vector<int64_t> permutation(int64_t n, std::mt19937_64& random) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  // Libraries differ in what std::shuffle makes of one seed.
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random() % i]);
  }
  return order;
}

Split split(const Dataset& all, double train_part, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<int64_t> order = permutation(all.size(), random);
  const auto middle =
      order.begin() + static_cast<int64_t>(train_part * all.size());
  return {all.rows({order.begin(), middle}), all.rows({middle, order.end()})};
}

}  // namespace digits
