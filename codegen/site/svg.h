#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sy::codegen::site {

// Colours of the page, each with one for pictures without a page.
namespace ink {
inline constexpr std::string_view kFg = "var(--fg,#222)";
inline constexpr std::string_view kFaint = "var(--faint,#777)";
inline constexpr std::string_view kLine = "var(--line,#ddd)";
inline constexpr std::string_view kPanel = "var(--panel,#f5f5f7)";
inline constexpr std::string_view kBg = "var(--bg,#fff)";
inline constexpr std::string_view kAccent = "var(--accent,#36c)";
inline constexpr std::string_view kAccent2 = "var(--accent2,#c2410c)";
inline constexpr std::string_view kGood = "var(--good,#1b7f3b)";
inline constexpr std::string_view kWarn = "var(--warn,#a16207)";
}  // namespace ink

// Pictures are so wide in their own units, so that letters have one size in all
// of them.
inline constexpr double kPictureWidth = 480;

// The number with at most two decimals and no redundant zero: "12.35", "-.5".
std::string coordinate(double v);
// About how wide a text is in the page's font.
double text_width(std::string_view text, double size);

struct Point {
  double x = 0, y = 0;
};
// "M3 4 5 6": a line through the points.
std::string path_through(const std::vector<Point>& points);
// Two sides of an arrow's head, to be stroked: it ends at `tip` and comes from
// `from`.
std::string arrow_head(Point from, Point tip, double size = 5);

// An <svg> element made part by part. `attributes` are written as they are;
// texts are escaped.
class Svg {
 public:
  // `kind` is a class for the style sheet: "curves".
  Svg(double height, std::string_view kind, std::string_view title);

  void open(std::string_view attributes);
  // As open(): the elements that follow are a link.
  void link(std::string_view address);
  void close();
  void line(Point from, Point to, std::string_view attributes = "");
  void rect(Point at, double width, double height,
            std::string_view attributes = "");
  void path(std::string_view d, std::string_view attributes = "");
  void text(Point at, std::string_view text, std::string_view attributes = "");

  // Closes what is open.
  std::string finish();

 private:
  void attributes(std::string_view attributes);

  std::string out_;
  std::vector<std::string_view> open_;
};

}  // namespace sy::codegen::site
