#pragma once

#include <exception>

namespace sy::distributed {

// Throws an error that several callers get. Each gets a copy, since who catches
// an Error adds to its message (c10/tensor/storage.cpp, autograd/engine.cpp).
[[noreturn]] void throw_copy(const std::exception_ptr& error);

}  // namespace sy::distributed
