#include "tools/sy/conform/conform.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "c10/schema/nearest.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/examples.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/cases/case_file.h"
#include "tools/sy/conform/driver.h"
#include "tools/sy/conform/failure_file.h"
#include "tools/sy/conform/report_files.h"
#include "tools/sy/device/device_trials.h"
#include "tools/sy/support/names.h"

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
    SY_CHECK(used, Value, "--op {}: there are no cases of it{}", g,
             nearest.question());
  }
  std::vector<std::string> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const std::string& name) { return selected(name, globs); });
  return out;
}

// 0 if all that must work do; says which do not, and which do beyond the list.
// `recorded`: overloads with cases, of which a trial may leave out all, as
// their values are not known.
int judge(const Report& report, const std::vector<std::string>& required,
          const std::set<std::string>& recorded, std::FILE* out) {
  int result = 0;
  for (const std::string& name : required) {
    const auto it = report.find(name);
    if (it == report.end() && recorded.contains(name)) continue;
    if (it != report.end() && it->second.only_skipped() &&
        recorded.contains(name)) {
      continue;
    }
    if (it != report.end() && it->second.works()) continue;
    const char* why = it == report.end()        ? "has no cases"
                      : it->second.missing != 0 ? "does not exist"
                      : it->second.failed != 0  ? "fails"
                                                : "has no result to show";
    fmt::print(out, "{} must pass and {}\n", name, why);
    result = 1;
  }
  size_t beyond = 0;
  for (const auto& [name, r] : report) {
    if (!r.works() ||
        std::binary_search(required.begin(), required.end(), name)) {
      continue;
    }
    fmt::print(out, "{}{}", beyond++ == 0 ? "newly passing: " : ", ", name);
  }
  if (beyond != 0) fmt::print(out, "\n");
  return result;
}

// Whether the results are not initialised.
bool says_too_little(const std::string& name) {
  static const std::set<std::string, std::less<>> kUnset = {
      "empty",         "empty_like", "empty_permuted",
      "empty_strided", "new_empty",  "new_empty_strided"};
  return kUnset.contains(name.substr(0, name.find('.')));
}

// Every device copies: by the kernel that it lists, or without one.
bool copies_on(OperatorHandle op, const Claims* claims, bool on_device) {
  if (!on_device || !is_copy(op)) return false;
  const bool listed = claims != nullptr && claims->supports("aten::_copy_from");
  return (op.name() == "aten::_copy_from") == listed;
}

// Overloads that are called as their signatures say, and why others are not.
// In-place and out= forms only if they have kernels of their own.
std::vector<Job> made_jobs(const Claims* claims, bool on_device) {
  std::vector<Job> out;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    std::string name = short_name(op.name());
    const bool own = claims != nullptr && claims->supports(op.name());
    const bool copies = copies_on(op, claims, on_device);
    if (!(op.schema().is_functional() || own || copies)) continue;
    Job job{std::move(name)};
    if (op.entry().has_flag(OperatorDef::kRandom)) {
      job.skipped = "random";
    } else if (says_too_little(job.name) ||
               (job.name == "_copy_from" && !copies)) {
      job.skipped = "results that nobody sets";
    } else if (!on_device && !signature_suffices(op)) {
      job.skipped = kSaysTooLittle;
    }
    out.push_back(std::move(job));
  }
  return out;
}

// Floating dtypes other than that of most recorded cases.
std::vector<std::string> compared_dtypes(const Claims* claims) {
  const std::vector<ScalarType> dtypes =
      claims == nullptr ? std::vector<ScalarType>() : claims->dtypes();
  if (dtypes.empty()) return {"float32"};
  std::vector<std::string> out;
  for (const ScalarType t : dtypes) {
    if (is_floating_type(t) && t != kDouble) out.push_back(str("{}", t));
  }
  return out;
}

