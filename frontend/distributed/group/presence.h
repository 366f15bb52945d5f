#pragma once

#include <memory>

#include "frontend/distributed/group/state.h"

// How a rank comes into its world, and goes.

namespace sy::distributed {

// InitOptions::timeout, or that of the environment. Throws ValueError.
Milliseconds timeout_of(const InitOptions& options);
// The engine, the rank and the size. Throws what engine_of() throws, and
// ValueError if the options say another rank or size than the launcher.
void choose_engine(Context::State& s);
// Finds the other ranks, by the store, or if there is none yet, by the engine;
// connects the engine. Throws Error if they do not come.
void enter(const std::shared_ptr<Context::State>& state);
// Gives traces of ranks on several machines one clock: the store's.
void say_clock(Context::State& s);
// Says that this rank ends; `clean`: waits until the others do as well. Returns
// whether all ends in order.
bool leave(Context::State& s, bool clean) noexcept;
// The last step of a rank. Rank 0 serves its store for a moment more: others
// still ask what has happened.
void linger(Context::State& s, bool clean) noexcept;

}  // namespace sy::distributed
