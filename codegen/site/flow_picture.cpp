#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "codegen/site/flow_layout.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

using lang::append;

std::string_view colour(int k) {
  constexpr std::string_view kColours[] = {ink::kAccent, ink::kAccent2,
                                           ink::kGood, ink::kWarn};
  return kColours[k];
}

// Inputs on one side, outputs on the other.
class Picture {
 public:
  explicit Picture(const Flow& flow) : flow_(flow), layout_(flow) {}

  std::string draw() {
    if (!layout_.fit()) return "";
    paints_ = paints_of(flow_, layout_.best_shown());
    if (paints_.shown < 0 && !flow_.is_scan && !arrows_stay_apart()) {
      paints_.shown = layout_.best_shown();
    }
    Svg svg(layout_.height, "flow", title());
    svg.text({kMargin, 15}, call(),
             fmt::format("fill=\"{}\" font-family=\"ui-monospace,monospace\"",
                         ink::kFaint));
    fills(svg);
    arrows(svg);
    texts(svg);
    names(svg);
    return svg.finish();
  }

 private:
  std::string title() const {
    const auto names = [](const std::vector<Flow::Grid>& grids) {
      std::vector<std::string> out;
      for (const auto& g : grids) out.push_back(g.name);
      return lang::join(out, ", ");
    };
    return fmt::format(
        "{}: which elements of {} {} {}", flow_.call, names(flow_.inputs),
        flow_.moves ? "become those of" : "go into", flow_.outputs[0].name);
  }

  // The call, cut to the letters that fit: all letters have the same width.
  std::string call() const {
    constexpr std::size_t kLetters = 62;
    std::string out = flow_.call;
    if (out.size() <= kLetters) return out;
    const std::size_t comma = out.rfind(", ", kLetters - 4);
    return out.substr(0, comma == out.npos ? kLetters : comma) + ", \u2026)";
  }

  // Whether arrows to all results cross neither cells nor each other.
  bool arrows_stay_apart() const {
    if (layout_.inputs.size() > 1) return false;
    const auto& s = flow_.outputs[0].sizes;
    return layout_.downwards || s.empty() || s.back() == 1;
  }

  template <class F>
  void each_cell(const F& f) const {
    std::size_t k = 0;
    for (const GridPlan& p : layout_.inputs) {
      for (std::size_t c = 0; c < p.cells.size(); ++c) {
        f(p, c, layout_.in, paints_.inputs[k++]);
      }
    }
    k = 0;
    for (const GridPlan& p : layout_.outputs) {
      for (std::size_t c = 0; c < p.cells.size(); ++c) {
        f(p, c, layout_.out, paints_.outputs[k++]);
      }
    }
  }

  // Cells of one paint are one path.
  void fills(Svg& svg) const {
    std::map<Paint, std::string> paths;
    each_cell([&](const GridPlan& p, std::size_t c, const CellSize& size,
                  const Paint& paint) {
      const Point at = p.cell(c);
      append(paths[paint], "{}h{}v{}h-{}z",
             path_through({{at.x + 1, at.y + 1}}), coordinate(size.width - 2),
             coordinate(size.height - 2), coordinate(size.width - 2));
    });
    for (const auto& [paint, d] : paths) {
      if (paint.colour < 0) {
        svg.path(d, fmt::format("fill=\"{}\" stroke=\"{}\"", ink::kPanel,
                                ink::kLine));
      } else {
        svg.path(d, fmt::format("fill=\"{}\" fill-opacity=\".{}\"",
                                colour(paint.colour), paint.strength));
      }
    }
  }

  void texts(Svg& svg) const {
    svg.open(fmt::format("fill=\"{}\" text-anchor=\"middle\"", ink::kFg));
    each_cell([&](const GridPlan& p, std::size_t c, const CellSize& size,
                  const Paint&) {
      if (p.grid->texts.size() != p.cells.size()) return;
      const Point at = p.cell(c);
      svg.text({at.x + size.width / 2, at.y + size.height / 2 + 4},
               p.grid->texts[c]);
    });
    svg.close();
  }

