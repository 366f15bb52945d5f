#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/thread_state.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/words.h"

// Every write of an operator is counted, and whoever was called to make it is
// known: errors about overwritten saved tensors rest on this. Inference tensors
// are not written outside of inference mode.

namespace sy {
namespace {

bool writes(OperatorHandle op) {
  for (const Argument& a : op.schema().arguments()) {
    if (a.is_write()) return true;
  }
  return false;
}

// These write no element; rrelu_with_noise none where it does not train.
bool is_excepted(OperatorHandle op) {
  return op.name() == "aten::detach_" ||
         op.name().starts_with("aten::rrelu_with_noise");
}

void call(OperatorHandle op, std::vector<Value>& args) {
  const NoGradGuard guard;
  std::vector<Value> results(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), results.data(), results.size());
}

std::vector<TensorBase> written(OperatorHandle op,
                                const std::vector<Value>& args) {
  std::vector<TensorBase> r;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!op.schema().arguments()[i].is_write()) continue;
    if (args[i].is_tensor()) {
      r.push_back(args[i].to_tensor());
    } else {
      for (const TensorBase& t : args[i].to_tensor_list()) r.push_back(t);
    }
  }
  return r;
}

// Checked tensors; none if the signature's arguments are refused.
int check(OperatorHandle op) {
  std::vector<Value> args = tools::parse_arguments(op, "");
  const std::vector<TensorBase> tensors = written(op, args);
  std::vector<uint32_t> before;
  for (const TensorBase& t : tensors) before.push_back(t._version());
  try {
    call(op, args);
  } catch (const Error&) {
    return 0;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_NE(tensors[i]._version(), before[i]) << op.name() << ", " << i;
    const OperatorEntry* const writer = tensors[i].storage()->last_writer();
    EXPECT_EQ(writer == nullptr ? "nobody" : writer->name(), op.name()) << i;
  }
  return static_cast<int>(tensors.size());
}

template <class F>
int for_each_writer(F&& f) {
  int checked = 0;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (op.name().starts_with("aten::") && writes(op) && !is_excepted(op) &&
        tools::signature_suffices(op)) {
      checked += f(op);
    }
  }
  return checked;
}

TEST(Writers, AreCountedAndKnown) { EXPECT_GE(for_each_writer(check), 400); }

// 1 if the operator takes the signature's arguments, and not if what it writes
// is an inference tensor.
int check_inference(OperatorHandle op) {
  if (check(op) == 0) return 0;
  std::vector<Value> args = tools::parse_arguments(op, "");
  for (const TensorBase& t : written(op, args)) {
    t.impl()->set_inference(true);
  }
  try {
    call(op, args);
  } catch (const ValueError& e) {
    EXPECT_NE(e.message().find("an inference tensor"), std::string::npos)
        << op.name() << ": " << e.message();
    return 1;
  }
  ADD_FAILURE() << op.name() << " wrote an inference tensor";
  return 0;
}

TEST(Writers, LeaveInferenceTensorsAlone) {
  EXPECT_GE(for_each_writer(check_inference), 400);
}

}  // namespace
}  // namespace sy
