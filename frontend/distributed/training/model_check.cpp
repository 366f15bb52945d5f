#include "frontend/distributed/training/model_check.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "frontend/distributed/group/call.h"

namespace sy::distributed {

namespace {

int64_t* numbers_of(const Tensor& t) {
  return static_cast<int64_t*>(t.data_ptr());
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

// "'fc1.weight' float32[4, 3] on ranks 0, 2; nothing on rank 1".
std::string line_by_rank(const std::vector<std::vector<std::string>>& all,
                         size_t line) {
  std::vector<std::pair<std::string, std::string>> seen;
  for (size_t r = 0; r < all.size(); ++r) {
    const std::string text = line < all[r].size() ? all[r][line] : "nothing";
    const auto it = std::find_if(seen.begin(), seen.end(), [&](const auto& s) {
      return s.first == text;
    });
    if (it == seen.end()) {
      seen.emplace_back(text, std::to_string(r));
    } else {
      it->second += ", ";
      it->second += std::to_string(r);
    }
  }
  std::string s;
  for (const auto& [text, ranks] : seen) {
    if (!s.empty()) s += "; ";
    s += text;
    s += ranks.find(',') == ranks.npos ? " on rank " : " on ranks ";
    s += ranks;
  }
  return s;
}

}  // namespace

std::vector<std::string> exchange_texts(ProcessGroup& group,
                                        const std::string& mine) {
  const int64_t n = group.size();
  const Tensor length = full({1}, static_cast<int64_t>(mine.size()), kLong);
  const Tensor lengths = empty({n}, kLong);
  group.allgather_into_tensor(lengths, length);
  const int64_t most =
      *std::max_element(numbers_of(lengths), numbers_of(lengths) + n);
  if (most == 0) return std::vector<std::string>(static_cast<size_t>(n));
  const Tensor bytes = zeros({most}, kByte), all = empty({n * most}, kByte);
  std::memcpy(bytes.data_ptr(), mine.data(), mine.size());
  group.allgather_into_tensor(all, bytes);
  std::vector<std::string> texts;
  for (int64_t r = 0; r < n; ++r) {
    texts.emplace_back(static_cast<const char*>(all.data_ptr()) + r * most,
                       static_cast<size_t>(numbers_of(lengths)[r]));
  }
  return texts;
}

void check_same_lines(ProcessGroup& group, const std::string& what,
                      const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& l : lines) {
    text += l;
    text += '\n';
  }
  const int64_t n = group.size();
  const Tensor mine = empty({2}, kLong), all = empty({n * 2}, kLong);
  numbers_of(mine)[0] = static_cast<int64_t>(mixed(0x6d6f64656c, text));
  numbers_of(mine)[1] = static_cast<int64_t>(text.size());
  group.allgather_into_tensor(all, mine);
  const int64_t* const a = numbers_of(all);
  bool same = true;
  for (int64_t r = 0; r < n; ++r) {
    same = same && a[2 * r] == a[0] && a[2 * r + 1] == a[1];
  }
  if (same) return;
  std::vector<std::vector<std::string>> by_rank;
  size_t most = 0;
  for (const std::string& t : exchange_texts(group, text)) {
    by_rank.push_back(split(t));
    most = std::max(most, by_rank.back().size());
  }
  size_t line = 0;
  const auto agree = [&] {
    return std::all_of(by_rank.begin(), by_rank.end(), [&](const auto& l) {
      return line < l.size() && line < by_rank[0].size() &&
             l[line] == by_rank[0][line];
    });
  };
  while (line < most && agree()) ++line;
  fail(ErrorKind::Error, "{}, got {}", what, line_by_rank(by_rank, line));
}

}  // namespace sy::distributed
