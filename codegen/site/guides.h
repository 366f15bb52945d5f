#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/site/markdown.h"
#include "codegen/site/page.h"
#include "lang/diagnostics.h"

namespace sy::codegen::site {

struct Guide {
  std::string file;    // to read: "docs/../README.md"
  std::string source;  // as the page names it: "README.md"
  std::string path;    // in the site: "guides/readme.html"
  std::string title, sentence;
  std::string section;  // of the navigation
  lang::Location at;    // its place in the list
};

// A link from the start page to a page that most people look for.
struct Door {
  std::string target;  // in the site: "guides/contributing.html#an-operator"
  std::string title, sentence;
  lang::Location at;
};

// A folder of guides, as its guides.txt describes it. Lines are
//   name: Switchyard                what the site is about
//   says: Two sentences.            on the start page
//   program: FILE, output: FILE     a first program and what it prints
//   door: FILE.md#part: Title: A sentence.      a file of the list, or
//   door: operators.html: Title: A sentence.    a page of the site
//   section: Title                  of the guides that follow
//   FILE.md: Title: A sentence.
// and comments with #. Paths are relative to the folder. Without the file, all
// .md files of the folder by name.
struct GuideList {
  std::string root;  // above the folder: `source` is a path from there
  std::string name, says;
  std::string program, output;  // their texts
  std::vector<Door> doors;
  std::vector<Guide> guides;
};

// Reports lines of other forms, files that do not exist, and .md files of the
// folder that the list lacks, README.md apart.
GuideList read_guide_list(const std::string& folder,
                          lang::Diagnostics& diagnostics);

struct GuidePage {
  Page page;
  const Guide* guide;  // of the list
  std::vector<Section> sections;
};

// The guides as pages. `operator_page` gives the page of an operator of that
// C++ name ("cumsum", "mine::bump"), or "". A link to a file that is no guide
// is shown as its path. Reports links to nothing, with file and line.
std::vector<GuidePage> guide_pages(
    const GuideList& list,
    const std::function<std::string(std::string_view)>& operator_page,
    lang::Diagnostics& diagnostics);

}  // namespace sy::codegen::site
