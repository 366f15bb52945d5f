#include <dlfcn.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/inspect/missing.h"
#include "tools/sy/support/child.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

constexpr unsigned kSeconds = 60;  // for a library to load

constexpr const char* kBlocks[] = {"SY_LIBRARY", "SY_LIBRARY_FRAGMENT",
                                   "SY_LIBRARY_IMPL", "SY_BACKEND"};

std::string block(const LibraryNote& n) {
  const std::string kind = n.kind < 4 ? kBlocks[n.kind] : "?";
  if (n.kind == static_cast<uint32_t>(LibraryKind::Backend)) {
    return str("{}({})", kind, n.key);
  }
  return str("{}({}{})", kind, n.ns, *n.key != '\0' ? str(", {}", n.key) : "");
}

// The library's own notes: which libraries of others it found, which devices.
// See docs/backends.md.
Json notes_of(const std::string& path) {
  using Say = void (*)(void* to, const char* line);
  Json out = Json::array();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return out;
  const auto ask = reinterpret_cast<void (*)(Say, void*)>(
      dlsym(library, "switchyard_doctor"));
  if (ask != nullptr) {
    ask([](void* to,
           const char* line) { static_cast<Json*>(to)->push_back(line); },
        &out);
  }
  dlclose(library);
  return out;
}

Json load(const std::string& path) {
  Json out = {{"loads", false}};
  try {
    const size_t before = Dispatcher::singleton().operators().size();
    const LibraryHandle library = load_library(path);
    out["loads"] = true;
    out["new_operators"] = Dispatcher::singleton().operators().size() - before;
    out["notes"] = notes_of(library.path());
  } catch (const std::exception& e) {
    out["why"] = e.what();
  }
  return out;
}

std::string last_lines(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  size_t at = text.npos;
  for (int n = 0; n < 5; ++n) {
    at = text.rfind('\n', at);
    if (at == text.npos || at == 0) return text;
    --at;
  }
  return text.substr(at + 2);
}

std::string how_it_ended(int status, const std::string& path,
                         const std::string& said) {
  const bool in_time = !WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM;
  if (!in_time) {
    return str(
        "cannot load library {}: it is not done after {} s; something that its "
        "static initialisers or blocks do does not return",
        path, kSeconds);
  }
  const std::string how =
      WIFSIGNALED(status)
          ? str("dies of it ({})", std::string(::strsignal(WTERMSIG(status))))
          : str("is ended by it, with exit status {}", WEXITSTATUS(status));
  return str(
      "cannot load library {}: the process that loads it {}; mend its static "
      "initialisers and what they call{}",
      path, how, said.empty() ? "" : "\n" + last_lines(said));
}

// Loads it in a child process, which may die of it.
Json try_load(const std::string& path) {
  init();
  const ChildResult child =
      in_child(kSeconds, [&] { return dump(load(path)); });
  Json out = {{"loads", false}};
  if (child.answer.empty()) {
    out["why"] = how_it_ended(child.status, path, child.said);
  } else {
    out = parse_json(child.answer, "doctor");
  }
  if (!out["loads"]) out["missing"] = missing_of(path);
  return out;
}

// The loader's answer names the first.
void print_missing(const Json& missing) {
  if (missing.size() < 2) return;
  fmt::print("all that is missing:\n");
  for (const Json& m : missing) {
    fmt::print("  {}\n", m.get<std::string>());
  }
}

}  // namespace

int examine_library(const std::string& path, bool json) {
  Json out = {{"path", path},
              {"blocks", Json::array()},
              {"loads", false},
              {"missing", Json::array()}};
  try {
    for (const LibraryNote& n : read_library_notes(path)) {
      out["blocks"].push_back(block(n));
    }
    out.update(try_load(path));
  } catch (const Error& e) {
    out["why"] = e.what();
  }
  const bool loads = out["loads"];
  if (json) {
    fmt::print("{}\n", dump(out, 1));
    return loads ? 0 : 1;
  }
  fmt::print("{}\n", path);
  for (const Json& b : out["blocks"]) {
    fmt::print("  {}\n", b.get<std::string>());
  }
  if (loads) {
    fmt::print("loads; {} new operators\n", out["new_operators"].get<size_t>());
    for (const Json& note : out["notes"]) {
      fmt::print("  {}\n", note.get<std::string>());
    }
  } else {
    fmt::print("does not load:\n{}\n", out["why"].get<std::string>());
    print_missing(out["missing"]);
  }
  return loads ? 0 : 1;
}

}  // namespace sy::tools