// A backend is compared with the CPU in the dtypes that it takes, and by calls
// that tell kernels apart.
void add_made_jobs(const ConformOptions& o, const Claims* claims,
                   bool on_device, const std::vector<std::string>& recorded,
                   std::vector<Job>& jobs) {
  const std::vector<Job> made = made_jobs(claims, on_device);
  ExampleWords examples;
  if (on_device && !o.examples.empty()) examples = read_examples(o.examples);
  const auto add = [&](const std::string& tensors) {
    for (const Job& job : made) {
      if (!job.skipped.empty()) continue;
      jobs.push_back(job);
      jobs.back().tensors = tensors;
      const auto words = examples.find(job.name);
      if (words != examples.end()) jobs.back().words = words->second;
    }
  };
  if (on_device || o.size != "smoke") {
    std::copy_if(made.begin(), made.end(), std::back_inserter(jobs),
                 [](const Job& job) { return !job.skipped.empty(); });
  }
  if (on_device) {
    for (const std::string& dtype : compared_dtypes(claims)) {
      for (const auto& name : recorded) jobs.push_back({name, "", dtype});
    }
    // Soak makes the calls of a full run, and more.
    add(o.size == "soak" ? "soak" : "claimed");
    if (o.size == "soak") add("all");
    return;
  }
  if (o.size == "smoke") return;
  add("2x3");
  if (o.size != "soak") return;
  // Tensors of one element, of an odd tail, of several tiles, of more dims.
  for (const char* tensors : {"1", "7x17", "130x131", "2x3x5x7"}) add(tensors);
}

std::vector<Job> jobs_of(const ConformOptions& o,
                         const std::vector<Plugin>& plugins) {
  const bool installed = !o.size.empty();
  std::vector<std::string> recorded =
      installed ? read_passing(installed_cases() + "/passing.txt")
                : case_names(o.worker.cases);
  std::vector<Job> jobs;
  for (const std::string& name : recorded) jobs.push_back({name});
  const bool on_device = Device(o.worker.device).type() > kMeta;
  const Claims* claims = claims_for(plugins, Device(o.worker.device));
  if (installed && o.worker.trials == "replay") {
    add_made_jobs(o, claims, on_device, recorded, jobs);
  }
  if (o.supported) {
    SY_CHECK(claims != nullptr, Value,
             "--supported: no plugin says what {} supports", o.worker.device);
    std::erase_if(jobs, [&](const Job& j) {
      return !claims->supports(
          j.name.find("::") == j.name.npos ? "aten::" + j.name : j.name);
    });
  }
  std::vector<std::string> names;
  for (const Job& j : jobs) names.push_back(j.name);
  const std::vector<std::string> chosen = select(names, o.globs);
  const std::set<std::string> wanted(chosen.begin(), chosen.end());
  std::erase_if(jobs, [&](const Job& j) { return wanted.count(j.name) == 0; });
  SY_CHECK(std::any_of(jobs.begin(), jobs.end(),
                       [](const Job& j) { return j.skipped.empty(); }),
           Value, "there is nothing to run");
  return jobs;
}

// Operators that the plugin lists are tried along axes, or the report says so.
void note_claims(const Claims* claims, Report& report) {
  for (auto& [name, r] : report) {
    r.claimed =
        claims != nullptr &&
        claims->supports(name.find("::") == name.npos ? "aten::" + name : name);
  }
}

std::string file_name(const std::string& op, const std::string& id) {
  std::string out = str("{}-{}", op, id);
  for (char& c : out) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return out.substr(0, 120);
}

