#include "examples/digits/svg.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace digits {
namespace {

std::string number(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", v);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, std::string_view value) {
  std::string a = " ";
  a.append(name).append("=\"").append(value).append("\"");
  return a;
}
std::string attribute(std::string_view name, double value) {
  return attribute(name, number(value));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view background) {
  body_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
          attribute("width", width) + attribute("height", height) +
          attribute("viewBox", "0 0 " + number(width) + " " + number(height)) +
          attribute("font-family",
                    "Inter, 'Helvetica Neue', Helvetica, "
                    "Arial, 'DejaVu Sans', sans-serif") +
          ">\n";
  rectangle({0, 0}, width, height, background);
}

void Svg::text(Point at, std::string_view text, const Font& font) {
  body_ += "<text" + attribute("x", at.x) + attribute("y", at.y) +
           attribute("font-size", font.size) + attribute("fill", font.colour);
  if (font.anchor != "start") body_ += attribute("text-anchor", font.anchor);
  if (font.bold) body_ += attribute("font-weight", "600");
  body_ += ">" + escaped(text) + "</text>\n";
}

void Svg::rectangle(Point at, double width, double height,
                    std::string_view fill, double radius) {
  body_ += "<rect" + attribute("x", at.x) + attribute("y", at.y) +
           attribute("width", width) + attribute("height", height) +
           attribute("fill", fill);
  if (radius > 0) body_ += attribute("rx", radius);
  body_ += "/>\n";
}

void Svg::line(Point from, Point to, std::string_view colour, double width) {
  body_ += "<line" + attribute("x1", from.x) + attribute("y1", from.y) +
           attribute("x2", to.x) + attribute("y2", to.y) +
           attribute("stroke", colour) + attribute("stroke-width", width) +
           "/>\n";
}

void Svg::polyline(const std::vector<Point>& points, std::string_view colour,
                   double width, double opacity) {
  std::string list;
  for (const Point& p : points) list += number(p.x) + "," + number(p.y) + " ";
  if (!list.empty()) list.pop_back();
  body_ += "<polyline" + attribute("points", list) + attribute("fill", "none") +
           attribute("stroke", colour) + attribute("stroke-width", width) +
           attribute("stroke-linejoin", "round") +
           attribute("stroke-linecap", "round");
  if (opacity < 1) body_ += attribute("opacity", opacity);
  body_ += "/>\n";
}

void Svg::dot(Point at, double radius, std::string_view fill) {
  body_ += "<circle" + attribute("cx", at.x) + attribute("cy", at.y) +
           attribute("r", radius) + attribute("fill", fill) + "/>\n";
}

void Svg::save(const std::string& path) const {
  std::ofstream out(path);
  out << body_ << "</svg>\n";
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace digits
