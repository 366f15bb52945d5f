#include <cstdio>
#include <cstdlib>

#include "test/fuzz/targets.h"

// The entry of libFuzzer. SY_FUZZ names the target.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const sy::fuzz::Target* const target = [] {
    const char* const name = std::getenv("SY_FUZZ");
    for (const sy::fuzz::Target& t : sy::fuzz::targets()) {
      if (name && t.name == name) return &t;
    }
    std::fputs("SY_FUZZ must name a target:", stderr);
    for (const sy::fuzz::Target& t : sy::fuzz::targets()) {
      std::fprintf(stderr, " %s", t.name.data());
    }
    std::fputs("\n", stderr);
    std::exit(2);
  }();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
