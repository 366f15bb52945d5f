#include "tools/sy/conform.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "c10/error.h"
#include "c10/schema/nearest.h"
#include "tools/sy/case_file.h"
#include "tools/sy/driver.h"

namespace sy::tools {

namespace {

bool selected(const std::string& name, const std::vector<std::string>& globs) {
  return globs.empty() ||
         std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& g) { return matches(g, name); });
}

// A pattern that fits nothing is a mistake, not an empty run that passes.
std::vector<std::string> select(const std::vector<std::string>& all,
                                const std::vector<std::string>& globs) {
  for (const std::string& g : globs) {
    const bool used =
        std::any_of(all.begin(), all.end(),
                    [&](const std::string& name) { return matches(g, name); });
    NearestName nearest(g);
    for (const std::string& name : all) nearest.consider(name);
    SY_CHECK(used, Value, "--op ", g, ": there are no cases of it",
             nearest.question());
  }
  std::vector<std::string> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const std::string& name) { return selected(name, globs); });
  return out;
}

// 0 if all that must work do; says which do not, and which do beyond the list.
int judge(const Report& report, const std::vector<std::string>& required,
          std::FILE* out) {
  int result = 0;
  for (const std::string& name : required) {
    const auto it = report.find(name);
    if (it != report.end() && it->second.works()) continue;
    const char* why = it == report.end()        ? "has no cases"
                      : it->second.missing != 0 ? "does not exist"
                      : it->second.failed != 0  ? "fails"
                                                : "has no result to show";
    std::fprintf(out, "%s must pass and %s\n", name.c_str(), why);
    result = 1;
  }
  size_t beyond = 0;
  for (const auto& [name, r] : report) {
    if (!r.works() ||
        std::binary_search(required.begin(), required.end(), name)) {
      continue;
    }
    std::fprintf(out, "%s%s", beyond++ == 0 ? "newly passing: " : ", ",
                 name.c_str());
  }
  if (beyond != 0) std::fprintf(out, "\n");
  return result;
}

}  // namespace

int run_conform(const ConformOptions& options) {
  ConformOptions o = options;
  for (std::string& p : o.worker.plugins) p = std::filesystem::absolute(p);
  std::vector<std::string> required;
  if (!o.must_pass.empty()) {
    for (const std::string& name : read_passing(o.must_pass)) {
      if (selected(name, o.globs)) required.push_back(name);
    }
  }
  const Report report =
      replay_cases(o, select(case_names(o.worker.cases), o.globs));

  std::FILE* out = o.json == "-" ? stderr : stdout;
  std::fputs(to_text(report, o.notes).c_str(), out);
  const std::string json = dump(to_json(report), 1) + "\n";
  if (o.json == "-") {
    std::fputs(json.c_str(), stdout);
  } else if (!o.json.empty()) {
    write_file(o.json, json);
  }
  int result = all_work(report) ? 0 : 1;
  if (!o.must_pass.empty()) result = judge(report, required, out);
  if (!o.update_passing.empty()) {
    std::fprintf(out, "%s: %zu added\n", o.update_passing.c_str(),
                 update_passing(o.update_passing, report));
  }
  return result;
}

}  // namespace sy::tools
