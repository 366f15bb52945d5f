#pragma once

#include <cctype>
#include <cstdint>
#include <string_view>

// A font of 3 x 5 dots: capitals, which small letters share, digits, and signs.

namespace vision {

inline constexpr int64_t kGlyphWidth = 3, kGlyphHeight = 5;

namespace detail {

struct Glyph {
  char c;
  const char* rows;  // one digit a row, whose bits are dots: 4, 2, 1
};

inline constexpr Glyph kGlyphs[] = {
    {'0', "75557"}, {'1', "26227"}, {'2', "71747"},  {'3', "71317"},
    {'4', "55711"}, {'5', "74717"}, {'6', "74757"},  {'7', "71222"},
    {'8', "75757"}, {'9', "75717"}, {'A', "25755"},  {'B', "65656"},
    {'C', "34443"}, {'D', "65556"}, {'E', "74647"},  {'F', "74644"},
    {'G', "34553"}, {'H', "55755"}, {'I', "72227"},  {'J', "11152"},
    {'K', "55655"}, {'L', "44447"}, {'M', "57755"},  {'N', "65555"},
    {'O', "25552"}, {'P', "65644"}, {'Q', "25563"},  {'R', "65655"},
    {'S', "34216"}, {'T', "72222"}, {'U', "55557"},  {'V', "55552"},
    {'W', "55775"}, {'X', "55255"}, {'Y', "55222"},  {'Z', "71247"},
    {'.', "00002"}, {',', "00024"}, {':', "02020"},  {'-', "00700"},
    {'%', "51245"}, {'/', "11244"}, {'_', "00007"},  {'+', "02720"},
    {'(', "24442"}, {')', "21112"}, {'\'', "22000"}, {'?', "71202"}};

}  // namespace detail

// Whether the sign of c has a dot there. Those that are missing have '?'.
inline bool has_dot(char c, int64_t row, int64_t column) {
  if (c == ' ') return false;
  c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const detail::Glyph* found = nullptr;
  for (const detail::Glyph& g : detail::kGlyphs) {
    if (g.c == c || (found == nullptr && g.c == '?')) found = &g;
    if (g.c == c) break;
  }
  return ((found->rows[row] - '0') >> (kGlyphWidth - 1 - column) & 1) != 0;
}

}  // namespace vision
