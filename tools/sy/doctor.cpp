#include <cstdio>

#include "c10/dispatcher.h"
#include "c10/error.h"
#include "c10/library.h"
#include "c10/plugin.h"
#include "tools/sy/inspect.h"
#include "tools/sy/json.h"

namespace sy::tools {

namespace {

constexpr const char* kBlocks[] = {"SY_LIBRARY", "SY_LIBRARY_FRAGMENT",
                                   "SY_LIBRARY_IMPL", "SY_BACKEND"};

std::string block(const LibraryNote& n) {
  const std::string kind = n.kind < 4 ? kBlocks[n.kind] : "?";
  if (n.kind == static_cast<uint32_t>(LibraryKind::Backend)) {
    return str(kind, "(", n.key, ")");
  }
  return str(kind, "(", n.ns, *n.key != '\0' ? str(", ", n.key) : "", ")");
}

}  // namespace

int examine_library(const std::string& path, bool json) {
  Json out = {{"path", path}, {"blocks", Json::array()}, {"loads", false}};
  try {
    for (const LibraryNote& n : read_library_notes(path)) {
      out["blocks"].push_back(block(n));
    }
    const size_t before = Dispatcher::singleton().operators().size();
    const LibraryHandle library = load_library(path);
    out["loads"] = true;
    out["new_operators"] = Dispatcher::singleton().operators().size() - before;
  } catch (const Error& e) {
    out["why"] = e.what();
  }
  const bool loads = out["loads"];
  if (json) {
    std::printf("%s\n", dump(out, 1).c_str());
    return loads ? 0 : 1;
  }
  std::printf("%s\n", path.c_str());
  for (const Json& b : out["blocks"]) {
    std::printf("  %s\n", b.get<std::string>().c_str());
  }
  if (loads) {
    std::printf("loads; %zu new operators\n",
                out["new_operators"].get<size_t>());
  } else {
    std::printf("does not load:\n%s\n", out["why"].get<std::string>().c_str());
  }
  return loads ? 0 : 1;
}

}  // namespace sy::tools
