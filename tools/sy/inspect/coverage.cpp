#include "tools/sy/inspect/coverage.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "c10/device/backend.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/support/html.h"
#include "tools/sy/support/markup.h"
#include "tools/sy/support/names.h"

namespace sy::tools {

namespace {

// The ways in the order of columns.
constexpr const char* kWays[] = {"native", "composed", "cpu", "none"};
enum Way { kNative, kComposed, kOnCpu, kNone };

struct Line {
  std::string name;
  std::string family;  // "activation"
  Way way = kNone;
  std::string kernel;  // "src/add.cpp:12"
};

Way way_of(const DispatchInfo& d) {
  switch (d.route) {
    case DispatchInfo::Route::Own: return kNative;
    case DispatchInfo::Route::Alias: return kComposed;
    case DispatchInfo::Route::Fallback: return kOnCpu;
    default: return kNone;
  }
}

std::vector<Line> lines_of(const std::string& key, const std::string& glob) {
  std::vector<Line> out;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    Line line{short_name(op.name()), family_of(op), kNone, ""};
    if (!glob.empty() && !matches(glob, line.name)) continue;
    for (const DispatchInfo& d : dispatch_of(op)) {
      if (d.key != key) continue;
      line.way = way_of(d);
      if (line.way == kNative)
        line.kernel = str("{}:{}", d.kernel.file, d.kernel.line);
    }
    out.push_back(std::move(line));
  }
  SY_CHECK(!out.empty(), Value, "no operator fits {}", glob);
  return out;
}

using Counts = std::array<size_t, std::size(kWays)>;

struct Totals {
  Counts all{};
  std::map<std::string, Counts> families;

  explicit Totals(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      ++all[line.way];
      ++families[line.family][line.way];
    }
  }
};

std::string row(const std::string& name, const Counts& counts) {
  return fmt::format("{:28} {:8} {:9} {:8} {:8}\n", name, counts[kNative],
                     counts[kComposed], counts[kOnCpu], counts[kNone]);
}

std::string table(const std::vector<Line>& lines) {
  const Totals totals(lines);
  std::string out = fmt::format("{:28} {:>8} {:>9} {:>8} {:>8}\n", "family",
                                kWays[0], kWays[1], kWays[2], kWays[3]);
  for (const auto& [family, counts] : totals.families) {
    out += row(family, counts);
  }
  return out + row("all", totals.all);
}

Json json_of(const std::vector<Line>& lines, const std::string& device) {
  const Totals totals(lines);
  Json out = {{"device", device}, {"operators", Json::object()}};
  for (size_t w = 0; w < std::size(kWays); ++w) {
    out["totals"][kWays[w]] = totals.all[w];
  }
  for (const Line& line : lines) {
    Json& o = out["operators"][line.name];
    o = {{"way", kWays[line.way]}, {"family", line.family}};
    if (!line.kernel.empty()) o["kernel"] = line.kernel;
  }
  return out;
}

std::string page(const std::vector<Line>& lines, const std::string& device) {
  const Totals totals(lines);
  std::string out = html_head(str("what {} runs", device)) + "<p>";
  for (size_t w = 0; w < std::size(kWays); ++w) {
    out += str(R"(<span class="{}">{} {}</span> )", kWays[w], totals.all[w],
               kWays[w]);
  }
  out +=
      "</p>\n<table>\n<thead><tr><th>operator</th><th>family</th>"
      "<th>way</th><th>kernel</th></tr></thead>\n<tbody>\n";
  for (const Line& line : lines) {
    out += str(
        "<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
        markup_text(line.name), markup_text(line.family), kWays[line.way],
        kWays[line.way], markup_text(line.kernel));
  }
  return out + "</tbody>\n</table>\n</html>\n";
}

void put(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
  } else if (!path.empty()) {
    write_file(path, text);
  }
}

bool is_composed(OperatorHandle op) {
  for (const KernelInfo& k : kernels_of(op)) {
    if (k.key == "CompositeExplicitAutograd" ||
        k.key == "CompositeImplicitAutograd") {
      return true;
    }
  }
  return false;
}

}  // namespace

int run_coverage(const CoverageOptions& options) {
  std::vector<std::string> paths = options.plugins;
  for (std::string& p : paths) p = find_library(p);
  const std::vector<Plugin> plugins = load_plugins(paths);
  init();
  const std::string device = choose_device(plugins, options.device);
  const std::vector<Line> lines =
      lines_of(backend_key_name(Device(device).type()), options.glob);
  if (options.json != "-" && options.html != "-") {
    std::fputs(table(lines).c_str(), stdout);
  }
  put(options.json, dump(json_of(lines, device), 1) + "\n");
  put(options.html, page(lines, device));
  return Totals(lines).all[kNone] == 0 ? 0 : 1;
}

int print_minimal_set(ListFormat format) {
  std::map<std::string, std::vector<std::string>> families;
  std::vector<std::string> names;
  size_t all = 0;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    ++all;
    if (is_composed(op)) continue;
    names.push_back(short_name(op.name()));
    families[family_of(op)].push_back(names.back());
  }
  if (format == ListFormat::Json) {
    fmt::print("{}\n", dump({{"needed", names}, {"operators", all}}, 1));
    return 0;
  }
  const bool yaml = format == ListFormat::Yaml;
  if (yaml) fmt::print("supported:\n");
  for (const auto& [family, members] : families) {
    if (yaml) {
      fmt::print("  # {}\n", family);
      for (const std::string& m : members) fmt::print("  - {}\n", m);
      continue;
    }
    std::string line = family + ":";
    for (const std::string& m : members) {
      if (line.size() + m.size() >= 79) {
        fmt::print("{}\n", line);
        line = "   ";
      }
      line += " " + m;
    }
    fmt::print("{}\n", line);
  }
  fmt::print("{}{} of {} operators; all others are composed of these\n",
             yaml ? "# " : "", names.size(), all);
  return 0;
}

}  // namespace sy::tools
