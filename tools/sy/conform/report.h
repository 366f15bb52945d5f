#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/sy/support/json.h"

namespace sy::tools {

struct FailedCase {
  std::string id, why;
  std::string tensors = {}, dtype = {}, words = {};  // see Job
};

struct OverloadReport {
  size_t passed = 0, failed = 0;  // cases
  size_t missing = 0;             // cases of an operator that does not exist
  bool claimed = false;           // a plugin lists it
  bool non_empty = false;         // a call with elements to compare passed
  std::map<std::string, size_t> ways;     // see CaseResult
  std::map<std::string, size_t> skipped;  // calls not made, by reason
  std::map<std::string, size_t> axes;     // calls made, by axis_of(their id)
  std::vector<FailedCase> failures;
  std::vector<std::pair<std::string, std::string>> notes;

  bool tried() const {
    return passed + failed + missing != 0 || !ways.empty() || !skipped.empty();
  }
  // No call of it was made, and the report says why.
  bool only_skipped() const {
    return passed + failed + missing == 0 && ways.empty() && !skipped.empty();
  }
  // Calls that went that way.
  size_t by_way(const std::string& way) const {
    const auto it = ways.find(way);
    return it == ways.end() ? 0 : it->second;
  }
  // The backend says that its kernel takes none of the cases.
  bool declared_only() const {
    return passed == 0 && failed == 0 && ways.count("declared") != 0;
  }
  // The operator can be relied on: nothing failed, and not only errors and
  // empty tensors passed.
  bool works() const {
    return failed == 0 && missing == 0 && passed != 0 && non_empty;
  }
};

using Report = std::map<std::string, OverloadReport>;

Json to_json(const Report& report);
// A text for people: what failed and why, what differs without failing, what
// was not called, then the totals. With `notes`, also each difference.
std::string to_text(const Report& report, bool notes);
bool all_work(const Report& report);
// No case fails or has no operator: what a few cases, or those that a backend
// takes, can show.
bool none_fails(const Report& report);

// A list of overloads that must work: one name a line, sorted, `#` comments.
// Throws ValueError if it is not sorted.
std::vector<std::string> read_passing(const std::string& path);
// Adds the overloads of the report that work; the file need not exist. Returns
// how many are new.
size_t update_passing(const std::string& path, const Report& report);

}  // namespace sy::tools
