#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "test/backends/lazy/on_lazy.h"

// The reports of the device about itself: pictures, times, places, sentences.

namespace sy {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Tensor softmax_of_parts(const Tensor& x) {
  const Tensor e = (x - x.amax({1}, true)).exp();
  return e / e.sum({1}, true);
}

TEST(LazyLooks, APlanKnowsItsTimesAndBytes) {
  const Tensor x = ones({64, 1000}).to(lazy_device()), w = ones({10, 1000});
  const Tensor weight = w.to(lazy_device());
  for (int i = 0; i < 3; ++i) {
    const Tensor y = softmax_of_parts(x), z = linear(y, weight);
    lazy::sync({y, z}, lazy::kWait);
  }
  const std::string text = lazy::plan_text();
  // 64,000 floats are read, and as many written.
  EXPECT_TRUE(has(text, ", 512 kB  region of 5, 1 in, 1 out: aten::amax"))
      << text;
  EXPECT_TRUE(has(text, "s, 299 kB  aten::mm")) << text;
  const std::string dot = lazy::plan_dot();
  EXPECT_TRUE(has(dot, "subgraph cluster0")) << dot;
  EXPECT_TRUE(has(dot, ", 512 kB\";")) << dot;
  EXPECT_TRUE(has(dot, "aten::mm\\nfloat32[64, 10]\\n")) << dot;
}

TEST(LazyLooks, PendingCallsAreDrawn) {
  const Tensor x = ones({4, 8}).to(lazy_device());
  const Tensor y = softmax_of_parts(x);
  const std::string dot = lazy::graph_dot({y});
  EXPECT_TRUE(has(dot, "label=\"region\"")) << dot;
  EXPECT_TRUE(has(dot, "d0 [label=\"data\\nfloat32[4, 8]\", shape=ellipse]"))
      << dot;
  EXPECT_TRUE(has(dot, "d0 -> n0;")) << dot;
  try {
    EXPECT_TRUE(has(lazy::graph_svg({y}), "<svg"));
  } catch (const NotImplementedError& e) {
    EXPECT_TRUE(has(e.what(), "graphviz")) << e.what();
  }
}

}  // namespace
}  // namespace sy

// Code of a user; it has a name because the program exports it.
namespace user {
template <class T>
[[gnu::noinline, gnu::visibility("default")]] sy::Tensor reads_and_doubles(
    const sy::Tensor& x, T factor) {
  return x * x.sum().item<T>() * factor;
}
}  // namespace user

namespace sy {
namespace {

[[gnu::noinline]] float reads_too_early(const Tensor& x) {
  return (x * 2).sum().item<float>();
}

TEST(LazyLooks, PlacesOfSyncsAreToldOnRequest) {
  const Tensor x = ones({8}).to(lazy_device());
  reads_too_early(x);
  EXPECT_EQ(lazy::syncs_text(), "");
  lazy::report_syncs(true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reads_too_early(x), 16);
  (x + 1).cpu();
  lazy::report_syncs(false);
  reads_too_early(x);
  const std::string text = lazy::syncs_text();
  EXPECT_TRUE(
      text.starts_with("3 for a call that cannot be recorded by "
                       "aten::_local_scalar_dense, from "))
      << text;
  EXPECT_TRUE(has(text, "\n1 for a copy to another device by aten::copy_"))
      << text;
  // Both places are in this program.
  const size_t first = text.find("looks_test(+0x");
  ASSERT_NE(first, text.npos) << text;
  EXPECT_NE(text.find("looks_test(+0x", first + 1), text.npos) << text;
}

TEST(LazyLooks, ATemplateThatReturnsATensorIsTheUsersOwn) {
  const Tensor x = ones({8}).to(lazy_device());
  lazy::report_syncs(true);
  user::reads_and_doubles(x, 2.0f).cpu();
  lazy::report_syncs(false);
  const std::string text = lazy::syncs_text();
  EXPECT_TRUE(has(text, "sy::Tensor user::reads_and_doubles<float>(")) << text;
}

TEST(LazyLooks, TimeBlockedAndPlanningIsCounted) {
  const Tensor x = rand({37, 53}).to(lazy_device());
  const lazy::Counters before = lazy::counters();
  const Tensor y = ((x * 3 - 1).exp() + x).sqrt();
  EXPECT_EQ(lazy::counters().blocked_ns, before.blocked_ns);
  lazy::sync({y}, lazy::kWait);
  const lazy::Counters now = lazy::counters();
  EXPECT_GT(now.blocked_ns, before.blocked_ns);
  EXPECT_GT(now.planning_ns, before.planning_ns);
  EXPECT_TRUE(has(lazy::counters_text(), "s blocked in sync() and in readers"));
}

TEST(LazyLooks, TracesShowGraphsAndTheirSteps) {
  const std::string path = ::testing::TempDir() + "/lazy_trace.json";
  {
    const Trace trace("chrome:" + path);
    const Tensor x = ones({4, 8}).to(lazy_device());
    lazy::sync({softmax_of_parts(x)}, lazy::kWait);
  }
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_TRUE(has(text.str(), "\"name\": \"lazy graph\", \"cat\": \"span\""));
  EXPECT_TRUE(has(text.str(), "\"call\": \"5 calls, 1 steps\"")) << text.str();
  EXPECT_TRUE(has(text.str(), "\"call\": \"region of 5, 1 in, 1 out: "));
  std::remove(path.c_str());
}

TEST(LazyLooks, ItSaysHowOperatorsAreRecorded) {
  const auto how = [](std::string_view op) {
    return lazy::explain_operator(op);
  };
  EXPECT_TRUE(has(how("aten::add.Tensor"), "as its program"));
  EXPECT_TRUE(has(how("aten::sum.dim_IntList"), "as its program"));
  EXPECT_TRUE(has(how("aten::mm"), "as a call of its kernel"));
  EXPECT_TRUE(has(how("aten::nonzero"), "depends on data"));
  EXPECT_TRUE(has(how("aten::view"), "nothing is recorded"));
  EXPECT_TRUE(has(how("aten::add_.Tensor"), "recorded as aten::add.Tensor"));
  EXPECT_TRUE(has(how("aten::normal_"), "at once"));
  EXPECT_TRUE(has(how("aten::linear"), "composed of"));
  EXPECT_TRUE(has(how("aten::fill_.Scalar"), "new value"));
  EXPECT_THROW(how("aten::no_such"), NotImplementedError);
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    EXPECT_FALSE(how(op.name()).empty()) << op.name();
  }
}

}  // namespace
}  // namespace sy
