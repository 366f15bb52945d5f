#include "tools/sy/launch/timeline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "c10/dispatch/trace.h"
#include "c10/dispatch/trace_interval.h"
#include "test/c10/expect_error.h"
#include "tools/sy/support/json.h"

namespace sy::tools {
namespace {

std::string at(const std::string& name) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / "timeline_test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

Json event(const char* name, double ts, double dur, int tid = 1,
           const char* cat = "span", const char* text = "") {
  return {
      {"name", name}, {"cat", cat}, {"ph", "X"},  {"ts", ts},
      {"dur", dur},   {"pid", 77},  {"tid", tid}, {"args", {{"call", text}}}};
}

RankTrace written(int rank, std::vector<Json> events,
                  std::optional<int64_t> origin,
                  std::optional<int64_t> offset = {}) {
  Json trace;
  trace["traceEvents"] = std::move(events);
  if (origin.has_value()) trace["otherData"]["steady_clock_ns"] = *origin;
  if (offset.has_value()) trace["otherData"]["clock_offset_ns"] = *offset;
  const std::string path = at("t.json.rank" + std::to_string(rank));
  write_file(path, dump(trace));
  return {rank, path};
}

// The events by rank and name.
std::map<std::pair<int, std::string>, Json> events_of(const std::string& path) {
  std::map<std::pair<int, std::string>, Json> out;
  const Json trace = parse_json(read_file(path), path);
  for (const Json& e : trace["traceEvents"]) {
    out[{e["pid"].get<int>(), e["name"].get<std::string>()}] = e;
  }
  return out;
}

TEST(Timeline, PutsRanksOnOneClock) {
  const int64_t hour = 3'600'000'000'000;
  // Rank 2's machine is 3 hours ahead, and says so; it began 2.5 us after rank
  // 0, and rank 1 10 us before rank 0.
  const std::vector<RankTrace> parts = {
      written(0, {event("a", 5, 1)}, hour + 10'000),
      written(2, {event("c", 1, 2)}, 4 * hour + 12'500, -3 * hour),
      written(1, {event("b", 0, 3, 9, "CPU", "(x) -> y")}, hour)};
  const std::string out = at("all.json");
  const Timeline timeline = merge_traces(parts, out);
  EXPECT_TRUE(timeline.warnings.empty());
  auto events = events_of(out);
  EXPECT_EQ((events[{0, "a"}]["ts"]), 15.0);
  EXPECT_EQ((events[{1, "b"}]["ts"]), 0.0);
  EXPECT_EQ((events[{2, "c"}]["ts"]), 13.5);
  EXPECT_EQ((events[{2, "c"}]["dur"]), 2.0);
  EXPECT_EQ((events[{1, "b"}]["tid"]), 9);
  EXPECT_EQ((events[{1, "b"}]["cat"]), "CPU");
  EXPECT_EQ((events[{1, "b"}]["args"]["call"]), "(x) -> y");
  EXPECT_EQ((events[{1, "process_name"}]["args"]["name"]), "rank 1");
  EXPECT_EQ((events[{2, "process_sort_index"}]["args"]["sort_index"]), 2);
  EXPECT_EQ(events.size(), 9u);
  ASSERT_EQ(timeline.ranks.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(timeline.ranks[static_cast<size_t>(i)].rank, i);
  }
}

TEST(Timeline, KeepsTheNamesOfRows) {
  const Json name = {{"name", "thread_name"},
                     {"ph", "M"},
                     {"pid", 77},
                     {"tid", 100'000'000},
                     {"args", {{"name", "group world"}}}};
  merge_traces({written(3, {event("a", 1, 1), name}, 5)}, at("all.json"));
  auto events = events_of(at("all.json"));
  EXPECT_EQ((events[{3, "thread_name"}]["args"]["name"]), "group world");
  EXPECT_EQ((events[{3, "thread_name"}]["tid"]), 100'000'000);
}

TEST(Timeline, SaysWhichClockIsNotKnown) {
  const Timeline timeline =
      merge_traces({written(0, {event("a", 1, 1)}, 1'000'000),
                    written(1, {event("b", 2, 1)}, std::nullopt)},
                   at("all.json"));
  ASSERT_EQ(timeline.warnings.size(), 1u);
  EXPECT_NE(timeline.warnings[0].find("t.json.rank1 does not say when"),
            std::string::npos);
  auto events = events_of(at("all.json"));
  EXPECT_EQ((events[{0, "a"}]["ts"]), 1.0);
  EXPECT_EQ((events[{1, "b"}]["ts"]), 2.0);
}

TEST(Timeline, AddsUpWhereTimeWent) {
  const Timeline timeline = merge_traces(
      {written(0,
               {event("train", 0, 100'000),
                // Operators are not transfers, whatever they are called.
                event("sy_dist::all_reduce_", 0, 90'000, 1, "CPU"),
                event("all_reduce", 0, 90'000, 1, "CPU"),
                // The thread of transfers works at 10 to 30, 40 to 60 ms.
                event("all_reduce", 10'000, 15'000, 2),
                event("broadcast", 20'000, 10'000, 3, "interval"),
                event("reduce_scatter", 40'000, 20'000, 2),
                // Two threads wait: 25 to 45, of which 10 ms are of transfers.
                event("wait", 25'000, 10'000, 1),
                event("wait all_reduce(float32[4])", 30'000, 15'000, 4),
                event("waiter", 0, 90'000, 4)},
               0),
       written(1, {event("a", 5'000, 1'000)}, 0), written(2, {}, 0)},
      at("all.json"));
  ASSERT_EQ(timeline.ranks.size(), 3u);
  const RankTime& first = timeline.ranks[0];
  EXPECT_DOUBLE_EQ(first.total, 100);
  EXPECT_DOUBLE_EQ(first.collectives, 40);
  EXPECT_DOUBLE_EQ(first.waiting, 20);
  EXPECT_DOUBLE_EQ(first.overlap, 0.75);
  EXPECT_DOUBLE_EQ(timeline.ranks[1].total, 1);
  EXPECT_TRUE(std::isnan(timeline.ranks[1].overlap));
  EXPECT_DOUBLE_EQ(timeline.ranks[2].total, 0);
  EXPECT_EQ(table_of(timeline),
            " rank     total ms  collectives ms   waiting ms  overlapped\n"
            "    0        100.0            40.0         20.0        75 %\n"
            "    1          1.0             0.0          0.0           -\n"
            "    2          0.0             0.0          0.0           -\n");
}

TEST(Timeline, TakesTheLibrarysOwnTraces) {
  std::vector<RankTrace> parts;
  for (int rank = 0; rank < 2; ++rank) {
    const std::string path = at("own.rank" + std::to_string(rank));
    {
      const Trace trace("chrome:" + path);
      const TraceSpan span(rank == 0 ? "all_reduce" : "wait",
                           [] { return std::string("\"text\" \\ of it\n"); });
      const auto now = std::chrono::steady_clock::now();
      trace_interval("group world", "barrier", "", now,
                     now + std::chrono::milliseconds(3));
    }
    parts.push_back({rank_of_path(path, 7), path});
  }
  const Timeline timeline = merge_traces(parts, at("all.json"));
  EXPECT_TRUE(timeline.warnings.empty());
  auto events = events_of(at("all.json"));
  const double before = (events[{0, "all_reduce"}]["ts"]);
  const double after = (events[{1, "wait"}]["ts"]);
  const double dur = (events[{0, "all_reduce"}]["dur"]);
  EXPECT_GE(before, 0);
  EXPECT_LE(before + dur, after + 0.002);  // one ran after the other
  EXPECT_LT(after, 60e6);
  EXPECT_EQ(timeline.ranks[0].overlap, 1);
  EXPECT_GE(timeline.ranks[1].collectives, 2.999);
  EXPECT_EQ((events[{1, "thread_name"}]["args"]["name"]), "group world");
}

TEST(Timeline, RanksAreInTheNamesOfFiles) {
  EXPECT_EQ(rank_of_path("a/run.json.rank12", 3), 12);
  EXPECT_EQ(rank_of_path("a.rank0/run.json", 3), 3);
  EXPECT_EQ(rank_of_path("run.rank", 3), 3);
  EXPECT_EQ(rank_of_path("run.rank1x", 3), 3);
  EXPECT_EQ(rank_of_path("run.rank-1", 3), 3);
}

TEST(Timeline, RefusesWhatIsNoTrace) {
  const std::string bad = at("bad");
  const auto refused = [&](const char* text, const char* why) {
    write_file(bad, text);
    SY_EXPECT_ERROR(merge_traces({{0, bad}}, at("all.json")), ValueError, why);
  };
  refused("{\"traceEvents\": [", "bad: ");
  refused("", "bad: ");
  refused("[]", "bad: expected a chrome trace");
  refused("{\"traceEvents\": 3}", "bad: expected a chrome trace");
  refused("{\"traceEvents\": [3]}", "bad: an event that is no object");
  refused("{\"traceEvents\": [{\"ph\": \"X\", \"dur\": 1}]}",
          "bad: an event without the number \"ts\"");
  SY_EXPECT_ERROR(merge_traces({{0, at("nothing")}}, at("all.json")),
                  ValueError, "nothing: No such file");
  const RankTrace good = written(0, {event("a", 0, 1)}, 0);
  SY_EXPECT_ERROR(merge_traces({good, good}, at("all.json")), ValueError,
                  "[timeline] two traces of rank 0");
  SY_EXPECT_ERROR(merge_traces({good}, at("no/such/folder")), Error,
                  "no/such/folder");
}

}  // namespace
}  // namespace sy::tools
