#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "examples/digits/console.h"
#include "examples/digits/data.h"
#include "examples/digits/device.h"
#include "examples/digits/lazy.h"
#include "examples/digits/plot.h"
#include "examples/digits/train.h"

namespace digits {
namespace {

const Dataset& all() {
  static const Dataset data = read_csv("examples/digits/data/digits.csv");
  return data;
}

std::string scratch(const char* name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/" + name;
}

std::string problem_of(const std::string& content) {
  const std::string path = scratch("bad.csv");
  std::ofstream(path) << content;
  try {
    read_csv(path);
  } catch (const std::runtime_error& e) {
    return std::string(e.what()).substr(path.size());
  }
  return "(read)";
}

std::string row(int pixel, const char* end) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += std::to_string(pixel) + ",";
  return line + end;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++n;
  }
  return n;
}

TEST(Digits, FileHasAllImages) {
  ASSERT_EQ(all().size(), 1797);
  EXPECT_EQ(all().images.sizes(), sy::IntArrayRef({1797, 64}));
  EXPECT_EQ(all().images.amax().item<float>(), 1.0f);
  EXPECT_EQ(all().images.amin().item<float>(), 0.0f);
  EXPECT_EQ(all().labels.eq(7).sum().item<int64_t>(), 179);
}

TEST(Digits, BadLinesAreReportedWithTheirNumber) {
  const std::string good = row(16, "9\n");
  EXPECT_EQ(problem_of(good), "(read)");
  EXPECT_EQ(problem_of(good + row(17, "9\n")),
            ":2: column 1: expected a number from 0 to 16");
  EXPECT_EQ(problem_of(row(0, "10\n")),
            ":1: column 65: expected a number from 0 to 9");
  EXPECT_EQ(problem_of(row(0, "1,2\n")),
            ":1: expected 65 numbers with commas between them");
  EXPECT_EQ(problem_of("1,2\n"),
            ":1: expected 65 numbers with commas between them");
  EXPECT_EQ(problem_of("1, 2\n"),
            ":1: column 2: expected a number from 0 to 16");
  EXPECT_EQ(problem_of(""), " has no lines");
}

TEST(Digits, PermutationHasEveryRowOnce) {
  std::mt19937_64 random(3);
  std::vector<int64_t> order = permutation(1000, random);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[size_t(i)], i);
}

// Number each image by its row, so that rows can be told apart after a split.
Dataset numbered(int64_t n) {
  Dataset d{sy::zeros({n, 64}), sy::empty({n}, sy::kLong)};
  for (int64_t i = 0; i < n; ++i) d.labels.mutable_data_ptr<int64_t>()[i] = i;
  return d;
}

TEST(Digits, SplitSharesNoRowAndFollowsItsSeed) {
  const auto rows = [](const Dataset& d) {
    const int64_t* p = d.labels.const_data_ptr<int64_t>();
    return std::vector<int64_t>(p, p + d.size());
  };
  const Dataset data = numbered(100);
  const Split a = split(data, 0.8, 5);
  EXPECT_EQ(a.train.size(), 80);
  EXPECT_EQ(a.test.size(), 20);
  std::vector<int64_t> both = rows(a.train);
  for (const int64_t r : rows(a.test)) both.push_back(r);
  std::sort(both.begin(), both.end());
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(both[size_t(i)], i);
  EXPECT_EQ(rows(split(data, 0.8, 5).test), rows(a.test));
  EXPECT_NE(rows(split(data, 0.8, 6).test), rows(a.test));
}

// Examples that the training never saw may be anything.
TEST(Digits, TestPartDoesNotChangeTheModel) {
  Options options;
  options.epochs = 2;
  const digits::Run first = train(all(), options);
  Dataset spoilt{all().images.clone(), all().labels.clone()};
  float* pixels = spoilt.images.mutable_data_ptr<float>();
  std::mt19937_64 random(options.seed);
  const std::vector<int64_t> order = permutation(all().size(), random);
  for (size_t i = size_t(first.data.train.size()); i < order.size(); ++i) {
    std::fill_n(pixels + 64 * order[i], 64, 0.5f);
    spoilt.labels.mutable_data_ptr<int64_t>()[order[i]] = 0;
  }
  const digits::Run second = train(spoilt, options);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(first.model->parameters()[size_t(i)].equal(
        second.model->parameters()[size_t(i)]));
  }
  EXPECT_NE(first.test_accuracy(), second.test_accuracy());
}

