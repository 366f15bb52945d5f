#include "backends/lazy/graph_view.h"
#include "backends/lazy/plan.h"
#include "backends/lazy/text.h"
#include "c10/process/error.h"

// Plans as people see them.

namespace sy::lazy {

namespace {

// Mean time and bytes of a run.
std::string text_of(const Cost& c) {
  if (c.runs == 0) return "";
  const auto runs = static_cast<double>(c.runs);
  return str("{}, {}", time_text(static_cast<double>(c.ns) / runs),
             bytes_text(static_cast<double>(c.bytes) / runs));
}

}  // namespace

std::string Plan::text() const {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string cost = text_of(costs[i]);
    text += str("  {}{}{}\n", cost, cost.empty() ? "" : "  ", steps[i].text);
  }
  if (executables != nullptr) text += executables->text();
  return text;
}

std::string Plan::dot() const {
  std::vector<Box> boxes;
  std::vector<bool> drawn(picture.nodes.size(), false);
  for (size_t i = 0; i < steps.size(); ++i) {
    Box& box = boxes.emplace_back();
    box.label = text_of(costs[i]);
    for (const int n : steps[i].nodes) {
      if (!drawn[size_t(n)]) box.nodes.push_back(n);
      drawn[size_t(n)] = true;
    }
  }
  return dot_of(picture, boxes);
}

}  // namespace sy::lazy
