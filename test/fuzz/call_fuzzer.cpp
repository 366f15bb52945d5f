#include <cstdint>

#include "test/fuzz/call_target.h"

// The entry of libFuzzer for calls of operators.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  sy::fuzz::run_call({reinterpret_cast<const char*>(data), size});
  return 0;
}
