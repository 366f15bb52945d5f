#include <gtest/gtest.h>
#include <sy/sy.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "test/runtime/moved_families.h"
#include "tools/sy/cases/case_file.h"
#include "tools/sy/cases/case_runner.h"

// Every file of schemas/ops, loaded under another namespace, passes all cases
// and gradients recorded of PyTorch that the compiled operators pass. Forms,
// dtypes, sizes, strides and wrong arguments vary as the cases do; the device
// is always the CPU, and kernels under `dispatch:` are the compiled ones.

namespace sy::test {
namespace {

// The difference in a case that the compiled operator passes; "" if none.
std::string difference(const tools::CaseFile& file, OperatorHandle compiled,
                       OperatorHandle loaded, int* calls) {
  const tools::CaseRunner twin(compiled, file, {Device(kCPU)});
  const tools::CaseRunner run(loaded, file, {Device(kCPU)});
  for (const tools::Case& c : file.cases) {
    const tools::CaseResult expected = twin.run(c), got = run.run(c);
    ++*calls;
    if (!expected.why.empty()) continue;
    if (!got.why.empty()) return c.id + ": " + got.why;
    // Strides of a fresh result.
    if (got.note != expected.note) {
      return c.id + ": '" + got.note + "' and '" + expected.note + "'";
    }
  }
  return "";
}

TEST(Recorded, LoadedOperatorsPassTheCasesThatCompiledOnesPass) {
  const std::string cases = testing::TempDir() + "cases";
  const std::string unpack =
      "tools/unpack_cases.sh test/conformance/cases.tar '" + cases + "'";
  ASSERT_EQ(std::system(unpack.c_str()), 0);
  const MovedFamilies& families = MovedFamilies::get();
  int overloads = 0, calls = 0;
  for (const auto& [name, op] : families.operators) {
    if (!std::filesystem::exists(cases + "/" + name + ".json")) continue;
    ++overloads;
    const auto file = tools::CaseFile::load(cases, name);
    EXPECT_EQ(difference(file, find("aten::" + name), op, &calls), "")
        << op.name();
  }
  std::printf("%d overloads, %d calls; %zu entries have the compiled kernel\n",
              overloads, calls, families.forwarded.size());
  EXPECT_GT(overloads, 2000);
}

}  // namespace
}  // namespace sy::test
