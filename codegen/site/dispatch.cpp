#include <algorithm>
#include <utility>

#include "codegen/site/pictures.h"
#include "codegen/site/svg.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

constexpr double kRow = 46, kTrunk = 20, kKeys = 40;
constexpr std::size_t kMostRows = 8;

// Keys that one kernel serves.
struct Row {
  std::vector<std::string> keys;
  std::string how;
  std::string place;
  bool guarded = false;
};

// "own: CPU" in words.
std::string words(const std::string& how) {
  const std::size_t colon = how.find(": ");
  const std::string kind = how.substr(0, colon);
  const std::string key = colon == how.npos ? "" : how.substr(colon + 2);
  if (kind == "missing") return "no kernel: NotImplementedError";
  if (kind == "own") return "own kernel";
  if (kind == "fallback") return "one for every operator";
  if (kind != "alias") return how;
  if (key.starts_with("Composite")) return "made of other operators";
  return key == "Autograd" ? "records, then calls on" : "kernel of " + key;
}

// The end of a path that is so wide.
std::string fitted(std::string text, double width) {
  while (text_width(text, 11) > width) {
    const std::size_t slash = text.find('/', 4);
    if (slash == text.npos) break;
    text = "\u2026" + text.substr(slash);
  }
  return text;
}

Row row_of(const Dispatch& d) {
  Row out{{d.key}, words(d.how), "", false};
  std::size_t begin = 0;
  while (begin <= d.kernel.size()) {
    const std::size_t comma =
        std::min(d.kernel.find(", ", begin), d.kernel.size());
    const std::string part = d.kernel.substr(begin, comma - begin);
    if (begin == 0 && part != "guarded") out.place = part;
    if (part == "guarded") out.guarded = true;
    begin = comma + 2;
  }
  return out;
}

std::vector<Row> rows_of(const OperatorFacts& facts) {
  std::vector<Row> out;
  for (const Dispatch& d : facts.dispatch) {
    Row row = row_of(d);
    const auto same = std::find_if(out.begin(), out.end(), [&](const Row& r) {
      return r.how == row.how && r.place == row.place &&
             r.guarded == row.guarded;
    });
    if (same == out.end()) {
      out.push_back(std::move(row));
    } else {
      same->keys.push_back(d.key);
    }
  }
  if (out.size() > kMostRows) out.resize(kMostRows);
  return out;
}

// "CPU, Meta", "CPU and 3 more".
std::string keys_text(const Row& row) {
  std::string all = lang::join(row.keys, ", ");
  if (text_width(all, 12) <= 110) return all;
  return fmt::format("{} and {} more", row.keys[0], row.keys.size() - 1);
}

void arrow(Svg& svg, Point from, Point to) {
  svg.line(from, to);
  svg.path(arrow_head(from, to));
}

}  // namespace

std::string dispatch_svg(const OperatorFacts& facts) {
  const std::vector<Row> rows = rows_of(facts);
  if (rows.empty()) return "";
  double widest = 0;
  for (const Row& r : rows) {
    widest = std::max(widest, text_width(keys_text(r), 12.5) + 18);
  }
  const double guard = kKeys + widest + 18;
  const bool any_guard = std::any_of(rows.begin(), rows.end(),
                                     [](const Row& r) { return r.guarded; });
  const double kernel = any_guard ? guard + 70 : guard + 6;
  const double width = kPictureWidth - kernel - 6;
  const auto middle = [](std::size_t k) {
    return 34 + kRow * static_cast<double>(k) + kRow / 2;
  };

  std::vector<std::string> keys;
  for (const Row& r : rows) keys.push_back(lang::join(r.keys, ", "));
  Svg svg(40 + kRow * static_cast<double>(rows.size()), "dispatch",
          "Where a call goes, by its highest key: " + lang::join(keys, "; "));
  svg.open(fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.25\"",
                       ink::kFaint));
  svg.line({kTrunk, 28}, {kTrunk, middle(rows.size() - 1)});
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double y = middle(k);
    arrow(svg, {kTrunk, y}, {kKeys, y});
    const double end = kKeys + text_width(keys_text(rows[k]), 12.5) + 18;
    if (rows[k].guarded) {
      arrow(svg, {end, y}, {guard, y});
      arrow(svg, {guard + 48, y}, {kernel, y});
    } else {
      arrow(svg, {end, y}, {kernel, y});
    }
  }
  svg.close();

  const auto box = [&](Point at, double w, double h, std::string_view style) {
    svg.rect(at, w, h, style);
  };
  const std::string plain = fmt::format("rx=\"13\" fill=\"{}\" stroke=\"{}\"",
                                        ink::kPanel, ink::kLine);
  const std::string strong =
      fmt::format("rx=\"4\" fill=\"{}\" stroke=\"{}\"", ink::kBg, ink::kAccent);
  const std::string weak =
      fmt::format("rx=\"4\" fill=\"{}\" stroke=\"{}\" stroke-dasharray=\"4 3\"",
                  ink::kBg, ink::kFaint);
  const std::string fg = fmt::format("fill=\"{}\"", ink::kFg);
  const std::string middle_fg = fg + " text-anchor=\"middle\"";
  const std::string faint =
      fmt::format("fill=\"{}\" font-size=\"11\"", ink::kFaint);
  box({6, 4}, 50, 26, plain);
  svg.text({31, 21}, "call", middle_fg);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Row& r = rows[k];
    const double y = middle(k);
    const std::string keys_of = keys_text(r);
    const double w = text_width(keys_of, 12.5) + 18;
    box({kKeys, y - 13}, w, 26, plain);
    svg.text({kKeys + w / 2, y + 4}, keys_of, middle_fg);
    if (r.guarded) {
      box({guard, y - 11}, 48, 22, weak);
      svg.text({guard + 24, y + 4}, "guard", faint + " text-anchor=\"middle\"");
    }
    const bool missing = r.place.empty();
    box({kernel, y - 20}, width, 40, missing ? weak : strong);
    svg.text({kernel + 10, missing ? y + 4 : y - 3}, r.how,
             missing ? faint : fg);
    if (!missing) {
      svg.text({kernel + 10, y + 13}, fitted(r.place, width - 20), faint);
    }
  }
  return svg.finish();
}

}  // namespace sy::codegen::site
