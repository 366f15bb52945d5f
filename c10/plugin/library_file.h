#pragma once

#include <string>

// Functions for a library's file that run before any of its code. Internal to
// c10.

namespace sy {

// Throws RegistrationError "cannot load library PATH: WHY". `why` also says
// what to do.
[[noreturn]] void reject_library(const std::string& path,
                                 const std::string& why);

// Why a file cannot be opened, and what to do.
std::string why_not_opened(int error);

// Explains what dlopen said of the file, and says what to do.
std::string explain_dlopen(const std::string& path, const char* text);

// Calls dlopen. If a static initialiser throws, prints the name of the library
// and ends the process: the dynamic loader would keep its lock.
void* open_library(const std::string& path);

}  // namespace sy
