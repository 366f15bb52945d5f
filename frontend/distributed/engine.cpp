#include "frontend/distributed/engine.h"

#include <map>
#include <mutex>
#include <string>

#include "c10/plugin/load_library.h"
#include "c10/process/error.h"

namespace sy::distributed {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, Engine*, std::less<>> engines;
};

// Leaked: engines are used until the process ends.
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

Engine* find(std::string_view name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.engines.find(name);
  return found == r.engines.end() ? nullptr : found->second;
}

std::string names() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::string text;
  for (const auto& [name, engine] : r.engines) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

const char* text_of(Collective what) noexcept {
  switch (what) {
    case Collective::kAllReduce: return "all_reduce";
    case Collective::kBroadcast: return "broadcast";
    case Collective::kReduce: return "reduce";
    case Collective::kAllGather: return "all_gather";
    case Collective::kReduceScatter: return "reduce_scatter";
    case Collective::kAllToAll: return "all_to_all";
    case Collective::kGather: return "gather";
    case Collective::kScatter: return "scatter";
    case Collective::kSend: return "send";
    case Collective::kRecv: return "recv";
    case Collective::kBarrier: return "barrier";
  }
  return "transfer";
}

Communicator::~Communicator() = default;
Engine::~Engine() = default;
void Engine::set_rendezvous(const Rendezvous&) {}
int Engine::device_index() const noexcept { return -1; }

void register_engine(Engine& engine) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.engines.insert_or_assign(engine.name(), &engine);
}

Engine& engine_of(const char* name) {
  if (Engine* const known = find(name)) return *known;
  load_library(name).keep();
  Engine* const added = find(name);
  SY_CHECK(added != nullptr, Value,
           "[distributed] engine: expected a library that registers an engine "
           "'{}', got one that does not; there are: {}",
           name, names());
  return *added;
}

}  // namespace sy::distributed
