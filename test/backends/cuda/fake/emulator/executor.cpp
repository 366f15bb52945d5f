#include "test/backends/cuda/fake/emulator/executor.h"

#include <link.h>
#include <signal.h>
#include <ucontext.h>

#include <mutex>
#include <vector>

#include "test/backends/cuda/fake/emulator/block.h"
#include "test/backends/cuda/fake/emulator/fiber.h"

namespace fake_cuda {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local BlockRunner* running = nullptr;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction previous[64];
FaultHook fault_hook = nullptr;

// A fault of a kernel ends its launch: the thread goes on where the block was
// entered. The handler of before gets all else.
void on_signal(int number, siginfo_t* info, void* context) {
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (number == SIGSEGV && fault_hook != nullptr &&
      fault_hook(info->si_addr, (registers[REG_ERR] & 2) != 0)) {
    return;
  }
  BlockRunner* runner = running;
  if (runner == nullptr) {
    sigaction(number, &previous[number], nullptr);
    // The instruction faults again, for the handler of before.
    if (info->si_code <= 0) raise(number);
    return;
  }
  Ending ending = Ending::kFailed;
  // A vector access at an odd address is a general protection fault.
  if (number == SIGSEGV) {
    ending = info->si_code == SI_KERNEL ? Ending::kMisaligned
                                        : Ending::kIllegalAddress;
  } else if (number == SIGBUS) {
    ending = info->si_code == BUS_ADRALN ? Ending::kMisaligned
                                         : Ending::kIllegalAddress;
  }
  runner->note_fault(ending, info->si_addr);
  runner->before_leaving();
  registers[REG_RSP] = reinterpret_cast<greg_t>(runner->resume_at());
  registers[REG_RIP] = reinterpret_cast<greg_t>(&sy_fiber_resume);
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int s : kSignals) sigaction(s, &action, &previous[s]);
  });
}

// The thread-local variables of the program, or of the library, that holds the
// kernel.
SharedVariables variables_beside(sy_on_host::Kernel kernel) {
  struct Found {
    uintptr_t code;
    SharedVariables variables;
  } found{reinterpret_cast<uintptr_t>(kernel), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* f = static_cast<Found*>(data);
        SharedVariables variables;
        bool is_here = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD) {
            is_here |= f->code - info->dlpi_addr - part.p_vaddr < part.p_memsz;
          } else if (part.p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
            variables = {info->dlpi_tls_data, part.p_memsz};
          }
        }
        if (is_here) f->variables = variables;
        return is_here ? 1 : 0;
      },
      &found);
  return found.variables;
}

// Runners that nobody uses. Leaked with their stacks: threads of streams may
// run kernels while the process ends.
struct Pool {
  std::mutex mutex;
  std::vector<BlockRunner*> idle;
};
Pool& pool() {
  static Pool* const p = new Pool;
  return *p;
}

}  // namespace

void set_fault_hook(FaultHook hook) {
  fault_hook = hook;
  install();
}

void checked_access(sy_on_host::Access how, const void* p, size_t bytes,
                    const void* from) {
  if (running == nullptr) return;
  const Strand* const me = running->in_kernel();
  if (me == nullptr || !me->is_checked || sy_on_host::is_own(*me, p)) {
    return;
  }
  me->operations->access(how, p, bytes, from);
}

Outcome run_grid(const Grid& given) {
  install();
  Grid grid = given;
  if (grid.variables.begin == nullptr) {
    grid.variables = variables_beside(grid.kernel);
  }
  BlockRunner* runner = nullptr;
  {
    const std::lock_guard lock(pool().mutex);
    if (!pool().idle.empty()) {
      runner = pool().idle.back();
      pool().idle.pop_back();
    }
  }
  if (runner == nullptr) runner = new BlockRunner;
  running = runner;
  Outcome outcome = runner->run(grid);
  running = nullptr;
  const std::lock_guard lock(pool().mutex);
  pool().idle.push_back(runner);
  return outcome;
}

}  // namespace fake_cuda
