#include "tools/sy/conform/report.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "c10/process/error.h"
#include "tools/sy/calls/axes.h"

namespace sy::tools {

namespace {

struct Totals {
  size_t passed = 0, failed = 0, missing = 0;
  size_t working = 0, broken = 0, absent = 0, unproven = 0;  // overloads
  size_t declared = 0, not_called = 0;
  size_t notes = 0;  // on strides of fresh results
  std::map<std::string, size_t> ways, skipped;

  explicit Totals(const Report& report) {
    for (const auto& [name, r] : report) {
      passed += r.passed;
      failed += r.failed;
      missing += r.missing;
      notes += r.notes.size() - r.by_way("accepted") - r.by_way("restrided");
      for (const auto& [way, n] : r.ways) ways[way] += n;
      for (const auto& [why, n] : r.skipped) skipped[why] += n;
      ++(r.works()           ? working
         : r.only_skipped()  ? not_called
         : r.declared_only() ? declared
         : r.failed != 0     ? broken
         : r.missing != 0    ? absent
                             : unproven);
    }
  }
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string failures_of(const std::string& name, const OverloadReport& r) {
  constexpr size_t kShown = 3;
  std::string out =
      str("FAIL {}: {} of {} cases\n", name, r.failed, r.failed + r.passed);
  for (size_t i = 0; i < std::min(kShown, r.failures.size()); ++i) {
    out += str("  {}: {}\n", r.failures[i].id, first_line(r.failures[i].why));
  }
  if (r.failures.size() > kShown) {
    out += str("  and {} more\n", r.failures.size() - kShown);
  }
  return out;
}

// The ways of the calls of the cases that do not fail.
std::string ways_text(const std::map<std::string, size_t>& ways) {
  static constexpr std::pair<const char*, const char*> kWays[] = {
      {"native", "by kernels of the backend"},
      {"composed", "composed of other operators"},
      {"restrided", "composed, with other strides"},
      {"accepted",
       "composed, with a result for an error (not counted as passed)"},
      {"cpu", "on the CPU"},
      {"declared",
       "on the CPU, as the backend declares (not counted as passed)"}};
  std::string out = "ways: ";
  const char* separator = "";
  for (const auto& [way, text] : kWays) {
    const auto it = ways.find(way);
    if (it == ways.end()) continue;
    out += str("{}{} {}", separator, it->second, text);
    separator = ", ";
  }
  return out;
}

// The operators whose calls went a way that the CPU's do not.
std::string differing(const Report& report, const char* way,
                      const char* title) {
  constexpr size_t kShown = 12;
  std::string names;
  size_t calls = 0, n = 0;
  for (const auto& [name, r] : report) {
    const size_t own = r.by_way(way);
    if (own == 0) continue;
    calls += own;
    if (++n > kShown) continue;
    names += str("{}{} ({})", n == 1 ? "" : ", ", name, own);
  }
  if (n == 0) return "";
  if (n > kShown) names += str(", and {} more operators", n - kShown);
  return str("{} calls {} (--notes lists them): {}\n", calls, title, names);
}

std::string skipped_text(const std::map<std::string, size_t>& skipped) {
  size_t all = 0;
  std::string out;
  for (const auto& [why, n] : skipped) {
    out += str("{}{} {}", all == 0 ? "" : ", ", why, n);
    all += n;
  }
  return all == 0 ? "" : str("{} calls skipped: {}\n", all, out);
}

std::string axes_not_tried(const OverloadReport& r) {
  std::string out;
  for (const std::string& axis : axes()) {
    const auto it = r.axes.find(axis);
    if (it != r.axes.end() && it->second != 0) continue;
    out += (out.empty() ? "" : ", ") + axis;
  }
  return r.axes.empty() ? "any" : out;
}

// The number of operators of the plugin that each axis was tried on, and the
// axes that single ones lack.
std::string axes_text(const Report& report, bool notes) {
  std::map<std::string, size_t> tried;
  size_t operators = 0;
  std::string lacking;
  for (const auto& [name, r] : report) {
    if (!r.claimed) continue;
    ++operators;
    for (const auto& [axis, calls] : r.axes) tried[axis] += calls != 0 ? 1 : 0;
    const std::string without = axes_not_tried(r);
    if (notes && !without.empty()) {
      lacking += str("not tried along an axis: {}: {}\n", name, without);
    }
  }
  if (operators == 0) return "";
  std::string out = str("axes, of {} operators: ", operators);
  for (const std::string& axis : axes()) {
    out +=
        str("{}{} {}", axis == axes().front() ? "" : ", ", axis, tried[axis]);
  }
  return lacking + out + (notes ? "\n" : " (--notes lists what was not)\n");
}

std::string list_of(const Report& report, const char* title,
                    bool (*wanted)(const OverloadReport&)) {
  constexpr size_t kShown = 12;
  std::string names;
  size_t n = 0;
  for (const auto& [name, r] : report) {
    if (wanted(r) && ++n <= kShown) names += (n == 1 ? "" : ", ") + name;
  }
  if (n == 0) return "";
  if (n > kShown) names += str(", and {} more", n - kShown);
  return str("{}: {}\n", title, names);
}

}  // namespace

Json to_json(const Report& report) {
  const Totals t(report);
  Json overloads = Json::object();
  for (const auto& [name, r] : report) {
    Json failures = Json::array();
    for (const FailedCase& f : r.failures) {
      failures.push_back({{"id", f.id}, {"why", f.why}});
    }
    overloads[name] = {{"passed", r.passed},
                       {"failed", r.failed},
                       {"missing", r.missing != 0},
                       {"failures", failures}};
    if (!r.ways.empty()) overloads[name]["ways"] = r.ways;
    if (r.claimed) {
      overloads[name]["axes"] = r.axes;
      overloads[name]["axes_not_tried"] = axes_not_tried(r);
    }
    if (!r.skipped.empty()) overloads[name]["skipped"] = r.skipped;
  }
  return {{"passed", t.passed},
          {"failed", t.failed},
          {"missing", t.missing},
          {"skipped", t.skipped},
          {"overloads", overloads}};
}

std::string to_text(const Report& report, bool notes) {
  std::string out;
  for (const auto& [name, r] : report) {
    if (r.failed != 0) out += failures_of(name, r);
    if (!notes) continue;
    for (const auto& [id, note] : r.notes) {
      out += str("note {} {}: {}\n", name, id, note);
    }
  }
  out += list_of(report, "missing",
                 [](const OverloadReport& r) { return r.missing != 0; });
  out += list_of(report, "only errors or empty results passed",
                 [](const OverloadReport& r) {
                   return !r.works() && r.failed == 0 && r.missing == 0 &&
                          !r.declared_only() && !r.only_skipped();
                 });
  out += differing(report, "accepted",
                   "of composed operators give a result where an error is "
                   "expected");
  out += differing(report, "restrided",
                   "of composed operators write tensors with other strides");
  const Totals t(report);
  out += skipped_text(t.skipped);
  out += axes_text(report, notes);
  out += str("cases: {} passed, {} failed, {} missing", t.passed, t.failed,
             t.missing);
  if (t.notes != 0) {
    out += str("; strides of {} fresh results differ{}", t.notes,
               notes ? "" : " (--notes lists them)");
  }
  if (!t.ways.empty()) out += "\n" + ways_text(t.ways);
  out +=
      str("\noverloads: {} of {} work, {} fail, {} missing, {} unproven{}{}\n",
          t.working, report.size(), t.broken, t.absent, t.unproven,
          t.declared == 0 ? "" : str(", {} declared unsupported", t.declared),
          t.not_called == 0 ? "" : str(", {} not called", t.not_called));
  return out;
}

bool none_fails(const Report& report) {
  return !report.empty() &&
         std::all_of(report.begin(), report.end(), [](const auto& entry) {
           return entry.second.failed == 0 && entry.second.missing == 0;
         });
}

bool all_work(const Report& report) {
  return std::all_of(report.begin(), report.end(),
                     [](const auto& entry) { return entry.second.works(); });
}

std::vector<std::string> read_passing(const std::string& path) {
  std::vector<std::string> out;
  const std::string text = read_file(path);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || line[0] == '#') continue;
    SY_CHECK(out.empty() || out.back() < line, Value,
             "{}: {} after {}: the list is sorted, each name once", path, line,
             out.back());
    out.push_back(line);
  }
  return out;
}

size_t update_passing(const std::string& path, const Report& report) {
  std::set<std::string> names;
  if (std::filesystem::exists(path)) {
    for (const std::string& name : read_passing(path)) names.insert(name);
  }
  const size_t before = names.size();
  for (const auto& [name, r] : report) {
    if (r.works()) names.insert(name);
  }
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  write_file(path, text);
  return names.size() - before;
}

}  // namespace sy::tools
