#pragma once

#include <string>
#include <string_view>

#include "tools/sy/conform/report.h"

// A report for other programs: each gives the text of a file.

namespace sy::tools {

// JUnit's XML, as CI servers read it: a test case for each overload.
std::string to_junit(const Report& report, const std::string& title);
// A page that needs no other file.
std::string to_html(const Report& report, const std::string& title);

}  // namespace sy::tools
