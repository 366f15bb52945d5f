#include "tools/sy/support/html.h"

#include "c10/process/error.h"
#include "tools/sy/support/markup.h"

namespace sy::tools {

std::string html_head(const std::string& title) {
  const std::string text = markup_text(title);
  return str(R"html(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{}</title>
<style>
body {{ font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 70em; }}
table {{ border-collapse: collapse; }}
td, th {{ padding: 2px 10px; text-align: left; vertical-align: top; }}
tr:nth-child(even) {{ background: #f4f4f4; }}
.fails, .missing, .none {{ color: #b00020; }}
.works, .native {{ color: #1b6e20; }}
.why {{ font-family: monospace; font-size: 13px; white-space: pre-wrap; }}
</style>
<input id="filter" placeholder="filter" )html"
             R"html(oninput="for (const r of )html"
             R"html(document.querySelectorAll('tbody tr')) )html"
             R"html(r.hidden = !r.textContent.includes(this.value)">
<h1>{}</h1>
)html",
             text, text);
}

}  // namespace sy::tools
