#pragma once

#include <string>
#include <vector>

namespace sy::tools {

struct ProveOptions {
  std::string glob;
  std::vector<std::string> plugins;
  std::vector<std::string> schemas;  // loaded first
  std::string words;                 // see calls/words.h
  // Files of lines "NAME: WORDS", as `sygen examples` prints them, besides the
  // library's own: what is called where `words` is empty.
  std::vector<std::string> examples;
  std::vector<std::string> except;  // see excuses.h
  int jobs = 2;                     // processes at a time
};

// Puts operators through every kind of trial and checks their gradients, by
// calls made from their signatures; prints a line for each. A plugin that
// brings one device adds the trials of that device. Returns 0 if all hold, 1 if
// one does not, 3 if none is wrong and something was not proven.
int run_prove(const ProveOptions& options);

}  // namespace sy::tools
