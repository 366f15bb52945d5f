#include "backends/lazy/syncs.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "c10/process/demangle.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy::lazy {

namespace {

using SyncPlace = std::tuple<Cause, const OperatorEntry*, void*>;

// Guarded by graph_mutex().
struct Syncs {
  bool on = [] {
    const char* const text = environment("SWITCHYARD_LAZY_SYNCS");
    return text != nullptr && *text != '\0' && *text != '0';
  }();
  std::map<SyncPlace, int64_t> counts;
};
Syncs& syncs() {
  static auto* s = new Syncs;  // leaked, as the graph is
  return *s;
}

// The name without the type of the result, which names of templates begin with,
// up to the arguments.
std::string_view function_of(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  size_t begin = 0;
  int depth = 0;  // of template arguments
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (depth == 0 && name[i] == ' ') {
      begin = i + 1;
    } else if (depth == 0 && name[i] == '(') {
      return name.substr(begin, i - begin);
    }
  }
  return name.substr(begin);
}

// Whether a return address lies in Switchyard, or in a function of it that the
// program has a copy of.
bool find_ours(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return false;
  const std::string_view file = info.dli_fname;
  if (file.substr(file.rfind('/') + 1).starts_with("libswitchyard")) {
    return true;
  }
  if (info.dli_sname == nullptr) return false;
  const std::string name = demangled(info.dli_sname);
  return function_of(name).starts_with("sy::");
}

// The same: to look a symbol up takes 10 us.
bool is_ours(void* address) {
  constexpr size_t kMost = 1 << 16;
  static ForkMutex mutex;
  static auto* const known = new std::unordered_map<void*, bool>;  // leaked
  const std::lock_guard lock(mutex);
  const auto at = known->find(address);
  if (at != known->end()) return at->second;
  if (known->size() >= kMost) known->clear();
  return (*known)[address] = find_ours(address);
}

// The first return address outside of Switchyard.
void* caller() {
  constexpr int kMost = 64;
  void* frames[kMost];
  const int n = backtrace(frames, kMost);
  for (int i = 1; i < n; ++i) {
    if (!is_ours(frames[i])) return frames[i];
  }
  return nullptr;
}

// "train(Model&)+0x1c in ./digits(+0x4f1c)"; addr2line knows the rest.
std::string place_text(void* address) {
  Dl_info info;
  if (address == nullptr || dladdr(address, &info) == 0) return "unknown";
  const auto offset = [&](const void* from) {
    char hex[24];
    std::snprintf(
        hex, sizeof hex, "%#tx",
        static_cast<const char*>(address) - static_cast<const char*>(from));
    return std::string(hex);
  };
  std::string text;
  if (info.dli_sname != nullptr) {
    text = str("{}+{} in ", demangled(info.dli_sname), offset(info.dli_saddr));
  }
  return text + str("{}(+{})", info.dli_fname, offset(info.dli_fbase));
}

}  // namespace

void note_sync(Cause cause, const OperatorEntry* op) {
  Syncs& s = syncs();
  if (s.on) ++s.counts[{cause, op, caller()}];
}

std::string calling_place() { return place_text(caller()); }

void set_report_syncs(bool on) {
  const std::lock_guard lock(graph_mutex());
  syncs().on = on;
  if (on) syncs().counts.clear();
}

std::string syncs_text() {
  const std::lock_guard lock(graph_mutex());
  std::vector<std::pair<SyncPlace, int64_t>> all(syncs().counts.begin(),
                                                 syncs().counts.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  std::string text;
  for (const auto& [place, n] : all) {
    const auto& [cause, op, address] = place;
    text += str("{} for {}{}{}, from {}\n", n, name_of(cause),
                op == nullptr ? "" : " by ", op == nullptr ? "" : op->name(),
                place_text(address));
  }
  return text;
}

}  // namespace sy::lazy
