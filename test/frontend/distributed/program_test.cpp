#include <gtest/gtest.h>
#include <sy/distributed.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <map>

#include "test/frontend/distributed/ranks.h"

// A program that Python exported, trained by several ranks.

namespace sy::distributed {
namespace {

const std::string kModel = "test/frontend/export/testdata/convolutions.pt2";

std::map<std::string, Tensor> gradients_of(const Program& program) {
  std::map<std::string, Tensor> out;
  for (const auto& [name, p] : program->named_parameters()) {
    EXPECT_TRUE(p.grad().defined()) << name;
    out[name] = p.grad();
  }
  return out;
}

TEST(Program, GradientsAreAveraged) {
  constexpr int kRanks = 2;
  const Tensor x = rand({2 * kRanks, 3, 16, 16});
  const Program alone = load_program(kModel);
  alone(x).to_tensor().sin().sum().div(kRanks).backward();
  const auto expected = gradients_of(alone);
  std::vector<std::map<std::string, Tensor>> got(kRanks);
  Ranks ranks(kRanks);
  ranks.run([&](int rank) {
    const Program program = load_program(kModel);
    DistributedDataParallel ddp(program, {.bucket_bytes = 300});
    const Tensor part = x.narrow(0, 2 * rank, 2);
    program(part).to_tensor().sin().sum().backward();
    got[static_cast<size_t>(rank)] = gradients_of(program);
  });
  for (const auto& gradients : got) {
    ASSERT_EQ(gradients.size(), expected.size());
    for (const auto& [name, t] : expected) {
      EXPECT_TRUE(gradients.at(name).allclose(t, 1e-4, 1e-6)) << name;
    }
  }
}

}  // namespace
}  // namespace sy::distributed
