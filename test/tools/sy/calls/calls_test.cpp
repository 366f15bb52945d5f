#include "tools/sy/calls/calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"

// The calls that a backend is compared with the CPU by.

namespace sy::tools {
namespace {

bool makes(const char* op, const std::string& id) {
  const auto calls = varied_calls(Dispatcher::singleton().find_or_throw(op),
                                  {kFloat, kDouble});
  std::vector<std::string> ids;
  for (size_t i = 0; i < calls->size(); ++i) ids.push_back(calls->id(i));
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

TEST(VariedCalls, TellKernelsApart) {
  for (const char* id : {"odd tails", "several tiles", "repeated elements",
                         "float32, NaN and infinities"}) {
    EXPECT_TRUE(makes("aten::relu", id)) << id;
    EXPECT_TRUE(makes("aten::mm", id)) << id;
  }
}

TEST(VariedCalls, OfFactorsAreThoseThatDetermineThem) {
  for (const char* op :
       {"aten::geqrf", "aten::linalg_lu_factor_ex", "aten::_linalg_svd",
        "aten::linalg_cholesky_ex", "aten::_linalg_det"}) {
    EXPECT_TRUE(makes(op, "odd tails")) << op;
    EXPECT_TRUE(makes(op, "float64")) << op;
    for (const char* id : {"several tiles", "repeated elements",
                           "float32, NaN and infinities"}) {
      EXPECT_FALSE(makes(op, id)) << op << " " << id;
    }
  }
}

}  // namespace
}  // namespace sy::tools
