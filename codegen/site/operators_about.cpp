#include <algorithm>
#include <sstream>

#include "codegen/site/operators.h"
#include "codegen/site/operators_html.h"
#include "codegen/site/operators_parts.h"
#include "codegen/site/page.h"
#include "codegen/site/pictures.h"
#include "codegen/text.h"
#include "codegen/tools/markup.h"

namespace sy::codegen::site {
namespace {

// The dtypes in the order of the tables; others come behind.
constexpr std::string_view kDtypes[] = {
    "float64", "float32", "float16", "bfloat16", "int64",
    "int32",   "int16",   "int8",    "uint8",    "bool"};
// The number of links shown at once; the page hides the others.
constexpr std::size_t kMost = 24;

using Ways = std::map<std::string, std::string, std::less<>>;

// The way of each dtype on a device.
Ways ways_of(const std::vector<std::pair<std::string, std::string>>& listed) {
  Ways out;
  for (const auto& [way, dtypes] : listed) {
    std::istringstream in(dtypes);
    for (std::string dtype; std::getline(in, dtype, ',');) out[dtype] = way;
  }
  return out;
}

constexpr struct {
  std::string_view way, mark, meaning;
} kMarks[] = {{"native", "●", "a kernel of the device"},
              {"composed", "◐", "made of other operators"},
              {"cpu", "○", "on the CPU, and back"}};

std::string way_cell(const Ways& ways, std::string_view dtype) {
  const auto it = ways.find(dtype);
  for (const auto& m : kMarks) {
    if (it == ways.end() || it->second != m.way) continue;
    return fmt::format("<td class=\"{}\" title=\"{}\">{}</td>", m.way,
                       m.meaning, m.mark);
  }
  return "<td title=\"not supported\">–</td>";
}

// The meanings of the marks of these devices.
std::string legend(const std::map<std::string, Ways>& devices) {
  std::string out;
  for (const auto& m : kMarks) {
    const bool used =
        std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
          return std::any_of(device.second.begin(), device.second.end(),
                             [&](const auto& w) { return w.second == m.way; });
        });
    if (!used) continue;
    append(out, "{}<span class=\"{}\">{}</span> {}: {}",
           out.empty() ? "" : ", ", m.way, m.mark, m.way, m.meaning);
  }
  return "<p class=\"small\">" + out + "</p>\n";
}

std::string head_cells(const std::vector<std::string>& dtypes) {
  std::string out;
  for (const std::string& d : dtypes) {
    append(out, "<th>{}</th>", markup_text(d));
  }
  return out;
}

// A sentence for readers who want no table: the dtypes that the first device
// takes, or those that it does not, if that is shorter.
std::string dtypes_sentence(const std::string& device, const Ways& ways,
                            const std::vector<std::string>& dtypes) {
  std::vector<std::string> has, lacks;
  for (const std::string& d : dtypes) {
    (ways.count(d) ? has : lacks).push_back(code_html(d));
  }
  const std::string name = markup_text(device);
  if (lacks.empty()) return fmt::format("All dtypes on {}.", name);
  if (has.empty()) return "";
  if (has.size() <= lacks.size()) {
    return fmt::format("On {}: {}.", name, join(has, ", "));
  }
  return fmt::format("All dtypes on {} but {}.", name, join(lacks, ", "));
}

std::string ratio_html(const Timing& t) {
  if (t.libtorch <= 0) return "<td></td>";
  const double ratio = t.ours / t.libtorch;
  return fmt::format("<td class=\"{}\">{:.2f}</td>",
                     ratio <= 1.1 ? "fast" : "slow", ratio);
}

}  // namespace

