#pragma once

#include <sy/sy.h>

// The promises of pinned memory, tried with one device that has some.

namespace host {

void pinned_memory_is_the_hosts(sy::Device device);
void copies_need_not_wait(sy::Device device);
void pinned_memory_keeps_its_library(sy::LibraryHandle& library,
                                     sy::Device device);

}  // namespace host
