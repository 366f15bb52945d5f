#include <algorithm>

#include "c10/process/error.h"
#include "frontend/compile/state.h"

namespace sy::compiling {

namespace {

bool has_backward(const Variant& v) {
  return v.backward != nullptr && v.backward->graph != nullptr;
}

// "saw 24; [3, 2]".
std::string looks_text(const Variant& v) {
  std::string text;
  for (size_t i = 0; i < v.seen.size(); ++i) {
    text += (i == 0 ? " " : "; ") + v.steps[i]->look->text_of(v.seen[i]);
  }
  return str("  it looks {} times at elements, and saw{}\n", v.steps.size(),
             text);
}

std::string variant_text(const Variant& v) {
  std::string text = v.steps.empty() ? "" : looks_text(v);
  text += str("  {} calls in {} steps; {} inputs, {} written\n",
              v.forward->num_calls(), v.forward->num_steps(), v.inputs.size(),
              std::count_if(v.inputs.begin(), v.inputs.end(),
                            [](const auto& in) { return in.written; }));
  if (has_backward(v)) {
    text += str("  backward: {} calls in {} steps\n",
                v.backward->graph->num_calls(), v.backward->graph->num_steps());
  }
  return text;
}

std::string plans_text(const Variant& v) {
  std::string text;
  for (size_t i = 0; i < v.steps.size(); ++i) {
    text += str("steps of variant 0 before look {}\n", i + 1) +
            v.steps[i]->graph->plan();
  }
  text += "steps of variant 0\n" + v.forward->plan();
  if (has_backward(v)) {
    text += "steps of its backward\n" + v.backward->graph->plan();
  }
  return text;
}

}  // namespace

std::string FunctionState::explain() {
  const std::lock_guard lock(mutex_);
  const CompileCounters& c = counters_;
  const auto also = [](int64_t n, const char* what) {
    return n == 0 ? "" : str(", {} {}", n, what);
  };
  std::string text =
      str("{}: {} calls, {} captured{}, {} replayed{}\n", options_.name,
          c.calls, c.captures, also(c.sizes, "recorded for another size"),
          c.replays, also(c.checked, "checked"));
  if (c.untold != 0) {
    text += str(
        "the code runs at each call, since it depends on what no guard sees: "
        "{}\n",
        untold_);
  }
  for (const auto& [b, n] : breaks_) {
    text += str("{} times a piece ended: {}{}{}\n", n, b.first,
                b.second.empty() ? "" : ", from ", b.second);
  }
  if (spared_ != 0) {
    text += str(
        "{} calls ran the code as it is: earlier ones saw other values each "
        "time\n",
        spared_);
  }
  int i = 0;
  for (const Entry& e : entries_) {
    text += str("variant {}, replayed {} times, captured for: {}\n", i++,
                e.replays, e.why) +
            variant_text(*e.variant);
  }
  return entries_.empty() ? text : text + plans_text(*entries_.front().variant);
}

std::string FunctionState::graph_text() {
  const std::lock_guard lock(mutex_);
  return entries_.empty() ? "" : entries_.front().variant->text();
}

}  // namespace sy::compiling