std::string dtypes_html(const PageContext& context,
                        const OperatorFacts* facts) {
  if (!facts || facts->dtypes.empty()) return "";
  std::vector<std::string> dtypes(std::begin(kDtypes), std::end(kDtypes));
  std::map<std::string, Ways> devices;
  for (const auto& [device, listed] : facts->dtypes) {
    devices[device] = ways_of(listed);
    for (const auto& [dtype, way] : devices[device]) {
      if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
        dtypes.push_back(dtype);
      }
    }
  }
  // The devices of all facts, in their order; others of this operator behind.
  std::vector<std::string> order = context.facts.devices;
  for (const auto& [device, ways] : devices) {
    if (std::find(order.begin(), order.end(), device) == order.end()) {
      order.push_back(device);
    }
  }
  std::string rows, sentence;
  for (const std::string& device : order) {
    const Ways& ways = devices[device];
    append(rows, "<tr><th>{}</th>", markup_text(device));
    for (const std::string& d : dtypes) rows += way_cell(ways, d);
    rows += "</tr>\n";
    if (sentence.empty()) sentence = dtypes_sentence(device, ways, dtypes);
  }
  return heading_html(2, "dtypes", "Dtypes") +
         (sentence.empty() ? "" : "<p>" + sentence + "</p>\n") +
         "<div class=\"scroll\"><table class=\"dtypes\"><thead><tr><th></th>" +
         head_cells(dtypes) + "</tr></thead><tbody>\n" + rows +
         "</tbody></table></div>\n" + legend(devices);
}

std::string dispatch_html(const OperatorFacts* facts) {
  if (!facts) return "";
  const std::string figure =
      figure_html(dispatch_svg(*facts), "Where a call of the example goes.");
  if (figure.empty()) return "";
  return heading_html(2, "dispatch", "Dispatch") + figure;
}

std::string timings_html(const NamedOperators& name) {
  const auto& timings = name.timings;
  if (timings.empty()) return "";
  const bool beside =
      std::any_of(timings.begin(), timings.end(),
                  [](const Timing& t) { return t.libtorch > 0; });
  std::string out = heading_html(2, "speed", "Speed");
  append(out,
         "<table class=\"speed\"><thead><tr><th>Benchmark</th>"
         "<th>Switchyard</th>{}</tr></thead><tbody>\n",
         beside ? "<th>libtorch</th><th>Ratio</th>" : "");
  for (const Timing& t : timings) {
    append(out, "<tr><td>{}</td><td>{}</td>", code_html(t.name),
           time_text(t.ours));
    if (beside) {
      append(out, "<td>{}</td>{}", t.libtorch > 0 ? time_text(t.libtorch) : "",
             ratio_html(t));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table>\n";
  if (!beside) return out;
  return out + "<p class=\"small\">Below 1 Switchyard is faster.</p>\n";
}

std::string links_html(const std::string& from,
                       const std::vector<const NamedOperators*>& names) {
  std::string out, more;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string& to = i < kMost ? out : more;
    if (!to.empty()) to += ", ";
    to += names[i]->has_page()
              ? link_html(link(from, names[i]->path), names[i]->name)
              : code_html(names[i]->name);
  }
  if (more.empty()) return out;
  return fmt::format(
      "{}<details class=\"more\"><summary>and {} more</summary>{}</details>",
      out, names.size() - kMost, more);
}

std::string related_html(const PageContext& context,
                         const NamedOperators& name) {
  std::string rows;
  const auto row = [&](std::string_view title,
                       const std::vector<const NamedOperators*>& names) {
    if (names.empty()) return;
    append(rows, "<tr><th>{}</th><td>{}</td></tr>\n", title,
           links_html(name.path, names));
  };
  row("See also", name.relatives);
  row("Part of", name.used_by);
  row("In gradients of", name.gradient_of);
  const Family& family = context.family(name.first());
  std::vector<const NamedOperators*> others;
  for (const NamedOperators* n : context.names.of(family)) {
    if (n != &name && !n->internal) others.push_back(n);
  }
  row("Others in " +
          link_html(link(name.path, family_path(family)), family.name),
      others);
  if (rows.empty()) return "";
  return heading_html(2, "related", "Related") +
         "<table class=\"args\"><tbody>\n" + rows + "</tbody></table>\n";
}

}  // namespace sy::codegen::site
