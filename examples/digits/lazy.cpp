#include "examples/digits/lazy.h"

#include <sy/lazy.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace digits {

void StepGraph::sync() {
  constexpr int kDrawn = 20;  // its times are means by then
  const bool drawn = ++steps_ == kDrawn;
  sy::lazy::sync(drawn ? sy::lazy::kWait : sy::lazy::kNoWait);
  if (drawn) dot_ = sy::lazy::plan_dot();
}

void StepGraph::write(const std::string& path) const {
  std::ofstream out(path);
  out << dot_;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

std::vector<std::string> lazy_report() {
  std::vector<std::string> lines;
  std::istringstream text(sy::lazy::counters_text());
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("0 ")) lines.push_back(line);
  }
  return lines;
}

}  // namespace digits
