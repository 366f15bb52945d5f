#pragma once

#include <set>
#include <string>
#include <vector>

namespace sy::tools {

// The trials that an operator need not pass; "" among them: all.
using Excused = std::set<std::string, std::less<>>;

// The parts of a proof that `--except` leaves out. A text is NAME for a whole
// operator or NAME:TRIAL for one trial of it; NAME may be a pattern. The trials
// are agreed, described, strided, aliased, threaded, starved, hostile,
// gradient, second (the gradient's gradient, which goes with the gradient),
// points and values (special_points.h), orders (points of the second and third
// order), third (of the third), constant (of results without a gradient),
// associative, device (of a plugin), and fit (that the result of the operator's
// example is a number).
class Excuses {
 public:
  // Throws ValueError for a trial that there is not.
  explicit Excuses(const std::vector<std::string>& texts);
  Excused of(const std::string& name);
  // The texts that fitted none of the names so far.
  std::vector<std::string> unused() const;

 private:
  struct Excuse {
    std::string text, pattern, trial;
    bool used = false;
  };
  std::vector<Excuse> all_;
};

}  // namespace sy::tools
