#include "tools/sy/launch/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "c10/process/error.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

// The names of the library's transfers (frontend/distributed/).
constexpr std::string_view kCollectives[] = {
    "all_reduce",     "broadcast",  "reduce", "all_gather",
    "reduce_scatter", "all_to_all", "gather", "scatter",
    "send",           "recv",       "barrier"};
constexpr std::string_view kWait = "wait";

using Interval = std::pair<double, double>;

// Sorted, and none touches another.
std::vector<Interval> united(std::vector<Interval> list) {
  std::sort(list.begin(), list.end());
  std::vector<Interval> out;
  for (const Interval& i : list) {
    if (out.empty() || i.first > out.back().second) {
      out.push_back(i);
    } else {
      out.back().second = std::max(out.back().second, i.second);
    }
  }
  return out;
}

double length(const std::vector<Interval>& list) {
  double out = 0;
  for (const auto& [begin, end] : list) out += end - begin;
  return out;
}

double common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double out = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    out += std::max(0.0, std::min(a[i].second, b[j].second) -
                             std::max(a[i].first, b[j].first));
    if (a[i].second < b[j].second) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

struct Loaded {
  int rank;
  Json events;
  std::optional<int64_t> origin;  // of the first, on the common clock, in ns
};

std::string text_of(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>()
                                               : std::string();
}

double number_of(const Json& event, const char* key, const std::string& where) {
  const auto it = event.find(key);
  SY_CHECK(it != event.end() && it->is_number(), Value,
           "{}: an event without the number \"{}\"", where, key);
  return it->get<double>();
}

// Nanoseconds; nullopt if it says none.
std::optional<int64_t> time_in(const Json& data, const char* key) {
  const auto it = data.find(key);
  if (it == data.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<int64_t>();
}

Loaded load(const RankTrace& part) {
  Json all = parse_json(read_file(part.path), part.path);
  Loaded out{part.rank, {}, {}};
  if (all.is_object() && all.contains("traceEvents")) {
    out.events = std::move(all["traceEvents"]);
    const auto data = all.find("otherData");
    if (data != all.end() && data->is_object()) {
      out.origin = time_in(*data, "steady_clock_ns");
      // The rank adds this offset to its clock.
      const auto offset = time_in(*data, "clock_offset_ns");
      if (out.origin && offset) *out.origin += *offset;
    }
  }
  SY_CHECK(out.events.is_array(), Value,
           "{}: expected a chrome trace, an object with a list \"traceEvents\"",
           part.path);
  for (const Json& e : out.events) {
    SY_CHECK(e.is_object(), Value, "{}: an event that is no object", part.path);
  }
  return out;
}

bool is_wait(std::string_view name) {
  return name == kWait || name.starts_with("wait ");
}

RankTime times_of(const Loaded& trace, const std::string& path) {
  std::vector<Interval> collectives, waits;
  double first = std::numeric_limits<double>::infinity(), last = -first;
  for (const Json& e : trace.events) {
    if (text_of(e, "ph") != "X") continue;
    const double begin = number_of(e, "ts", path);
    const double end = begin + number_of(e, "dur", path);
    first = std::min(first, begin);
    last = std::max(last, end);
    // Operators' calls have a key there. Transfers are intervals, which belong
    // to no thread, or spans of one.
    const std::string kind = text_of(e, "cat");
    if (kind != "span" && kind != "interval") continue;
    const std::string name = text_of(e, "name");
    if (is_wait(name)) {
      waits.emplace_back(begin, end);
    } else if (std::find(std::begin(kCollectives), std::end(kCollectives),
                         name) != std::end(kCollectives)) {
      collectives.emplace_back(begin, end);
    }
  }
  const std::vector<Interval> moving = united(std::move(collectives)),
                              waiting = united(std::move(waits));
  const double of_collectives = length(moving);
  return {trace.rank, first < last ? (last - first) / 1000 : 0,
          of_collectives / 1000, length(waiting) / 1000,
          of_collectives > 0 ? 1 - common(moving, waiting) / of_collectives
                             : std::numeric_limits<double>::quiet_NaN()};
}

// Chrome's format for what is not a time: a process's name, and its place.
void add_metadata(std::string& out, int rank, const char* name,
                  const std::string& argument) {
  out += fmt::format(
      "{}{{\"name\": \"{}\", \"ph\": \"M\", \"pid\": {}, \"tid\": 0, "
      "\"args\": {{{}}}}}",
      out.ends_with('[') ? "\n" : ",\n", name, rank, argument);
}

}  // namespace

