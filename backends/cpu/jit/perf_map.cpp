#include "backends/cpu/jit/perf_map.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "c10/error.h"

namespace sy::cpu::jit {

void write_perf_map(const Kernel& kernel, const program::Program& program) {
  const char* const on = std::getenv("SWITCHYARD_JIT_PERF");
  if (on == nullptr || std::strcmp(on, "1") != 0) return;
  const std::string path = str(P_tmpdir "/perf-{}.map", getpid());
  std::FILE* const f = std::fopen(path.c_str(), "a");
  if (f == nullptr) return;
  std::string name;
  for (int i = 0; i < program.n_steps && i < 12; ++i) {
    const auto op = static_cast<int>(program.steps[i].op);
    name += str("{}{}", i == 0 ? "" : ",", lang::kPrims[op].name);
  }
  std::fprintf(f, "%llx %zx sy-jit:%s\n",
               reinterpret_cast<unsigned long long>(kernel.memory()),
               kernel.bytes(), name.c_str());
  std::fclose(f);
}

}  // namespace sy::cpu::jit
