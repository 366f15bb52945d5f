#include "test/fuzz/call_target.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/memory/allocator.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "test/fuzz/promise.h"
#include "tools/sy/calls/words.h"

namespace sy::fuzz {
namespace {

// Numbers of any size ask for tensors of any size.
constexpr int64_t kMemory = 256 << 20;

}  // namespace

bool run_call(std::string_view line) {
  static const bool limited = (set_memory_limit(kMemory), true);
  static_cast<void>(limited);
  const size_t end = line.find(": ");
  if (end == line.npos) return false;
  const auto op =
      Dispatcher::singleton().find("aten::" + std::string(line.substr(0, end)));
  if (!op) return false;
  try {
    std::vector<Value> args = tools::parse_arguments(*op, line.substr(end + 2));
    std::vector<Value> results(op->schema().returns().size());
    op->call_boxed(args.data(), args.size(), results.data(), results.size());
  } catch (const InternalError&) {
    promise(false, "no internal error");
  } catch (const Error& e) {
    promise(!e.message().empty(), "an error says something");
  }
  return true;
}

}  // namespace sy::fuzz
