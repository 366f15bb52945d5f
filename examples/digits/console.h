#pragma once

#include <string>
#include <string_view>

#include "examples/digits/train.h"

namespace digits {

// Standard output: lines, and, if it is a terminal, colours and a bar that is
// redrawn in place. In a file there are no control codes.
class Console {
 public:
  Console();

  bool terminal() const { return terminal_; }
  void heading(std::string_view text);
  void line(std::string_view text);
  // Text for line(), set off from the rest on a terminal.
  std::string bold(std::string_view text) const;
  std::string faint(std::string_view text) const;

  // Shows a run as it goes: each epoch's loss and test accuracy, and the bar.
  Watcher watch(const Options& options);
  // The bar only: for a run whose epochs are of no interest.
  Watcher watch_briefly(const Options& options);

 private:
  void draw_bar(const Options& options, int epoch, double part);
  void erase_bar();

  bool terminal_;
  int drawn_ = -1;  // filled cells of the bar on the screen; -1: there is none
};

// "▇▇▇▇    " of `cells` characters; `part` from 0 to 1.
std::string bar(double part, int cells);

}  // namespace digits
