#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aten/backend/graph.h"

// The engines that run graphs, by their names.

namespace sy::lazy {

struct GraphEngine {
  enum Kind : uint8_t {
    kFused,        // "jit": fused regions, those that are hot compiled
    kInterpreted,  // "interpret": fused regions, nothing compiled
    kSingle,       // "debug": each call by itself
    kCompiler,     // whole graphs by a graph::Compiler
  };
  Kind kind = kFused;
  std::string name;      // as it was asked for
  std::string argument;  // the text behind ':'
  std::shared_ptr<graph::Compiler> compiler;
};

// "" is "jit". A name that nobody has added is that of a library, which is
// loaded. The engine stays until the process ends. Throws ValueError that lists
// the names there are. Thread-safe; not under graph_mutex().
const GraphEngine& engine_of(std::string_view name);

// The engine of the lazy device: SWITCHYARD_LAZY_ENGINE, else "jit".
const GraphEngine& lazy_engine();
void set_lazy_engine(const GraphEngine& engine);

}  // namespace sy::lazy
