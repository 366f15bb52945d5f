#pragma once

#include <stdlib.h>

#include <initializer_list>

#include "c10/macros.h"

namespace sy {

namespace detail {
SY_API int environment_word(const char* name,
                            std::initializer_list<const char*> words,
                            int otherwise) noexcept;
}  // namespace detail

// The value of an environment variable; nullptr if it is not set. Also nullptr
// in a program that has rights which its user does not have (set-user-ID,
// capabilities): such a program must not do what the user's environment says.
// The library reads variables by this function alone; a lint rule holds it.
inline const char* environment(const char* name) noexcept {
  return ::secure_getenv(name);
}

// The enumerator, of those counted from 0, whose word is the value of a
// variable; `otherwise` if it is empty or not set, and with a line on stderr if
// it is no word of the list.
template <class E>
E environment_choice(const char* name, std::initializer_list<const char*> words,
                     E otherwise) noexcept {
  return static_cast<E>(
      detail::environment_word(name, words, static_cast<int>(otherwise)));
}

}  // namespace sy
