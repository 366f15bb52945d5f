#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// The examples that train, as ranks of `sy launch`. Variables name the programs
// SY, CONVNET and TRANSFORMER, and the folder of libswitchyard_mpi.so,
// SWITCHYARD_PLUGINS.

namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  EXPECT_NE(text, nullptr) << name;
  return text != nullptr ? text : "false";
}

// The output of n ranks of a program.
std::string run(int n, const std::string& program) {
  std::string command = "timeout 60 " + variable("SY");
  command += " launch --no-labels --threads-per-rank 1 -n " +
             std::to_string(n) + " " + program;
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  while (const size_t got = std::fread(part, 1, sizeof part, pipe)) {
    text.append(part, got);
  }
  EXPECT_EQ(pclose(pipe), 0) << text;
  return text;
}

struct Line {
  double loss, right;
};

// The lines that have `word`, then a loss and a part of 100 %.
std::vector<Line> lines_of(const std::string& text, const std::string& word) {
  std::vector<Line> all;
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) {
    int number = -1;
    Line line{};
    const int got =
        std::sscanf(text.c_str() + at + word.size(), " %d loss %lf %*s %lf",
                    &number, &line.loss, &line.right);
    if (got == 3) all.push_back(line);
  }
  return all;
}

class ConvnetOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, ConvnetOn, testing::Values("cpu", "lazy"));

// Sums are rounded in other places, which training makes larger: of the digits
// that are printed all agree in the first epoch, one part in a hundred in the
// second, and in a tenth later. Batch norm of each rank by itself would differ
// by 1 and 6 % in the first two.
TEST_P(ConvnetOn, RanksHaveTheLossesOfOneProcess) {
  const std::string program = variable("CONVNET") + " " + GetParam();
  const std::vector<Line> one = lines_of(run(1, program), "epoch");
  ASSERT_EQ(one.size(), 5u);
  EXPECT_GT(one[4].right, 90);
  for (const int n : {2, 3}) {
    const std::vector<Line> many = lines_of(run(n, program), "epoch");
    ASSERT_EQ(many.size(), 5u);  // one rank prints
    const double tolerance[] = {2e-4, 1e-2, 0.1, 0.1, 0.1};
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(many[i].loss / one[i].loss, 1, tolerance[i])
          << n << " ranks, epoch " << i + 1;
    }
    EXPECT_GT(many[4].right, 90);
  }
}

TEST(Transformer, RanksLearnToSort) {
  const std::string program = variable("TRANSFORMER");
  const std::vector<Line> one = lines_of(run(1, program), "step");
  const std::vector<Line> two = lines_of(run(2, program), "step");
  ASSERT_EQ(one.size(), 4u);
  ASSERT_EQ(two.size(), 4u);
  EXPECT_NEAR(two[0].loss, one[0].loss, 2e-3);
  EXPECT_GT(one[3].right, 90);
  EXPECT_GT(two[3].right, 90);
}

}  // namespace
