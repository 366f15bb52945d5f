#include "c10/dispatch/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/implementation.h"
#include "c10/dispatch/trace_interval.h"
#include "c10/plugin/library.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

TensorBase inner(const TensorBase& a) { return a; }
TensorBase outer(const TensorBase& a) {
  static const auto op =
      typed_operator<TensorBase(const TensorBase&)>("traced::inner");
  return op.call(a);
}
const Implementations kWays("CPU", "copy", "traced::chooses",
                            {{"fast", "even sizes"},
                             {"vector", "never"},
                             {"loops", "all others"}});
TensorBase chooses(const TensorBase& a) {
  for (int i = 0; i < 2; ++i) {  // the second tells nothing new
    if (a.numel() % 2 == 0) {
      kWays.takes(0);
    } else if (!kWays.declines(0, "{} elements", a.numel()) &&
               !kWays.declines(1, "never")) {
      kWays.takes(2);
    }
  }
  return a;
}
TensorBase& inplace(TensorBase& a) { return a; }
TensorBase named(const TensorBase& a, std::string_view) { return a; }
TensorBase fails(const TensorBase&) { fail(ErrorKind::Value, "[fails] no"); }

SY_LIBRARY(traced, m) {
  m.def("inner(Tensor a) -> Tensor");
  m.def("outer(Tensor a) -> Tensor", SY_FN(outer));
  m.def("inplace(Tensor(a!) a) -> Tensor(a!)");
  m.def("fails(Tensor a) -> Tensor");
  m.def("chooses(Tensor a) -> Tensor");
  m.def("named(Tensor a, str name) -> Tensor", SY_FN(named));
}
SY_LIBRARY_IMPL(traced, CPU, m) {
  m.impl("inner", SY_FN(inner));
  m.impl("inplace", SY_FN(inplace));
  m.impl("fails", SY_FN(fails));
  m.impl("chooses", SY_FN(chooses));
}

using Signature = TensorBase(const TensorBase&);

TensorBase example() {
  return TensorBase(make_tensor({2, 3}, kFloat, Device(kCPU)));
}
TypedOperator<Signature> op(const char* name) {
  return typed_operator<Signature>(name);
}
std::string path() { return ::testing::TempDir() + "trace.json"; }
std::string written() {
  std::ifstream in(path());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Trace, PrintsCallsAsATree) {
  const TensorBase a = example();
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    EXPECT_TRUE(op("traced::outer").call(a).is_same(a));
  }
  const std::string out = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(out.starts_with("traced::outer [CPU] (float32[2, 3]")) << out;
  EXPECT_NE(out.find("\n  traced::inner [CPU] (float32[2, 3]"), out.npos)
      << out;
  EXPECT_NE(out.find(" -> float32[2, 3]"), out.npos) << out;
  EXPECT_NE(out.find(" us\n"), out.npos) << out;
}

TEST(Trace, EndsWithItsObject) {
  const DispatchTable& before = op("traced::inner").entry().table();
  const size_t bytes = before.bytes();
  {
    const Trace trace("dispatch");
    EXPECT_GT(op("traced::inner").entry().table().bytes(), bytes);
    EXPECT_TRUE(
        op("traced::inner").entry().has_kernel(DispatchKey::Dense, kCPU));
  }
  EXPECT_EQ(op("traced::inner").entry().table().bytes(), bytes);
  ::testing::internal::CaptureStderr();
  op("traced::inner").call(example());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Trace, ReturnsReferencesToArguments) {
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    TensorBase a = example();
    const auto inplace =
        typed_operator<TensorBase&(TensorBase&)>("traced::inplace");
    EXPECT_EQ(&inplace.call(a), &a);
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
}

TEST(Trace, TellsOfErrors) {
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    EXPECT_THROW(op("traced::fails").call(example()), ValueError);
  }
  const std::string out = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(out.find(" threw  "), out.npos) << out;
}

TEST(Trace, TellsWhichImplementationRanAndWhyOthersDidNot) {
  const TensorBase three(make_tensor({3}, kFloat, Device(kCPU)));
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    op("traced::chooses").call(example());
    op("traced::chooses").call(three);
  }
  op("traced::chooses").call(three);
  const std::string out = ::testing::internal::GetCapturedStderr();
  const size_t fast = out.find("\n  | copy by fast\n");
  EXPECT_NE(fast, out.npos) << out;
  const std::string_view other =
      "\n  | copy by loops; not fast: 3 elements, nor vector: never\n";
  EXPECT_GT(out.find(other), fast) << out;
  EXPECT_TRUE(out.ends_with(other)) << out;
}

TEST(Implementations, AreListedForAllFormsOfAnOperator) {
  EXPECT_TRUE(kWays.is_for("traced::chooses"));
  EXPECT_TRUE(kWays.is_for("traced::chooses_.out"));
  EXPECT_FALSE(kWays.is_for("traced::choose"));
  EXPECT_FALSE(kWays.is_for("aten::chooses"));
  const Implementations more("CPU", "sum", "plus minus", {{"loops", "all"}});
  EXPECT_TRUE(more.is_for("aten::plus.Tensor"));
  EXPECT_TRUE(more.is_for("aten::minus_"));
  EXPECT_FALSE(more.is_for("traced::plus"));
  const auto lists = implementations_of("aten::plus");
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0], &more);
  EXPECT_TRUE(implementations_of("traced::inner").empty());
}

