#pragma once

#include <string>

// A library's file before any of its code runs, internal to c10.

namespace sy {

// Throws RegistrationError: cannot load library PATH: WHY. `why` says what to
// do, too.
[[noreturn]] void reject_library(const std::string& path,
                                 const std::string& why);

// Why a file cannot be opened, and what to do.
std::string why_not_opened(int error);

// What dlopen said of the file, and what to do.
std::string explain_dlopen(const std::string& path, const char* text);

// dlopen. If a static initialiser throws, the process names the library and
// ends: the dynamic loader would keep its lock.
void* open_library(const std::string& path);

}  // namespace sy
