#include <algorithm>
#include <map>

#include "model/check.h"

namespace sy::model {
namespace {

// Walks the calls of composites, each once.
class Walker {
 public:
  Walker(std::span<const CompositeCalls> composites,
         lang::Diagnostics& diagnostics)
      : diagnostics_(diagnostics) {
    for (const CompositeCalls& c : composites) by_name_[c.op->base.name] = &c;
  }

  void run() {
    for (const auto& [name, calls] : by_name_) visit(name);
  }

 private:
  // Iterative: a chain of calls may be as long as there are operators.
  void visit(const std::string& start) {
    if (!begin(start)) return;
    while (!path_.empty()) {
      Step& step = path_.back();
      const auto& calls = by_name_.find(step.name)->second->operators;
      if (step.next == calls.size()) {
        done_[step.name] = true;
        path_.pop_back();
        continue;
      }
      const std::string& callee = calls[step.next++];
      if (by_name_.count(callee)) begin(callee);
    }
  }

  // False if it was walked before; an error if it is being walked.
  bool begin(const std::string& name) {
    const auto [it, inserted] = done_.try_emplace(name, false);
    if (inserted) {
      path_.push_back({name, 0});
    } else if (!it->second) {
      report(name);
    }
    return inserted;
  }

  void report(const std::string& name) {
    auto first = std::find_if(path_.begin(), path_.end(),
                              [&](const Step& s) { return s.name == name; });
    std::string way;
    constexpr std::ptrdiff_t kShown = 12;
    for (auto step = first; step != path_.end(); ++step) {
      way += step->name + " -> ";
      if (step - first + 1 == kShown && path_.end() - step > kShown) {
        step = path_.end() - kShown;
        way += "… -> ";
      }
    }
    diagnostics_.error(
        by_name_.find(name)->second->op->entry->composite->text.start(),
        "composite '{0}' calls itself: {1}{0}", name, way);
  }

  struct Step {
    std::string name;
    std::size_t next;  // of its calls
  };

  lang::Diagnostics& diagnostics_;
  std::map<std::string, const CompositeCalls*, std::less<>> by_name_;
  std::map<std::string, bool> done_;
  std::vector<Step> path_;
};

}  // namespace

void check_cycles(std::span<const CompositeCalls> composites,
                  lang::Diagnostics& diagnostics) {
  Walker(composites, diagnostics).run();
}

}  // namespace sy::model
