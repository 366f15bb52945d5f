#include "codegen/site/site.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "codegen/site/assets.h"
#include "codegen/site/frame.h"
#include "codegen/site/operators.h"
#include "codegen/site/search.h"
#include "codegen/site/start.h"
#include "codegen/tools/schema_files.h"
#include "lang/format.h"
#include "lang/yaml.h"

namespace sy::codegen::site {
namespace {

constexpr std::string_view kTitle = "Operators";

std::string full_name(const Family& f, const Operator& op) {
  return fmt::format("{}{}", f.is_own() ? f.ns + "::" : "",
                     op.base.schema.name().name.view());
}

// The page of each operator, by its name, "cumsum" and "mine::bump".
std::map<std::string, std::string, std::less<>> operator_pages_by_name(
    std::span<const Family> families) {
  std::map<std::string, std::string, std::less<>> out;
  for (const Family& f : families) {
    for (const Operator& op : f.operators) {
      out.emplace(full_name(f, op), operator_path(f, op));
    }
  }
  return out;
}

Navigation navigation(const std::string& title,
                      std::span<const Family> families,
                      const GuideList& guides) {
  Navigation out = {title, {}, {}};
  for (const Guide& g : guides.guides) {
    if (out.guides.empty() || out.guides.back().title != g.section) {
      out.guides.push_back({g.section, {}});
    }
    out.guides.back().links.push_back({g.path, g.title});
  }
  for (const Family& f : families) {
    NavFamily family = {{family_path(f), f.name}, {}};
    for (const Operator& op : f.operators) {
      const std::string path = operator_path(f, op);
      if (family.operators.empty() || family.operators.back().path != path) {
        family.operators.push_back({path, full_name(f, op)});
      }
    }
    // Operators that others are made of come last.
    std::stable_partition(
        family.operators.begin(), family.operators.end(),
        [](const NavLink& l) { return !l.title.starts_with('_'); });
    out.families.push_back(std::move(family));
  }
  return out;
}

// The file that each page of the reference comes from.
std::map<std::string, std::string> sources(std::span<const Family> families) {
  std::map<std::string, std::string> out;
  for (const Family& f : families) {
    out[family_path(f)] = f.path;
    for (const Operator& op : f.operators) {
      out.emplace(operator_path(f, op), op.source);
    }
  }
  return out;
}

// The model has these files first.
std::span<const Family> families_of(const std::vector<std::string>& files,
                                    const Model& model) {
  const auto all = model.families();
  std::size_t n = 0;
  const auto is_next = [&](const std::string& file) {
    return short_path(file) == all[n].path;
  };
  while (n < all.size() && std::any_of(files.begin(), files.end(), is_next)) {
    ++n;
  }
  return n == 0 ? all : all.first(n);
}

}  // namespace

std::vector<OutputFile> make_site(const std::string& title, const Model& model,
                                  std::span<const Family> families,
                                  const GuideList& guides, const Facts& facts,
                                  lang::Diagnostics& diagnostics) {
  const auto names = operator_pages_by_name(families);
  const std::vector<GuidePage> guide = guide_pages(
      guides,
      [&](std::string_view name) {
        const auto found = names.find(name);
        return found == names.end() ? "" : found->second;
      },
      diagnostics);
  const Navigation nav = navigation(title, families, guides);
  std::vector<OutputFile> out;
  for (const Asset& a : site_assets()) {
    out.push_back({fmt::format("assets/{}", a.path), std::string(a.text)});
  }
  out.push_back({"assets/search.js", search_data(families, guide)});
  const Page start = start_page(title, families, guides);
  out.push_back({start.path, framed(nav, start, {})});
  for (std::size_t i = 0; i < guide.size(); ++i) {
    Around around = {guide[i].guide->source, {}, {}};
    if (i > 0) {
      around.before = {guide[i - 1].page.path, guide[i - 1].page.title};
    }
    if (i + 1 < guide.size()) {
      around.after = {guide[i + 1].page.path, guide[i + 1].page.title};
    }
    out.push_back({guide[i].page.path, framed(nav, guide[i].page, around)});
  }
  const auto source = sources(families);
  for (const Page& page : operator_pages(model, families, facts)) {
    const auto found = source.find(page.path);
    out.push_back(
        {page.path,
         framed(nav, page,
                {found == source.end() ? "" : found->second, {}, {}})});
  }
  return out;
}

int write_site(const SiteOptions& options, std::ostream& out,
               std::ostream& err) {
  const auto schemas = schemas_with(options.with, err);
  if (!schemas) return 1;
  lang::Diagnostics diagnostics;
  const Model model = Model::load(schemas->files(), diagnostics);
  GuideList guides;
  if (!options.guides.empty()) {
    guides = read_guide_list(options.guides, diagnostics);
  }
  Facts facts;
  if (!options.facts.empty()) {
    const std::string text = lang::read_file(options.facts, diagnostics);
    if (!text.empty()) facts = read_facts(options.facts, text, diagnostics);
  }
  if (!options.timings.empty()) {
    const std::string text = lang::read_file(options.timings, diagnostics);
    if (!text.empty()) {
      read_timings(options.timings, text, &facts, diagnostics);
    }
  }
  const std::string title = !options.title.empty() ? options.title
                            : !guides.name.empty() ? guides.name
                                                   : std::string(kTitle);
  std::vector<OutputFile> site;
  if (diagnostics.empty()) {
    site = make_site(title, model, families_of(schemas->own, model), guides,
                     facts, diagnostics);
  }
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return 1;
  }
  for (OutputFile& f : site) f.path = options.folder + '/' + f.path;
  if (!write_files(site, err)) return 1;
  out << fmt::format("{}/index.html, {} files\n", options.folder, site.size());
  return 0;
}

}  // namespace sy::codegen::site
