#pragma once

#include <string>
#include <vector>

namespace digits {

// Runs what a step of training has recorded on device lazy, and keeps a picture
// of a step's plan with its times.
class StepGraph {
 public:
  void sync();
  // Text for graphviz.
  void write(const std::string& path) const;

 private:
  int steps_ = 0;
  std::string dot_;
};

// The counters of the device, line by line; nothing that is 0.
std::vector<std::string> lazy_report();

}  // namespace digits
