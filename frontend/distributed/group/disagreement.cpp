#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "c10/process/error.h"
#include "frontend/distributed/group/collective_op.h"

namespace sy::distributed {

namespace {

constexpr std::chrono::milliseconds kAll{900};

// "0", "0, 2 to 5".
std::string list_of(const std::vector<int>& ranks) {
  std::string s;
  for (size_t i = 0; i < ranks.size();) {
    size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    if (i > 0) s += ", ";
    s += std::to_string(ranks[i]);
    if (j > i) {
      s += j > i + 1 ? " to " : ", ";
      s += std::to_string(ranks[j]);
    }
    i = j + 1;
  }
  return s;
}

// "rank 0", "ranks 0, 2 to 5", "ranks 0, 1 (0, 2 of the world)".
std::string named(const Member& member, const std::vector<int>& ranks) {
  std::string s = ranks.size() == 1 ? "rank " : "ranks ";
  s += list_of(ranks);
  std::vector<int> world;
  for (const int r : ranks) world.push_back(member.ranks()[size_t(r)]);
  if (world == ranks) return s;
  s += " (";
  s += list_of(world);
  return s += " of the world)";
}

}  // namespace

std::exception_ptr disagreement(const Operation& op) {
  const Member& member = op.member();
  Store& store = member.store();
  std::string prefix = "call/";
  prefix += member.name();
  prefix += "/";
  if (op.call().tag >= 0) prefix += "beside/";
  prefix += std::to_string(op.sequence());
  prefix += "/";
  // The texts of the calls, each with its ranks, in the order of the first
  // rank.
  std::vector<std::pair<std::string, std::vector<int>>> texts;
  try {
    store.set(prefix + std::to_string(member.rank()), op.call().full_text());
    const Clock::time_point until = Clock::now() + kAll;
    for (int r = 0; r < member.size(); ++r) {
      std::string text;
      try {
        const auto left =
            std::chrono::duration_cast<Milliseconds>(until - Clock::now());
        text = store.get(prefix + std::to_string(r),
                         std::max(left, Milliseconds(1)));
      } catch (const Error&) {
        text = "says nothing";
      }
      const auto it =
          std::find_if(texts.begin(), texts.end(),
                       [&](const auto& t) { return t.first == text; });
      if (it != texts.end()) {
        it->second.push_back(r);
      } else {
        texts.emplace_back(std::move(text), std::vector<int>{r});
      }
    }
  } catch (...) {
    return std::current_exception();
  }
  std::string s = "[";
  s += op.call().name;
  s += "] call ";
  s += std::to_string(op.sequence());
  s += " of group ";
  s += member.name();
  s += ": the ranks disagree";
  for (const auto& [text, ranks] : texts) {
    s += "\n  ";
    s += named(member, ranks);
    s += ": ";
    s += text;
  }
  return std::make_exception_ptr(Error(std::move(s)));
}

}  // namespace sy::distributed
