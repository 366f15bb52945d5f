#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace digits {

struct Point {
  double x, y;
};

// A picture being drawn, in pixels from the upper left corner.
class Svg {
 public:
  struct Font {
    double size = 13;
    std::string_view colour = "#3c4043";
    std::string_view anchor = "start";  // start, middle, end
    bool bold = false;
  };

  Svg(double width, double height, std::string_view background);

  void text(Point at, std::string_view text, const Font& font);
  void rectangle(Point at, double width, double height, std::string_view fill,
                 double radius = 0);
  void line(Point from, Point to, std::string_view colour, double width = 1);
  void polyline(const std::vector<Point>& points, std::string_view colour,
                double width, double opacity = 1);
  void dot(Point at, double radius, std::string_view fill);

  // Throws std::runtime_error if the file cannot be written.
  void save(const std::string& path) const;

 private:
  std::string body_;
};

}  // namespace digits
