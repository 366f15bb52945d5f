#include "c10/schema/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sy {
namespace {

constexpr std::size_t kLongest = 96;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Restricted Damerau-Levenshtein distance; anything above `limit` is reported
// as limit + 1.
std::size_t edit_distance(std::string_view a, std::string_view b,
                          std::size_t limit) {
  using Row = std::array<std::size_t, kLongest + 1>;
  Row rows[3];
  Row* before = &rows[0];
  Row* previous = &rows[1];
  Row* current = &rows[2];
  for (std::size_t j = 0; j <= b.size(); ++j) (*previous)[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    (*current)[0] = i;
    std::size_t least = i;
    const char x = lower(a[i - 1]);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char y = lower(b[j - 1]);
      std::size_t cost = std::min({(*previous)[j] + 1, (*current)[j - 1] + 1,
                                   (*previous)[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) {
        cost = std::min(cost, (*before)[j - 2] + 1);
      }
      (*current)[j] = cost;
      least = std::min(least, cost);
    }
    if (least > limit) return limit + 1;
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return std::min((*previous)[b.size()], limit + 1);
}

// Short names say too little to guess from.
std::size_t tolerance(std::size_t length) {
  if (length <= 1) return 0;
  if (length <= 3) return 1;
  if (length <= 6) return 2;
  return length <= 10 ? 3 : 4;
}

}  // namespace

NearestName::NearestName(std::string_view name)
    : name_(name), best_cost_(2 * (tolerance(name.size()) + 1)) {
  if (name.size() > kLongest) best_cost_ = 0;
}

void NearestName::consider(std::string_view candidate) {
  if (best_cost_ == 0 || candidate.empty() || candidate.size() > kLongest) {
    return;
  }
  const std::size_t limit = (best_cost_ - 1) / 2;
  const std::size_t difference = candidate.size() > name_.size()
                                     ? candidate.size() - name_.size()
                                     : name_.size() - candidate.size();
  if (difference > limit) return;
  // A difference in case alone counts half a step.
  const std::size_t cost =
      2 * edit_distance(name_, candidate, limit) + (name_ == candidate ? 0 : 1);
  if (cost >= best_cost_) return;
  best_cost_ = cost;
  best_ = candidate;
}

std::string NearestName::question() const {
  if (best_.empty()) return {};
  return "; did you mean '" + std::string(best_) + "'?";
}

std::string_view nearest_name(std::string_view name,
                              std::span<const std::string_view> candidates) {
  NearestName nearest(name);
  for (std::string_view candidate : candidates) nearest.consider(candidate);
  return nearest.best();
}

}  // namespace sy
