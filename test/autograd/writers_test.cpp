#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aten/tensor.h"
#include "c10/schema/function_schema.h"
#include "c10/thread_state.h"
#include "tools/sy/words.h"

// Every write of an operator is counted, and whoever made it is known: what
// errors about overwritten saved tensors rest on.

namespace sy {
namespace {

bool writes(OperatorHandle op) {
  for (const Argument& a : op.schema().arguments()) {
    if (a.is_write()) return true;
  }
  return false;
}

// Writes no element.
bool is_excepted(OperatorHandle op) { return op.name() == "aten::detach_"; }

// Checked arguments; none if the signature's arguments are refused.
int check(OperatorHandle op) {
  const NoGradGuard guard;
  std::vector<Value> args = tools::parse_arguments(op, "");
  std::vector<uint32_t> before;
  for (const Value& v : args) {
    before.push_back(v.is_tensor() ? v.to_tensor().impl()->version() : 0);
  }
  std::vector<Value> results(op.schema().returns().size());
  try {
    op.call_boxed(args.data(), args.size(), results.data(), results.size());
  } catch (const Error&) {
    return 0;
  }
  int checked = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!op.schema().arguments()[i].is_write() || !args[i].is_tensor()) {
      continue;
    }
    const TensorImpl& t = *args[i].to_tensor().impl();
    EXPECT_NE(t.version(), before[i]) << op.name() << ", argument " << i;
    EXPECT_NE(t.storage()->last_writer(), nullptr)
        << op.name() << ", argument " << i;
    ++checked;
  }
  return checked;
}

TEST(Writers, AreCountedAndKnown) {
  int checked = 0;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (op.name().starts_with("aten::") && writes(op) && !is_excepted(op) &&
        tools::signature_suffices(op)) {
      checked += check(op);
    }
  }
  EXPECT_GE(checked, 400);
}

}  // namespace
}  // namespace sy
