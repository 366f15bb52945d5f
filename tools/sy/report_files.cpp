#include "tools/sy/report_files.h"

#include "c10/error.h"
#include "codegen/tools/markup.h"

namespace sy::tools {

using codegen::markup_text;

namespace {

constexpr const char* kWays[] = {"native", "composed", "cpu", "declared"};

std::string state_of(const OverloadReport& r) {
  if (r.failed != 0) return "fails";
  if (r.missing != 0) return "missing";
  if (r.declared_only()) return "declared";
  return r.works() ? "works" : "unproven";
}

}  // namespace

std::string to_junit(const Report& report, const std::string& title) {
  size_t failures = 0, skipped = 0;
  std::string cases;
  for (const auto& [name, r] : report) {
    cases +=
        str("  <testcase classname=\"conform\" name=\"{}\"", markup_text(name));
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
      cases += str("    <failure message=\"{}\">", message);
      for (const FailedCase& f : r.failures) {
        cases += markup_text(f.id) + ": " + markup_text(f.why) + "\n";
      }
      cases += "</failure>\n";
    } else {
      ++skipped;
      cases += str("    <skipped message=\"{}\"/>\n",
                   state == "declared"
                       ? "the backend declares that it does not support this"
                       : "no case has a result to show");
    }
    cases += "  </testcase>\n";
  }
  return str(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" "
      "tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "errors=\"0\">\n{}</testsuite>\n",
      markup_text(title), report.size(), failures, skipped, cases);
}

std::string html_head(const std::string& title) {
  return str(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta "
      "charset=\"utf-8\">\n<title>{}</title>\n<style>\nbody {{ font: 15px/1.4 "
      "sans-serif; margin: 2em auto; max-width: 70em; }}\ntable {{ "
      "border-collapse: collapse; }}\ntd, th {{ padding: 2px 10px; text-align: "
      "left; vertical-align: top; }}\ntr:nth-child(even) {{ background: "
      "#f4f4f4; }}\n.fails, .missing, .none {{ color: #b00020; }}\n.works, "
      ".native {{ color: #1b6e20; }}\n.why {{ font-family: monospace; "
      "font-size: 13px; white-space: pre-wrap; }}\n</style>\n<input "
      "id=\"filter\" placeholder=\"filter\" oninput=\"for (const r of "
      "document.querySelectorAll('tbody tr')) r.hidden = "
      "!r.textContent.includes(this.value)\">\n<h1>{}</h1>\n",
      markup_text(title), markup_text(title));
}

std::string to_html(const Report& report, const std::string& title) {
  std::map<std::string, size_t> states;
  for (const auto& [name, r] : report) ++states[state_of(r)];
  std::string out = html_head(title) + "<p>";
  for (const auto& [state, n] : states) {
    out += str("<span class=\"{}\">{} {}</span> ", state, n, state);
  }
  out +=
      "</p>\n<table>\n<thead><tr><th>operator</th><th>state</th>"
      "<th>passed</th><th>failed</th>";
  for (const char* way : kWays) out += str("<th>{}</th>", way);
  out += "<th>why</th></tr></thead>\n<tbody>\n";
  for (const auto& [name, r] : report) {
    const std::string state = state_of(r);
    out += str("<tr><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td>{}</td>",
               markup_text(name), state, state, r.passed, r.failed);
    for (const char* way : kWays) {
      const auto it = r.ways.find(way);
      out += it == r.ways.end() ? "<td></td>" : str("<td>{}</td>", it->second);
    }
    out += "<td class=\"why\">";
    for (const FailedCase& f : r.failures) {
      out += markup_text(f.id) + ": " + markup_text(f.why) + "\n";
    }
    out += "</td></tr>\n";
  }
  return out + "</tbody>\n</table>\n</html>\n";
}

}  // namespace sy::tools
