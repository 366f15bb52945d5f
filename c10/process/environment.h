#pragma once

#include <stdlib.h>

namespace sy {

// The value of an environment variable; nullptr if it is not set. Also nullptr
// in a program that has rights which its user does not have (set-user-ID,
// capabilities): such a program must not do what the user's environment says.
// The library reads variables by this function alone; a lint rule holds it.
inline const char* environment(const char* name) noexcept {
  return ::secure_getenv(name);
}

}  // namespace sy
