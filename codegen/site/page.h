#pragma once

#include <string>
#include <vector>

namespace sy::codegen::site {

// A page before it gets its frame: navigation, search, style.
struct Page {
  std::string path;   // in the site: "ops/add.html", "guides/lazy.html"
  std::string title;  // text, not HTML
  std::string body;   // HTML from <h1> on; links are relative to the page
  std::string place;  // marked in the navigation: "guides", "operators"
  // One sentence for search and for previews, text.
  std::string summary;
};

// The link from one page to another: link("ops/add.html", "guides/lazy.html")
// is "../guides/lazy.html".
std::string link(const std::string& from, const std::string& to);

}  // namespace sy::codegen::site
