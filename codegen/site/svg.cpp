#include "codegen/site/svg.h"

#include <cmath>
#include <cstdio>

#include "codegen/tools/markup.h"
#include "lang/format.h"

namespace sy::codegen::site {

using lang::append;

std::string coordinate(double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", v);
  std::string out = text;
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  if (out.starts_with("0.")) out.erase(0, 1);
  if (out.starts_with("-0.")) out.erase(1, 1);
  return out == "-0" || out == "-" || out.empty() ? "0" : out;
}

double text_width(std::string_view text, double size) {
  double em = 0;
  for (const char c : text) {
    // The later bytes of one character.
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;
    constexpr std::string_view kNarrow = "iljtfr.,:;'|()[] ";
    constexpr std::string_view kWide = "mwMW@";
    em += kNarrow.find(c) != kNarrow.npos ? 0.36
          : kWide.find(c) != kWide.npos   ? 0.88
                                          : 0.61;
  }
  return em * size;
}

std::string path_through(const std::vector<Point>& points) {
  std::string out = "M";
  for (const Point& p : points) {
    if (out.size() > 1) out += ' ';
    const std::string y = coordinate(p.y);
    append(out, "{}{}{}", coordinate(p.x), y.starts_with('-') ? "" : " ", y);
  }
  return out;
}

std::string arrow_head(Point from, Point tip, double size) {
  const double a = std::atan2(tip.y - from.y, tip.x - from.x);
  const auto side = [&](double turn) {
    return Point{tip.x - size * std::cos(a + turn),
                 tip.y - size * std::sin(a + turn)};
  };
  return path_through({side(0.45), tip, side(-0.45)});
}

Svg::Svg(double height, std::string_view kind, std::string_view title) {
  const std::string text = markup_text(title);
  append(out_,
         "<svg class=\"{}\" viewBox=\"0 0 {} {}\" width=\"100%\" "
         "style=\"max-width:40rem\" role=\"img\" aria-label=\"{}\" "
         "font-size=\"12\"><title>{}</title>\n",
         kind, coordinate(kPictureWidth), coordinate(height), text, text);
}

void Svg::attributes(std::string_view attributes) {
  if (!attributes.empty()) append(out_, " {}", attributes);
}

void Svg::open(std::string_view attributes) {
  out_ += "<g";
  this->attributes(attributes);
  out_ += ">";
  open_.push_back("g");
}

void Svg::link(std::string_view address) {
  append(out_, "<a href=\"{}\">", markup_text(address));
  open_.push_back("a");
}

void Svg::close() {
  append(out_, "</{}>\n", open_.back());
  open_.pop_back();
}

void Svg::line(Point from, Point to, std::string_view attributes) {
  path(path_through({from, to}), attributes);
}

void Svg::rect(Point at, double width, double height,
               std::string_view attributes) {
  append(out_, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
         coordinate(at.x), coordinate(at.y), coordinate(width),
         coordinate(height));
  this->attributes(attributes);
  out_ += "/>";
}

void Svg::path(std::string_view d, std::string_view attributes) {
  append(out_, "<path d=\"{}\"", d);
  this->attributes(attributes);
  out_ += "/>";
}

void Svg::text(Point at, std::string_view text, std::string_view attributes) {
  append(out_, "<text x=\"{}\" y=\"{}\"", coordinate(at.x), coordinate(at.y));
  this->attributes(attributes);
  append(out_, ">{}</text>", markup_text(text));
}

std::string Svg::finish() {
  while (!open_.empty()) close();
  return std::move(out_) + "</svg>\n";
}

}  // namespace sy::codegen::site
