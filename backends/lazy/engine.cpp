#include "backends/lazy/engine.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "c10/plugin/load_library.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy::lazy {

namespace {

std::shared_ptr<graph::Compiler> compiler_of(std::string_view name) {
  if (auto known = graph::find_compiler(name)) return known;
  std::string why;
  try {
    load_library(std::string(name)).keep();
    why = "its library adds no engine of this name";
  } catch (const Error& e) {
    why = e.what();
  }
  if (auto added = graph::find_compiler(name)) return added;
  std::string names;
  for (const std::string& n : graph::compiler_names()) {
    names += (names.empty() ? "" : ", ") + n;
  }
  SY_CHECK(false, Value, "[engine] expected {} or a library, got '{}': {}",
           names, name, why);
  return nullptr;
}

GraphEngine make_engine(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view first = name.substr(0, colon);
  GraphEngine e;
  e.name = name;
  if (colon != std::string_view::npos) e.argument = name.substr(colon + 1);
  if (first == "interpret") {
    e.kind = GraphEngine::kInterpreted;
  } else if (first == "debug") {
    e.kind = GraphEngine::kSingle;
  } else if (first != "jit") {
    e.kind = GraphEngine::kCompiler;
    e.compiler = compiler_of(first);
  }
  SY_CHECK(e.kind == GraphEngine::kCompiler || e.argument.empty(), Value,
           "[engine] {}: expected no argument, got '{}'", first, e.argument);
  return e;
}

std::atomic<const GraphEngine*>& current() {
  const ForkSection section;
  static std::atomic<const GraphEngine*> e = [] {
    const char* const name = environment("SWITCHYARD_LAZY_ENGINE");
    return &engine_of(name == nullptr ? "" : name);
  }();
  return e;
}

}  // namespace

const GraphEngine& engine_of(std::string_view name) {
  struct Known {
    ForkMutex mutex;
    std::map<std::string, std::unique_ptr<const GraphEngine>, std::less<>>
        engines;
  };
  static auto* known = new Known;  // leaked: plans point to engines
  if (name.empty()) name = "jit";
  {
    const std::lock_guard lock(known->mutex);
    const auto at = known->engines.find(name);
    if (at != known->engines.end()) return *at->second;
  }
  auto made = std::make_unique<const GraphEngine>(make_engine(name));
  const std::lock_guard lock(known->mutex);
  return *known->engines.emplace(name, std::move(made)).first->second;
}

const GraphEngine& lazy_engine() { return *current().load(); }
void set_lazy_engine(const GraphEngine& engine) { current() = &engine; }

}  // namespace sy::lazy