Timeline merge_traces(const std::vector<RankTrace>& parts,
                      const std::string& out) {
  std::set<int> ranks;
  for (const RankTrace& p : parts) {
    SY_CHECK(ranks.insert(p.rank).second, Value,
             "[timeline] two traces of rank {}", p.rank);
  }
  std::vector<Loaded> traces;
  for (const RankTrace& p : parts) traces.push_back(load(p));
  Timeline result;
  std::optional<int64_t> zero;
  for (const Loaded& t : traces) {
    if (t.origin.has_value())
      zero = std::min(zero.value_or(*t.origin), *t.origin);
  }
  std::string text = "{\"traceEvents\": [";
  for (size_t i = 0; i < traces.size(); ++i) {
    Loaded& t = traces[i];
    if (!t.origin.has_value()) {
      result.warnings.push_back(
          str("{} does not say when it began: rank {} is drawn from the "
              "beginning",
              parts[i].path, t.rank));
    }
    result.ranks.push_back(times_of(t, parts[i].path));
    const double shift = t.origin.has_value()
                             ? static_cast<double>(*t.origin - *zero) / 1000
                             : 0;
    add_metadata(text, t.rank, "process_name",
                 str("\"name\": \"rank {}\"", t.rank));
    add_metadata(text, t.rank, "process_sort_index",
                 str("\"sort_index\": {}", t.rank));
    for (Json& e : t.events) {
      if (text_of(e, "name") == "process_name") continue;
      e["pid"] = t.rank;
      if (e.contains("ts")) {
        const double at = number_of(e, "ts", parts[i].path) + shift;
        e["ts"] = std::round(at * 1000) / 1000;
      }
      text += ",\n";
      text += dump(e);
    }
    t.events = Json();
  }
  text += "\n], \"displayTimeUnit\": \"ns\"}\n";
  write_file(out, text);
  std::sort(
      result.ranks.begin(), result.ranks.end(),
      [](const RankTime& a, const RankTime& b) { return a.rank < b.rank; });
  return result;
}

std::string table_of(const Timeline& timeline) {
  std::string out =
      fmt::format("{:>5} {:>12} {:>15} {:>12} {:>11}\n", "rank", "total ms",
                  "collectives ms", "waiting ms", "overlapped");
  for (const RankTime& r : timeline.ranks) {
    const std::string overlap =
        std::isnan(r.overlap) ? "-" : fmt::format("{:.0f} %", 100 * r.overlap);
    out += fmt::format("{:>5} {:>12.1f} {:>15.1f} {:>12.1f} {:>11}\n", r.rank,
                       r.total, r.collectives, r.waiting, overlap);
  }
  return out;
}

int rank_of_path(const std::string& path, int otherwise) {
  constexpr std::string_view kMark = ".rank";
  const size_t at = path.rfind(kMark);
  if (at == path.npos) return otherwise;
  const char* const end = path.data() + path.size();
  int out = 0;
  const auto r = std::from_chars(path.data() + at + kMark.size(), end, out);
  return r.ec == std::errc() && r.ptr == end && out >= 0 ? out : otherwise;
}

int run_timeline(const std::string& out,
                 const std::vector<std::string>& files) {
  std::vector<RankTrace> parts;
  for (size_t i = 0; i < files.size(); ++i) {
    parts.push_back({rank_of_path(files[i], static_cast<int>(i)), files[i]});
  }
  const Timeline timeline = merge_traces(parts, out);
  for (const std::string& w : timeline.warnings) {
    fmt::print(stderr, "sy timeline: {}\n", w);
  }
  fmt::print("{}", table_of(timeline));
  return 0;
}

}  // namespace sy::tools
