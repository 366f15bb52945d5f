#include <cstdlib>

#include "backends/cpu/jit/api.h"

// A compiler that ends its process over programs of more than three steps and
// refuses the others.

namespace sy::cpu::jit {
namespace {

bool compile(std::string_view request, std::string*, std::string* why) {
  Request r;
  if (decode(request, &r) && r.program.n_steps > 3) std::abort();
  *why = "it is too short";
  return false;
}
bool print_code(std::string_view, bool, std::string*) { return false; }

}  // namespace
}  // namespace sy::cpu::jit

extern "C" __attribute__((visibility("default"))) const void*
switchyard_jit_api() {
  using sy::cpu::jit::CompilerApi;
  static const CompilerApi api = {CompilerApi::kVersion, 1,
                                  &sy::cpu::jit::compile,
                                  &sy::cpu::jit::print_code};
  return &api;
}
