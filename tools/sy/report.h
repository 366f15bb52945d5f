#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/sy/json.h"

namespace sy::tools {

struct OverloadReport {
  size_t passed = 0, failed = 0;  // cases
  size_t missing = 0;             // cases of an operator that does not exist
  bool non_empty = false;         // a call with elements to compare passed
  std::vector<std::pair<std::string, std::string>> failures;  // id, why
  std::vector<std::pair<std::string, std::string>> notes;

  // The operator can be relied on: nothing failed, and not only errors and
  // empty tensors passed.
  bool works() const {
    return failed == 0 && missing == 0 && passed != 0 && non_empty;
  }
};

using Report = std::map<std::string, OverloadReport>;

Json to_json(const Report& report);
// For people: what failed and why, then the totals. With `notes`, also what
// differs without failing.
std::string to_text(const Report& report, bool notes);
bool all_work(const Report& report);

// A list of overloads that must work: one name a line, sorted, `#` comments.
// Throws ValueError if it is not sorted.
std::vector<std::string> read_passing(const std::string& path);
// Adds the overloads of the report that work; the file need not exist. Returns
// how many are new.
size_t update_passing(const std::string& path, const Report& report);

}  // namespace sy::tools
