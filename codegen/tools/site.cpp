#include "codegen/tools/site.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <ostream>
#include <sstream>
#include <system_error>

#include "codegen/emit/emit.h"
#include "codegen/lang/yaml.h"
#include "codegen/text.h"
#include "codegen/tools/html.h"
#include "codegen/tools/markup.h"
#include "codegen/tools/schema_files.h"

namespace sy::codegen {
namespace {

constexpr std::string_view kStyle = R"(body {
  font: 16px/1.5 sans-serif; margin: 0 auto; max-width: 60em; padding: 1em;
}
nav { display: flex; gap: 1em; align-items: center; }
nav input { flex: 1; font: inherit; padding: 4px 8px; }
h2 { margin-top: 2em; border-top: 1px solid #ddd; padding-top: 0.5em; }
h2 a { color: inherit; text-decoration: none; }
pre { background: #f6f6f6; padding: 8px 12px; overflow-x: auto; }
code { font-size: 14px; }
table { border-collapse: collapse; }
td, th { padding: 2px 8px; text-align: left; vertical-align: top; }
tbody tr:nth-child(even) { background: #f6f6f6; }
.native { color: #1b6e20; }
.composed { color: #1a4f9c; }
.cpu { color: #8a5a00; }
#found { list-style: none; padding: 0; }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; }
  a { color: #8ab4f8; }
  pre, tbody tr:nth-child(even) { background: #242424; }
  .native { color: #7fd18a; }
  .composed { color: #8ab4f8; }
  .cpu { color: #e0b060; }
}
)";

// After the list of operators.
constexpr std::string_view kSearch = R"(
const input = document.getElementById("search");
const found = document.getElementById("found");
function show() {
  const words = input.value.toLowerCase().split(" ").filter((w) => w);
  found.replaceChildren();
  if (words.length === 0) return;
  const rank = ([name]) =>
      name === words[0] ? 0 : name.startsWith(words[0]) ? 1
      : name.includes(words[0]) ? 2 : 3;
  operators
      .filter(([name, family, place, doc]) => words.every(
          (w) => (name + " " + family + " " + doc).toLowerCase().includes(w)))
      .sort((a, b) => rank(a) - rank(b) || a[0].localeCompare(b[0]))
      .slice(0, 50)
      .forEach(([name, family, place, doc]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = family + ".html#" + place;
        link.textContent = name;
        item.append(link, " " + doc);
        found.append(item);
      });
}
input.addEventListener("input", show);
show();
)";

std::string page(const std::string& title, const std::string& body) {
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{}</title>
<link rel="stylesheet" href="style.css">
<nav><a href="index.html">operators</a> <a href="dtypes.html">dtypes</a>
<input id="search" placeholder="search"></nav>
<ul id="found"></ul>
{}<script src="search.js"></script>
</html>
)",
                     markup_text(title), body);
}

std::string full_name(const Family& family, const std::string& name) {
  return (family.is_own() ? family.ns + "::" : "") + name;
}

std::string index(const Model& model) {
  std::size_t operators = 0, overloads = 0;
  std::string rows;
  for (const Family& f : model.families()) {
    std::string names;
    for (const Operator& op : f.operators) {
      const std::string name = markup_text(op.base.name);
      append(names, R"({}<a href="{}.html#{}">{}</a>)",
             names.empty() ? "" : ", ", f.name, name, name);
      overloads += op.overloads().size();
    }
    operators += f.operators.size();
    append(rows, "<tr><td><a href=\"{0}.html\">{0}</a></td><td>{1}</td></tr>\n",
           f.name, names);
  }
  return page("Switchyard's operators",
              fmt::format(R"(<h1>Switchyard's operators</h1>
<p>{} operators, {} overloads, by family.</p>
<table>
<tbody>
{}</tbody>
</table>
)",
                          operators, overloads, rows));
}

std::string search(const Model& model) {
  std::string out = "const operators = [\n";
  for (const Family& f : model.families()) {
    for (const Operator& op : f.operators) {
      for (const Overload* o : op.overloads()) {
        append(out, "[{},{},{},{}],\n", script_text(full_name(f, o->name)),
               script_text(f.name), script_text(op.base.name),
               script_text(op.entry->doc));
      }
    }
  }
  append(out, "];\n{}", kSearch);
  return out;
}

// What `sy dtypes` found: of an operator, by device, how each dtype runs.
struct Dtypes {
  std::vector<std::string> devices;
  std::map<std::string, std::map<std::string, std::string>, std::less<>> rows;
};

// "native:float32,float64" as HTML.
bool add_way(const std::string& word, std::string& cell) {
  const std::size_t colon = word.find(':');
  const std::string way = word.substr(0, colon);
  if (colon == word.npos ||
      (way != "native" && way != "composed" && way != "cpu")) {
    return false;
  }
  std::string dtypes = word.substr(colon + 1);
  std::replace(dtypes.begin(), dtypes.end(), ',', ' ');
  append(cell, R"({}<span class="{}">{}</span> {})", cell.empty() ? "" : "<br>",
         way, way, markup_text(dtypes));
  return true;
}

void read(const DtypeList& list, Dtypes& out, lang::Diagnostics& diagnostics) {
  const InternedString file(list.path);
  std::istringstream in(list.text);
  std::uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line);
    std::string name, device, cell;
    words >> name >> device;
    bool good = !device.empty();
    for (std::string word; good && words >> word;) {
      good = add_way(word, cell);
    }
    if (!good) {
      diagnostics.error({file, number, 1},
                        "expected OPERATOR DEVICE WAY:DTYPES…, as `sy dtypes` "
                        "prints them, got '{}'",
                        line);
      return;
    }
    if (std::find(out.devices.begin(), out.devices.end(), device) ==
        out.devices.end()) {
      out.devices.push_back(device);
    }
    out.rows[name][device] = cell;
  }
}

std::string dtypes_page(const Model& model, const Dtypes& dtypes) {
  std::string head, rows;
  for (const std::string& d : dtypes.devices) {
    append(head, "<th>{}</th>", markup_text(d));
  }
  for (const Family& f : model.families()) {
    for (const Operator& op : f.operators) {
      const std::string name = full_name(f, op.base.name);
      const auto found = dtypes.rows.find(name);
      if (found == dtypes.rows.end()) continue;
      append(rows, R"(<tr><td><a href="{}.html#{}">{}</a></td>)", f.name,
             markup_text(op.base.name), markup_text(name));
      for (const std::string& d : dtypes.devices) {
        const auto cell = found->second.find(d);
        append(rows, "<td>{}</td>",
               cell == found->second.end() ? "" : cell->second);
      }
      rows += "</tr>\n";
    }
  }
  const std::string text =
      dtypes.devices.empty()
          ? "<p>Made without lists of dtypes: <code>sygen site DIR --dtypes "
            "FILE</code>, where FILE is what <code>sy dtypes --plugin "
            "LIB</code> prints.</p>\n"
          : fmt::format(
                "<p>The dtypes in which the example of each operator runs on "
                "each backend: by a kernel of its own, composed of other "
                "operators, or on the CPU.</p>\n"
                "<table>\n"
                "<thead><tr><th>operator</th>{}</tr></thead>\n"
                "<tbody>\n"
                "{}</tbody>\n"
                "</table>\n",
                head, rows);
  return page("Backends, operators, dtypes",
              "<h1>Backends, operators, dtypes</h1>\n" + text);
}

}  // namespace

std::vector<OutputFile> make_site(const Model& model,
                                  const std::vector<DtypeList>& lists,
                                  lang::Diagnostics& diagnostics) {
  Dtypes dtypes;
  for (const DtypeList& list : lists) read(list, dtypes, diagnostics);
  std::vector<OutputFile> out = {{"style.css", std::string(kStyle)},
                                 {"search.js", search(model)},
                                 {"index.html", index(model)},
                                 {"dtypes.html", dtypes_page(model, dtypes)}};
  for (const Family& f : model.families()) {
    out.push_back(
        {f.name + ".html", page(f.name, html_of_page(emit_docs(model, f)))});
  }
  return out;
}

int write_site(const SiteOptions& options, std::ostream& out,
               std::ostream& err) {
  std::vector<std::string> files, with = options.with;
  if (with.empty()) with = {library_of("schemas/ops/any.yaml")};
  for (const std::string& path : with) {
    const std::vector<std::string> found = known_files({}, {path});
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty()) {
    err << "sygen: error: no schema files; name them by --with\n";
    return 1;
  }
  lang::Diagnostics diagnostics;
  const Model model = Model::load(files, diagnostics);
  std::vector<DtypeList> lists;
  for (const std::string& path : options.dtypes) {
    lists.push_back({path, lang::read_file(path, diagnostics)});
  }
  std::vector<OutputFile> site = make_site(model, lists, diagnostics);
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return 1;
  }
  std::error_code failed;
  std::filesystem::create_directories(options.folder, failed);
  for (OutputFile& f : site) f.path = options.folder + '/' + f.path;
  if (!write_files(site, err)) return 1;
  out << fmt::format("{}/index.html, {} files\n", options.folder, site.size());
  return 0;
}

}  // namespace sy::codegen