TEST(Trace, WritesAChromeTraceOfAllThreads) {
  {
    const Trace trace("chrome:" + path());
    op("traced::outer").call(example());
    std::thread([] { op("traced::inner").call(example()); }).join();
  }
  const std::string out = written();
  EXPECT_TRUE(out.starts_with("{\"traceEvents\": [\n{")) << out;
  EXPECT_TRUE(out.ends_with("}, \"displayTimeUnit\": \"ns\"}\n")) << out;
  size_t events = 0;
  for (size_t at = 0; (at = out.find("\"ph\": \"X\"", at)) != out.npos; ++at) {
    ++events;
  }
  EXPECT_EQ(events, 3u) << out;
  std::remove(path().c_str());
}

TEST(Trace, SaysWhenItBeganOnTheClockOfAllProcesses) {
  const auto now = [] {
    return std::chrono::nanoseconds(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const int64_t before = now();
  { const Trace trace("chrome:" + path()); }
  const auto json = nlohmann::json::parse(written());
  const auto began = json["otherData"]["steady_clock_ns"].get<int64_t>();
  EXPECT_GE(began, before);
  EXPECT_LE(began, now());
  std::remove(path().c_str());
}

TEST(Trace, SaysHowFarItsClockIsFromTheCommonOne) {
  const auto offset = [] {
    const auto json = nlohmann::json::parse(written());
    std::remove(path().c_str());
    return json["otherData"]["clock_offset_ns"].get<int64_t>();
  };
  { const Trace trace("chrome:" + path()); }
  EXPECT_EQ(offset(), 0);
  {
    const Trace trace("chrome:" + path());
    set_trace_clock_offset(std::chrono::hours(-3));
  }
  EXPECT_EQ(offset(), -10'800'000'000'000);
  set_trace_clock_offset(std::chrono::nanoseconds(0));
}

TEST(Trace, ShowsSpansAroundCalls) {
  int described = 0;
  const auto text = [&] {
    ++described;
    return std::string("of 3 calls");
  };
  { const TraceSpan nobody_looks("span of nothing", text); }
  EXPECT_EQ(described, 0);
  {
    const Trace trace("chrome:" + path());
    const TraceSpan outer("work", text);
    op("traced::inner").call(example());
  }
  const auto trace = nlohmann::json::parse(written());
  std::map<std::string, nlohmann::json> events;
  for (const nlohmann::json& e : trace["traceEvents"]) events[e["name"]] = e;
  ASSERT_EQ(events.size(), 2u);
  const nlohmann::json &span = events["work"], &call = events["traced::inner"];
  EXPECT_EQ(span["cat"], "span");
  EXPECT_EQ(span["args"]["call"], "of 3 calls");
  EXPECT_LE(span["ts"].get<double>(), call["ts"].get<double>());
  EXPECT_GE(span["dur"].get<double>(), call["dur"].get<double>());
  std::remove(path().c_str());
}

// The Trace Event Format's complete events, as Perfetto reads them: calls of a
// thread lie within each other or apart.
void expect_nested(const std::vector<nlohmann::json>& events) {
  std::vector<double> ends;  // of the calls that are open
  for (const nlohmann::json& e : events) {
    const double begin = e["ts"], end = begin + e["dur"].get<double>();
    while (!ends.empty() && ends.back() <= begin + 0.0005) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back() + 0.002) << e;
    }
    ends.push_back(end);
  }
}

TEST(Trace, IsInTheTraceEventFormat) {
  const auto named =
      typed_operator<TensorBase(const TensorBase&, std::string_view)>(
          "traced::named");
  const std::string odd("\"\\\n\t\x01 \xC3\xA4 \xff\xC3(");
  {
    const Trace trace("chrome:" + path());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          op("traced::outer").call(example());
          op("traced::inner").call(example());
          EXPECT_THROW(op("traced::fails").call(example()), ValueError);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    named.call(example(), odd);
  }
  const auto trace = nlohmann::json::parse(written());
  EXPECT_TRUE(trace["displayTimeUnit"] == "ms" ||
              trace["displayTimeUnit"] == "ns");
  std::map<int64_t, std::vector<nlohmann::json>> threads;
  for (const nlohmann::json& e : trace["traceEvents"]) {
    EXPECT_EQ(e["ph"], "X");
    EXPECT_TRUE(e["name"].is_string() && !e["name"].empty());
    EXPECT_TRUE(e["cat"].is_string());
    EXPECT_TRUE(e["ts"].is_number() && e["ts"] >= 0) << e;
    EXPECT_TRUE(e["dur"].is_number() && e["dur"] >= 0) << e;
    EXPECT_TRUE(e["pid"].is_number_integer());
    EXPECT_TRUE(e["tid"].is_number_integer());
    EXPECT_TRUE(e["args"]["call"].is_string());
    threads[e["tid"]].push_back(e);
  }
  ASSERT_EQ(threads.size(), 5u);
  for (auto& [thread, events] : threads) {
    EXPECT_TRUE(events.size() == 200 || events.size() == 1);
    std::stable_sort(
        events.begin(), events.end(),
        [](const auto& a, const auto& b) { return a["ts"] < b["ts"]; });
    expect_nested(events);
    if (events.size() != 1) continue;
    const std::string call = events[0]["args"]["call"];
    EXPECT_NE(call.find("\xC3\xA4 ?"
                        "?("),
              call.npos)
        << call;
  }
  std::remove(path().c_str());
}

TEST(Trace, IsOneAtATime) {
  const Trace trace("chrome:" + path());
  SY_EXPECT_ERROR(Trace("dispatch"), ValueError, "traced already");
}

TEST(Trace, RefusesOtherWords) {
  SY_EXPECT_ERROR(Trace("everything"), ValueError,
                  "expected dispatch or chrome:FILE, got 'everything'");
  SY_EXPECT_ERROR(Trace("chrome:"), ValueError, "expected dispatch");
}

}  // namespace
}  // namespace sy