// Recorded from the same training without modules and optimizers: momentum,
// weight decay and the cosine written out.
TEST(Digits, LossesAreTheRecordedOnes) {
  Options options;
  options.epochs = 3;
  const std::vector<Epoch> epochs = train(all(), options).epochs;
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_NEAR(epochs[0].loss, 0.82672, 5e-4);
  EXPECT_NEAR(epochs[1].loss, 0.18676, 5e-4);
  EXPECT_NEAR(epochs[2].loss, 0.07896, 5e-4);
}

TEST(Digits, FiveSeedsReach97PercentOnAverage) {
  double mean = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Options options;
    options.seed = seed;
    const digits::Run run = train(all(), options);
    ASSERT_EQ(run.epochs.size(), 40u);
    EXPECT_LT(run.epochs.back().loss, run.epochs.front().loss / 20);
    EXPECT_GT(run.step_us, 0);
    mean += run.test_accuracy() / 5;
    RecordProperty("seed_" + std::to_string(seed),
                   std::to_string(run.test_accuracy()));
  }
  EXPECT_GE(mean, 0.97);
}

TEST(Digits, TrainsOnTheLazyDeviceWithTheSameLosses) {
  const sy::LibraryHandle library = sy::load_library("lazy");
  Options options;
  options.epochs = 3;
  const digits::Run here = train(all(), options);
  StepGraph graph;
  Watcher watcher;
  watcher.on_step = [&graph] { graph.sync(); };
  const digits::Run there = train(all().to("lazy"), options, watcher);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(here.epochs[i].loss, there.epochs[i].loss, 1e-5);
  }
  EXPECT_EQ(here.test_accuracy(), there.test_accuracy());
  const std::string path = scratch("step.dot");
  graph.write(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(count(text.str(), "digraph"), 1);
  EXPECT_GT(count(text.str(), "aten::"), 20);
  EXPECT_THROW(graph.write("no/such/folder/x.dot"), std::runtime_error);
  EXPECT_FALSE(lazy_report().empty());
}

TEST(Digits, AnswersAlikeOnCuda) {
  sy::load_library("cuda").keep();
  Options options;
  options.epochs = 1;
  const digits::Run here = train(all(), options);
  const Comparison c = compare(here.model, here.data.test.images, "cuda");
  EXPECT_LT(c.difference, 1e-5);
  EXPECT_EQ(c.equal, c.predictions);
  EXPECT_EQ(fallback_report(c), "no call fell back to the CPU");
}

TEST(Digits, CallsThatFellBackAreNamed) {
  Comparison c{};
  c.fallbacks = {{"aten::mm", 1}, {"aten::relu", 2}};
  EXPECT_EQ(fallback_report(c),
            "calls that fell back to the CPU: aten::mm, aten::relu x2");
}

TEST(Digits, OptionsThatCannotWorkAreRefused) {
  Options options;
  options.batch = 5000;
  EXPECT_THROW(train(all(), options), std::invalid_argument);
  options = {};
  options.epochs = 0;
  EXPECT_THROW(train(all(), options), std::invalid_argument);
}

TEST(Digits, PictureShowsCurvesAndEveryMisreadImage) {
  Options options;
  options.epochs = 3;
  std::vector<digits::Run> runs;
  runs.push_back(train(all(), options));
  options.seed = 2;
  runs.push_back(train(all(), options));
  const std::string path = scratch("digits.svg");
  plot(runs, path);
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const std::string svg = text.str();
  const int wrong = static_cast<int>(
      std::lround((1 - runs[0].test_accuracy()) *
                  static_cast<double>(runs[0].data.test.size())));
  EXPECT_GT(wrong, 0);
  EXPECT_EQ(count(svg, ">read as<"), wrong);
  EXPECT_EQ(count(svg, "<polyline"), 4);
  EXPECT_EQ(count(svg, "<svg"), 1);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  EXPECT_EQ(count(svg, "nan"), 0);
  EXPECT_THROW(plot(runs, "no/such/folder/x.svg"), std::runtime_error);
}

TEST(Digits, BarIsFilledInProportion) {
  EXPECT_EQ(bar(0, 4), "    ");
  EXPECT_EQ(bar(0.5, 4), "▇▇  ");
  EXPECT_EQ(bar(1, 4), "▇▇▇▇");
}

}  // namespace
}  // namespace digits
