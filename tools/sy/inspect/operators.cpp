#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>

#include "aten/backend/write_plan.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/implementation.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "c10/schema/nearest.h"
#include "include/sy/lazy.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/support/json.h"
#include "tools/sy/support/names.h"

namespace sy::tools {

namespace {

constexpr const char* kKinds[] = {"dispatch",  "pointwise", "reduce",
                                  "composite", "view",      "scan"};
static_assert(std::size(kKinds) == OperatorInfo::kScan + 1);

constexpr std::pair<OperatorDef::Flag, const char*> kFlags[] = {
    {OperatorDef::kNoDeviceCheck, "no_device_check"},
    {OperatorDef::kView, "view"},
    {OperatorDef::kInplace, "inplace"},
    {OperatorDef::kOut, "out"},
    {OperatorDef::kRandom, "random"},
    {OperatorDef::kDifferentiable, "differentiable"},
    {OperatorDef::kWrites, "writes"},
    {OperatorDef::kAliases, "aliases"},
    {OperatorDef::kGeometry, "geometry"}};

// Names of the arguments that the operator writes.
std::vector<std::string> written_by(const OperatorEntry& e) {
  std::vector<std::string> out;
  for (const int8_t i : write_plan(e).written) {
    out.emplace_back(e.schema().arguments()[size_t(i)].name.view());
  }
  return out;
}

// How the same is computed without writing.
std::string without_writing(const OperatorEntry& e) {
  const WritePlan& plan = write_plan(e);
  switch (plan.kind) {
    case WritePlan::kFunctional: return std::string(plan.functional->name());
    case WritePlan::kOnCopies: return "itself, on copies";
    case WritePlan::kGeometry: return "nothing, only metadata changes";
    default: return "";
  }
}

// Why a call with the key goes where it goes.
std::string why(const DispatchInfo& d) {
  switch (d.route) {
    case DispatchInfo::Route::Own: return "registered for the very key";
    case DispatchInfo::Route::Alias:
      return str("no kernel for the key; {}{}", d.kernel.key,
                 d.kernel.key.starts_with("Composite")
                     ? " is composed of other operators"
                     : " stands for all of its kind");
    case DispatchInfo::Route::Fallback:
      return "no kernel for the key, which has one for every operator";
    case DispatchInfo::Route::Fallthrough: return "the key takes no part";
    default:
      return "neither a kernel for the key, nor a composition, nor a fallback: "
             "NotImplementedError";
  }
}

// The name before the overload.
std::string_view base_name(std::string_view full) {
  const size_t name = full.find("::") + 2;
  return full.substr(0, full.find('.', name));
}

Json to_json(const KernelInfo& k) {
  return {{"key", k.key},
          {"file", k.file},
          {"line", k.line},
          {"owner", k.owner},
          {"boxed", k.boxed_only},
          {"fallthrough", k.fallthrough},
          {"guarded", k.checks_itself}};
}

Json implementations_json(const std::string& name) {
  Json out = Json::array();
  for (const Implementations* list : implementations_of(name.c_str())) {
    Json entries = Json::array();
    for (const Implementation& i : *list) {
      entries.push_back({{"name", i.name}, {"when", i.when}});
    }
    out.push_back({{"backend", list->backend()},
                   {"what", list->what()},
                   {"implementations", entries}});
  }
  return out;
}

Json explain_json(OperatorHandle op) {
  const OperatorEntry& e = op.entry();
  Json flags = Json::array();
  for (const auto& [flag, name] : kFlags) {
    if (e.has_flag(flag)) flags.push_back(name);
  }
  Json kernels = Json::array(), table = Json::object();
  for (const KernelInfo& k : kernels_of(op)) kernels.push_back(to_json(k));
  for (const DispatchInfo& d : dispatch_of(op)) {
    table[d.key] = {{"route", route_name(d.route)}, {"why", why(d)}};
    if (d.route != DispatchInfo::Route::Missing) {
      table[d.key]["kernel"] = to_json(d.kernel);
    }
  }
  Json out = {{"name", e.name()},
              {"schema", e.schema_text()},
              {"owner", owner_of(op)},
              {"flags", flags},
              {"kernels", kernels},
              {"table", table},
              {"implementations", implementations_json(std::string(e.name()))},
              {"table_bytes", e.table().bytes()}};
  if (const OperatorInfo* info = e.info()) {
    out["kind"] = kKinds[info->kind];
    out["doc"] = info->doc;
    out["source"] = info->source;
  }
  if (e.has_flag(OperatorDef::kWrites)) {
    out["written"] = written_by(e);
    out["without_writing"] = without_writing(e);
  }
  return out;
}

void pad(std::string& line, size_t width) {
  line.resize(std::max(line.size() + 1, width), ' ');
}

std::string explain_text(OperatorHandle op) {
  const OperatorEntry& e = op.entry();
  std::string out = e.schema_text() + "\n";
  if (const OperatorInfo* info = e.info()) {
    if (*info->doc != '\0') out += str("  {}\n", info->doc);
    out += str("  {} operator of {}\n", kKinds[info->kind], info->source);
  }
  out += str("  defined by {}\n", owner_of(op));
  if (e.has_flag(OperatorDef::kWrites)) {
    std::string names;
    for (const std::string& name : written_by(e)) {
      names += (names.empty() ? "" : ", ") + name;
    }
    out += str("  writes {}; without a write: {}\n", names, without_writing(e));
  }
  out += "kernels\n";
  for (const KernelInfo& k : kernels_of(op)) {
    std::string line = "  " + k.key;
    pad(line, 30);
    out += str("{}{}{}\n", line, k.fallthrough ? "skipped, " : "",
               kernel_place(k, k.owner));
  }
  out += "where a call goes, by its highest key\n";
  std::string skipped;
  for (const DispatchInfo& d : dispatch_of(op)) {
    if (d.route == DispatchInfo::Route::Fallthrough) {
      skipped += (skipped.empty() ? "" : ", ") + d.key;
      continue;
    }
    std::string line = "  " + d.key;
    pad(line, 30);
    line += route_name(d.route);
    if (d.route != DispatchInfo::Route::Missing) {
      line += str(": {} ({})", d.kernel.key,
                  kernel_place(d.kernel, d.kernel.owner));
    }
    out += str("{}\n{}{}\n", line, std::string(30, ' '), why(d));
  }
  if (!skipped.empty()) out += str("  skipped: {}\n", skipped);
  for (const Implementations* list :
       implementations_of(std::string(e.name()).c_str())) {
    out += str("implementations of the {} on {}, in the order they are asked\n",
               list->what(), list->backend());
    for (const Implementation& i : *list) {
      std::string line = str("  {}", i.name);
      pad(line, 30);
      out += str("{}{}\n", line, i.when);
    }
  }
  return out;
}

std::string lower(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

bool has_words(const std::string& text, const std::vector<std::string>& words) {
  const std::string there = lower(text);
  return std::all_of(words.begin(), words.end(), [&](const std::string& w) {
    return there.find(lower(w)) != there.npos;
  });
}

}  // namespace

std::vector<OperatorHandle> overloads(const std::string& name) {
  const Dispatcher& d = Dispatcher::singleton();
  if (const auto op = d.find(name)) return {*op};
  const std::string full =
      name.find("::") == std::string::npos ? "aten::" + name : name;
  std::vector<OperatorHandle> out;
  NearestName nearest(full);
  const std::vector<OperatorHandle> all = d.operators();
  for (OperatorHandle op : all) {
    if (base_name(op.name()) == full) out.push_back(op);
    nearest.consider(op.name());
    nearest.consider(base_name(op.name()));
  }
  SY_CHECK(!out.empty(), NotImplemented, "no operator {}{}", full,
           nearest.question());
  return out;
}

int print_operator_names() {
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    fmt::print("{}\n", short_name(op.name()));
  }
  return 0;
}

int list_operators(const OperatorQuery& query, bool json) {
  Json list = Json::array();
  std::string text;
  NearestName nearest(query.glob);
  for (OperatorHandle op : Dispatcher::singleton().operators()) {
    const std::string name(op.name());
    nearest.consider(op.name().substr(op.name().starts_with("aten::") ? 6 : 0));
    const char* const doc =
        op.entry().info() != nullptr ? op.entry().info()->doc : "";
    if ((!query.glob.empty() && !matches(query.glob, short_name(name)) &&
         !matches(query.glob, name)) ||
        !has_words(str("{} {}", name, doc), query.words)) {
      continue;
    }
    list.push_back({{"name", name}, {"schema", op.entry().schema_text()}});
    if (*doc != '\0') list.back()["doc"] = doc;
    text += op.entry().schema_text() + "\n";
    if (!query.words.empty() && *doc != '\0') text += str("    {}\n", doc);
  }
  SY_CHECK((query.glob.empty() && query.words.empty()) || !list.empty(),
           NotImplemented, "no operator fits{}{}{}",
           query.glob.empty() ? "" : " ", query.glob, nearest.question());
  std::fputs((json ? dump(list, 1) + "\n" : text).c_str(), stdout);
  return 0;
}

int explain_operator(const std::string& name, bool json) {
  Json list = Json::array();
  std::string text;
  for (OperatorHandle op : overloads(name)) {
    if (json) {
      list.push_back(explain_json(op));
    } else {
      text += (text.empty() ? "" : "\n") + explain_text(op);
    }
  }
  std::fputs((json ? dump(list, 1) + "\n" : text).c_str(), stdout);
  return 0;
}

int explain_recording(const std::string& name, bool json) {
  load_library("lazy").keep();
  Json list = Json::array();
  std::string text;
  for (OperatorHandle op : overloads(name)) {
    const std::string how = lazy::explain_operator(op.name());
    list.push_back({{"name", op.name()}, {"lazy", how}});
    text += str("{}\n  {}\n", op.entry().schema_text(), how);
  }
  std::fputs((json ? dump(list, 1) + "\n" : text).c_str(), stdout);
  return 0;
}

}  // namespace sy::tools
