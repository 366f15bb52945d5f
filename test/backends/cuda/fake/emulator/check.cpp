#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "test/backends/cuda/fake/emulator/block.h"

// Accesses of kernels to memory.

namespace fake_cuda {
namespace {

using sy_on_host::Access;

// The bytes that ptxas allows for the variables of a kernel.
constexpr size_t kMostVariables = size_t{48} << 10;
// Bytes that are counted with those beside them.
constexpr size_t kSlack = 256;
// A thread has half as many accesses, on average, before others run.
constexpr unsigned kQuantum = 1024;

std::string format(const char* text, uint64_t number) {
  char out[160];
  std::snprintf(out, sizeof out, text, static_cast<unsigned long long>(number));
  return out;
}

std::string triple(const uint3& i) {
  return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " +
         std::to_string(i.z) + ")";
}

}  // namespace

std::string name_code(const void* from) {
  Dl_info info{};
  if (dladdr(from, &info) == 0 || info.dli_fname == nullptr) {
    return format("0x%llx", reinterpret_cast<uintptr_t>(from));
  }
  const char* const slash = std::strrchr(info.dli_fname, '/');
  return (slash == nullptr ? info.dli_fname : slash + 1) +
         format("+0x%llx", reinterpret_cast<uintptr_t>(from) -
                               reinterpret_cast<uintptr_t>(info.dli_fbase));
}

void BlockRunner::draw_quantum() {
  // The thread runs as long as it likes without a seed.
  quantum_ = grid_->seed == 0 ? 0 : 1 + random_below(kQuantum);
}

// Threads that run are not asked any more.
void BlockRunner::stop_checking() {
  checks_ = false;
  for (Strand* s : strands_) s->is_checked = false;
}

void BlockRunner::fence(Strand* me, bool for_all_blocks) {
  if (checks_) me->block->clocks.fence(me->number, for_all_blocks);
}

void BlockRunner::access(Strand* me, Access how, const void* p, size_t bytes,
                         const void* from) {
  if (--quantum_ == 0) preempt(me);
  if (how == Access::kVolatileRead && (++me->calls & 63) == 0) yield(me);
  if (how == Access::kWrite) ++progress_;
  if (!checks_) return;
  if (outcome_.checked++ == grid_->most_checked) {
    stop_checking();
    return;
  }
  const auto at = reinterpret_cast<uintptr_t>(p);
  // Nobody writes the argument.
  if (at - reinterpret_cast<uintptr_t>(grid_->params) < grid_->params_bytes) {
    return;
  }
  Block& b = *me->block;
  const auto variables = reinterpret_cast<uintptr_t>(variables_.begin);
  const auto dynamic = reinterpret_cast<uintptr_t>(b.shared);
  const bool is_variable = at - variables < variables_.bytes;
  const bool is_shared = is_variable || at - dynamic < grid_->shared_bytes;
  const Touch touch{how, at, bytes, is_shared ? b.place + 1 : 0, is_variable};
  EarlierAccess earlier;
  uintptr_t where;
  if (races_.races(b.clocks, me->number, touch, &earlier, &where)) {
    std::string text = describe_race(*me, how, earlier, where, from);
    // Whichever write comes last, the value is the same.
    if (how == Access::kWrite && earlier.how == Access::kWrite &&
        bytes <= sizeof twice_.before) {
      twice_.at = p;
      twice_.bytes = bytes;
      std::memcpy(twice_.before, p, bytes);
      twice_.text = std::move(text);
      return;
    }
    fail(me, Ending::kFailed, std::move(text));
  }
  if (is_variable && races_.shared_bytes() > kMostVariables + kSlack) {
    fail(me, Ending::kFailed,
         "more than " + std::to_string(kMostVariables) +
             " bytes of __shared__ variables");
  }
}

void BlockRunner::settle_write(Strand* me) {
  const size_t bytes = std::exchange(twice_.bytes, 0);
  if (std::memcmp(twice_.at, twice_.before, bytes) == 0) return;
  fail(me, Ending::kFailed, std::move(twice_.text));
}

std::string BlockRunner::describe_race(const Strand& me, Access how,
                                       const EarlierAccess& earlier,
                                       uintptr_t at, const void* from) const {
  std::string text = std::string("race: it ") + words_for(how) + " " +
                     name_address(*me.block, at) + " (code " + name_code(from) +
                     "), thread " + triple(thread_index(earlier.who.thread)) +
                     " of ";
  if (earlier.who.block == me.block->clocks.block()) {
    text += "the same block ";
  } else {
    text += "block " + triple(index_of(earlier.who.block)) + " ";
  }
  text += words_for(earlier.how);
  text += how == Access::kConstantRead ? " it in the same launch"
                                       : " it, and nothing orders the two";
  return text;
}

// The pointer of the argument that is nearest below, if memory is the device's.
std::string BlockRunner::name_address(const Block& b, uintptr_t at) const {
  const auto variables = reinterpret_cast<uintptr_t>(variables_.begin);
  const auto dynamic = reinterpret_cast<uintptr_t>(b.shared);
  if (at - variables < variables_.bytes) {
    return format("byte %llu of the __shared__ variables", at - variables);
  }
  if (at - dynamic < grid_->shared_bytes) {
    return format("byte %llu of dynamic shared memory", at - dynamic);
  }
  std::string text = format("address 0x%llx", at);
  uintptr_t nearest = 0;
  size_t place = 0;
  for (size_t i = 0; i + sizeof nearest <= grid_->params_bytes;
       i += sizeof nearest) {
    uintptr_t word;
    std::memcpy(&word, static_cast<const char*>(grid_->params) + i,
                sizeof word);
    if (word <= nearest || word > at || at - word > size_t{1} << 30) continue;
    nearest = word;
    place = i;
  }
  if (nearest != 0) {
    text += format(" (byte %llu of what", at - nearest);
    text += format(" byte %llu of the argument points to)", place);
  }
  return text;
}

}  // namespace fake_cuda
