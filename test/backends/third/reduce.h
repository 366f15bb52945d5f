#pragma once

namespace sy::third {

// How often the engine ran.
int reductions();

}  // namespace sy::third
