#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aten/backend/size_rule.h"
#include "frontend/compile/variant.h"

// Variants for sizes that were not captured.
//
// Note [Open sizes]
// Two variants that differ in one size, and in numbers that follow from it by a
// SizeRule, found a family: it makes variants for other sizes without the code.
// The code may depend on the size in a way that no graph shows (a choice by
// it), so such a variant is compared with a recorded call before it is used,
// unless sizes on both sides of it were, which are divisible by 2, 4, 8 as it
// is. A family that was wrong once makes no more.

namespace sy::compiling {

class OpenSizes {
 public:
  struct Opened {
    std::shared_ptr<Variant> variant;  // nullptr: no family has the size
    size_t family = 0;
    bool trusted = false;  // else compare, and confirm()
    std::string why;
  };

  // A variant was captured: with which of the older ones it founds a family.
  void add(const std::shared_ptr<const Variant>& v,
           const std::vector<std::shared_ptr<const Variant>>& older);
  Opened open(const Arguments& a);
  // A recorded call was, or was not, what the variant says.
  void confirm(const Opened& o, bool equal);
  void clear() { families_.clear(); }
  // Lines for explain().
  std::string text() const;

 private:
  struct Family {
    std::shared_ptr<const Variant> first, second;
    std::string what;  // "size 0 of tensor 0"
    std::vector<int64_t> confirmed;
    std::vector<int64_t> wrong;
    int64_t opened = 0;
  };
  static bool is_trusted(const Family& f, int64_t n);

  std::vector<Family> families_;
  int64_t last_n_ = 0;
};

// The variant for arguments whose sizes are neither those of `x` nor of `y`.
// `rule`: which size that is. nullptr if there is none.
std::shared_ptr<Variant> resized(const Variant& x, const Variant& y,
                                 const Arguments& a, capture::SizeRule* rule);

}  // namespace sy::compiling
