#include "c10/process/environment.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace sy::detail {

int environment_word(const char* name, std::initializer_list<const char*> words,
                     int otherwise) noexcept {
  const char* const value = environment(name);
  if (value == nullptr || *value == '\0') return otherwise;
  std::string list;
  for (const char* const* w = words.begin(); w != words.end(); ++w) {
    if (std::strcmp(*w, value) == 0) return static_cast<int>(w - words.begin());
    if (w != words.begin()) list += w + 1 == words.end() ? " or " : ", ";
    list += *w;
  }
  std::fprintf(stderr, "switchyard: %s=%s: expected %s\n", name, value,
               list.c_str());
  return otherwise;
}

}  // namespace sy::detail
