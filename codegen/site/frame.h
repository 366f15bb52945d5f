#pragma once

#include <string>
#include <vector>

#include "codegen/site/page.h"

namespace sy::codegen::site {

struct NavLink {
  std::string path, title;
};
struct NavSection {
  std::string title;
  std::vector<NavLink> links;
};
struct NavFamily {
  NavLink family;
  std::vector<NavLink> operators;
};

// The parts that all pages have in common.
struct Navigation {
  std::string name;  // of the site
  std::vector<NavSection> guides;
  std::vector<NavFamily> families;
};

// The parts of the frame of one page; any of them may be empty.
struct Around {
  std::string source;  // the file that the page was made of
  NavLink before, after;
};

// The whole HTML of a page: header, navigation, the body with links at its
// headings, the list of these, footer. Headings without an id get one.
std::string framed(const Navigation& navigation, const Page& page,
                   const Around& around);

}  // namespace sy::codegen::site