// Files for the failures, a few of each overload; the program of the first is
// printed if it is short.
void write_failures(const ConformOptions& o, const Claims* claims,
                    const Report& report, std::FILE* out) {
  constexpr size_t kFiles = 3, kLongest = 4000;
  bool shown = false;
  size_t written = 0;
  if (!o.failures.empty()) std::filesystem::create_directories(o.failures);
  for (const auto& [name, r] : report) {
    for (size_t i = 0; i < std::min(kFiles, r.failures.size()); ++i) {
      const FailedCase& f = r.failures[i];
      if (f.id.empty()) continue;
      const Failure failure{name,
                            f.id,
                            f.why,
                            f.tensors.empty() ? o.worker.cases : "",
                            f.tensors,
                            f.words,
                            f.dtype,
                            o.worker.device,
                            o.worker.plugins,
                            o.worker.gradients};
      try {
        const std::string program = failure_cpp(failure, claims);
        if (!shown && program.size() <= kLongest) {
          shown = true;
          fmt::print(out, "the first failure as a program:\n\n{}\n", program);
        }
        if (o.failures.empty()) continue;
        const std::string path =
            str("{}/{}", o.failures, file_name(name, f.id));
        write_file(path + ".cpp", program);
        write_file(path + ".json", dump(failure_json(failure), 1) + "\n");
        ++written;
      } catch (const Error& e) {
        fmt::print(out, "{} {}: {}\n", name, f.id, e.what());
      }
    }
  }
  if (written != 0) {
    fmt::print(out, "{} failures in {}, as programs and for `sy replay`\n",
               written, o.failures);
  }
}

}  // namespace

std::string installed_cases() {
  const char* const set = std::getenv("SWITCHYARD_CONFORMANCE");
  const std::filesystem::path folder =
      set != nullptr ? std::filesystem::path(set)
                     : std::filesystem::read_symlink("/proc/self/exe")
                               .parent_path()
                               .parent_path() /
                           "share/switchyard/conformance";
  SY_CHECK(
      std::filesystem::is_directory(folder / "cases"), Value,
      "there are no recorded cases at {}; name a folder of them by --cases",
      folder.string());
  return folder.string();
}

int run_conform(const ConformOptions& options) {
  ConformOptions o = options;
  for (std::string& p : o.worker.plugins) p = find_library(p);
  std::vector<std::string> required;
  if (!o.must_pass.empty()) {
    for (const std::string& name : read_passing(o.must_pass)) {
      if (selected(name, o.globs)) required.push_back(name);
    }
  }
  const bool installed = o.worker.cases.empty();
  if (installed) {
    o.worker.cases = installed_cases() + "/cases";
    o.worker.few = o.size == "smoke";
  } else {
    o.size.clear();
  }
  const std::vector<Plugin> plugins = load_plugins(o.worker.plugins);
  init();
  if (installed) {
    o.worker.device = choose_device(plugins, o.worker.device);
  } else if (o.worker.device.empty()) {
    o.worker.device = "cpu";
  }
  Report report = run_jobs(o, jobs_of(o, plugins));
  if (o.worker.trials == "replay") {
    note_claims(claims_for(plugins, Device(o.worker.device)), report);
  }

  std::FILE* out = o.json == "-" ? stderr : stdout;
  std::fputs(to_text(report, o.notes).c_str(), out);
  if (o.worker.trials == "replay" && (installed || !o.failures.empty())) {
    write_failures(o, claims_for(plugins, Device(o.worker.device)), report,
                   out);
  }
  const std::string json = dump(to_json(report), 1) + "\n";
  if (o.json == "-") {
    std::fputs(json.c_str(), stdout);
  } else if (!o.json.empty()) {
    write_file(o.json, json);
  }
  const std::string title = str("conformance of {}", o.worker.device);
  if (!o.junit.empty()) write_file(o.junit, to_junit(report, title));
  if (!o.html.empty()) write_file(o.html, to_html(report, title));
  const bool good = installed ? none_fails(report) : all_work(report);
  int result = good ? 0 : 1;
  if (!o.must_pass.empty()) {
    std::set<std::string> recorded;
    if (o.worker.trials != "replay") {
      const auto names = case_names(o.worker.cases);
      recorded.insert(names.begin(), names.end());
    }
    result = judge(report, required, recorded, out);
  }
  if (!o.update_passing.empty()) {
    fmt::print(out, "{}: {} added\n", o.update_passing,
               update_passing(o.update_passing, report));
  }
  return result;
}

}  // namespace sy::tools
