#include "tools/sy/conform/report_files.h"

#include "c10/process/error.h"
#include "tools/sy/support/html.h"
#include "tools/sy/support/markup.h"

namespace sy::tools {

namespace {

constexpr const char* kWays[] = {"native",   "composed",  "cpu",
                                 "declared", "restrided", "accepted"};

std::string state_of(const OverloadReport& r) {
  if (r.failed != 0) return "fails";
  if (r.missing != 0) return "missing";
  if (r.declared_only()) return "declared";
  if (r.only_skipped()) return "skipped";
  return r.works() ? "works" : "unproven";
}

}  // namespace

std::string to_junit(const Report& report, const std::string& title) {
  size_t failures = 0, skipped = 0;
  std::string cases;
  for (const auto& [name, r] : report) {
    cases +=
        str(R"(  <testcase classname="conform" name="{}")", markup_text(name));
    const std::string state = state_of(r);
    if (state == "works") {
      cases += "/>\n";
      continue;
    }
    cases += ">\n";
    if (state == "fails" || state == "missing") {
      ++failures;
      const std::string message =
          r.missing != 0
              ? "there is no such operator"
              : str("{} of {} cases fail", r.failed, r.failed + r.passed);
      cases += str(R"(    <failure message="{}">)", message);
      for (const FailedCase& f : r.failures) {
        cases += str("{}: {}\n", markup_text(f.id), markup_text(f.why));
      }
      cases += "</failure>\n";
    } else {
      ++skipped;
      cases += str("    <skipped message=\"{}\"/>\n",
                   state == "declared"
                       ? "the backend declares that it does not support this"
                   : state == "skipped" ? markup_text(r.skipped.begin()->first)
                                        : "no case has a result to show");
    }
    cases += "  </testcase>\n";
  }
  return str(
      R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="{}" tests="{}" failures="{}" skipped="{}" errors="0">
{}</testsuite>
)",
      markup_text(title), report.size(), failures, skipped, cases);
}

std::string to_html(const Report& report, const std::string& title) {
  std::map<std::string, size_t> states;
  for (const auto& [name, r] : report) ++states[state_of(r)];
  std::string out = html_head(title) + "<p>";
  for (const auto& [state, n] : states) {
    out += str(R"(<span class="{}">{} {}</span> )", state, n, state);
  }
  out +=
      "</p>\n<table>\n<thead><tr><th>operator</th><th>state</th>"
      "<th>passed</th><th>failed</th>";
  for (const char* way : kWays) out += str("<th>{}</th>", way);
  out += "<th>why</th></tr></thead>\n<tbody>\n";
  for (const auto& [name, r] : report) {
    const std::string state = state_of(r);
    out += str(R"(<tr><td>{}</td><td class="{}">{}</td><td>{}</td><td>{}</td>)",
               markup_text(name), state, state, r.passed, r.failed);
    for (const char* way : kWays) {
      const auto it = r.ways.find(way);
      out += it == r.ways.end() ? "<td></td>" : str("<td>{}</td>", it->second);
    }
    out += R"(<td class="why">)";
    for (const FailedCase& f : r.failures) {
      out += str("{}: {}\n", markup_text(f.id), markup_text(f.why));
    }
    out += "</td></tr>\n";
  }
  return out + "</tbody>\n</table>\n</html>\n";
}

}  // namespace sy::tools