  void names(Svg& svg) const {
    const std::string fg = fmt::format("fill=\"{}\"", ink::kFg);
    const std::string faint =
        fmt::format("fill=\"{}\" font-size=\"11\"", ink::kFaint);
    const std::string end = " text-anchor=\"end\"";
    for (const auto* plans : {&layout_.inputs, &layout_.outputs}) {
      for (const GridPlan& p : *plans) {
        const bool both =
            layout_.names_beside && layout_.beside(p) && !p.grid->note.empty();
        const double y = p.at.y + p.height / 2 + (both ? -3 : 4);
        if (layout_.names_beside) {
          svg.text({p.at.x - 12, y}, layout_.name_of(*p.grid), fg + end);
        } else {
          svg.text({p.at.x + 1, p.at.y - 6}, layout_.name_of(*p.grid), fg);
        }
        const std::string& note = p.grid->note;
        if (note.empty()) continue;
        const double wide = text_width(note, 11);
        if (both) {
          svg.text({p.at.x - 12, y + 15}, note, faint + end);
        } else if (layout_.name_has_note(p)) {
          svg.text({p.at.x + text_width(layout_.name_of(*p.grid), 12.5) + 12,
                    p.at.y - 6},
                   note, faint);
        } else {
          const double most = kPictureWidth - kMargin - wide;
          svg.text({std::max(std::min(p.at.x + 1, most), kMargin),
                    p.at.y + p.height + 15},
                   note, faint);
        }
      }
    }
  }

  // An arrow from the side of a block that looks to the outputs, to a cell's
  // side.
  void arrow(Svg& svg, const Block& from, Point cell) const {
    Point a, b, c, d;
    if (layout_.downwards) {
      a = {from.at.x + from.width / 2, from.at.y + from.height + 1};
      b = {cell.x + layout_.out.width / 2, cell.y - 2};
      c = {a.x, (a.y + b.y) / 2};
      d = {b.x, (a.y + b.y) / 2};
    } else {
      a = {from.at.x + from.width + 1, from.at.y + from.height / 2};
      b = {cell.x - 2, cell.y + layout_.out.height / 2};
      const double bend = std::max(24.0, (b.x - a.x) / 2);
      c = {a.x + bend, a.y};
      d = {b.x - bend, b.y};
    }
    svg.path(path_through({a}) + "C" + path_through({c, d, b}).substr(1));
    svg.path(arrow_head(d, b));
  }

  void outline(Svg& svg, const Block& b) const {
    svg.rect({b.at.x + 1, b.at.y + 1}, b.width - 2, b.height - 2,
             "rx=\"2\" stroke-width=\"2\"");
  }

  std::vector<Block> sources(std::size_t k) const {
    std::vector<Point> cells;
    for (const int f : flow_.from[k]) cells.push_back(layout_.input_cell(f));
    return blocks_of(std::move(cells), layout_.in);
  }

  // One block around all blocks, if there are many.
  static Block around(const std::vector<Block>& blocks) {
    Block out = blocks[0];
    double right = 0, bottom = 0;
    for (const Block& b : blocks) {
      out.at.x = std::min(out.at.x, b.at.x);
      out.at.y = std::min(out.at.y, b.at.y);
      right = std::max(right, b.at.x + b.width);
      bottom = std::max(bottom, b.at.y + b.height);
    }
    out.width = right - out.at.x;
    out.height = bottom - out.at.y;
    return out;
  }

  void arrows(Svg& svg) const {
    svg.open(fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"",
                         paints_.shown < 0 ? ink::kFaint : ink::kFg));
    if (flow_.is_scan) {
      scan_arrows(svg);
    } else if (paints_.shown >= 0) {
      const auto k = static_cast<std::size_t>(paints_.shown);
      const auto blocks = sources(k);
      for (const Block& b : blocks) outline(svg, b);
      const Point cell = layout_.output_cell(k);
      outline(svg, {cell, layout_.out.width, layout_.out.height});
      if (blocks.size() <= 4) {
        for (const Block& b : blocks) arrow(svg, b, cell);
      } else {
        arrow(svg, around(blocks), cell);
      }
    } else {
      // The second result's arrows would be the same.
      for (std::size_t k = 0; k < layout_.outputs[0].cells.size(); ++k) {
        const auto blocks = sources(k);
        if (!blocks.empty()) arrow(svg, around(blocks), layout_.output_cell(k));
      }
    }
    svg.close();
  }

  void scan_arrows(Svg& svg) const {
    const std::size_t n = layout_.outputs[0].cells.size();
    for (std::size_t k = 0; k < n; ++k) {
      const Point in = layout_.input_cell(static_cast<int>(k));
      const Point out = layout_.output_cell(k);
      arrow(svg, {in, layout_.in.width, layout_.in.height}, out);
      if (k + 1 == n) break;
      const double y = out.y + layout_.out.height / 2;
      const Point from{out.x + layout_.out.width + 1, y};
      const Point to{layout_.output_cell(k + 1).x - 2, y};
      svg.line(from, to);
      svg.path(arrow_head(from, to));
    }
  }

  const Flow& flow_;
  FlowLayout layout_;
  Paints paints_;
};

}  // namespace

std::string flow_picture(const Flow& flow) { return Picture(flow).draw(); }

}  // namespace sy::codegen::site
