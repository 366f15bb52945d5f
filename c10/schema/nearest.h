#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// Guesses which of the candidates a misspelt name was meant to be: the one that
// takes the fewest inserted, deleted, replaced or swapped letters, if they are
// few for the length of the name. Letter case does not count, but an exact
// match wins. The first of equals wins. The name and the candidates must
// outlive the object.
class SY_API NearestName {
 public:
  explicit NearestName(std::string_view name);

  void consider(std::string_view candidate);
  // Empty when nothing was near enough.
  std::string_view best() const { return best_; }
  // "; did you mean 'X'?", or nothing.
  std::string question() const;

 private:
  std::string_view name_;
  std::string_view best_;
  std::size_t best_cost_;
};

SY_API std::string_view nearest_name(
    std::string_view name, std::span<const std::string_view> candidates);

}  // namespace sy
