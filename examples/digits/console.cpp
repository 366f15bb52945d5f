#include "examples/digits/console.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace digits {
namespace {

constexpr int kBarCells = 32;

bool is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 &&
         (term == nullptr || std::string_view(term) != "dumb");
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// The place of a loss between 1 and 1/1000, on a logarithmic scale.
double loss_part(double loss) {
  return std::clamp(1 + std::log10(std::max(loss, 1e-9)) / 3, 0.0, 1.0);
}

}  // namespace

std::string bar(double part, int cells) {
  const int filled = static_cast<int>(std::lround(part * cells));
  std::string text;
  for (int i = 0; i < cells; ++i) text += i < filled ? "▇" : " ";
  return text;
}

Console::Console() : terminal_(is_terminal()) {}

std::string Console::bold(std::string_view text) const {
  if (!terminal_) return std::string(text);
  return "\033[1m" + std::string(text) + "\033[0m";
}

std::string Console::faint(std::string_view text) const {
  if (!terminal_) return std::string(text);
  return "\033[2m" + std::string(text) + "\033[0m";
}

void Console::line(std::string_view text) {
  erase_bar();
  print(text);
  print("\n");
  std::fflush(stdout);
}

void Console::heading(std::string_view text) { line(bold(text)); }

void Console::draw_bar(const Options& options, int epoch, double part) {
  if (!terminal_) return;
  const double done = (epoch - 1 + part) / options.epochs;
  const int filled = static_cast<int>(std::lround(done * kBarCells));
  if (filled == drawn_) return;
  drawn_ = filled;
  std::string text = "\r\033[K  ";
  for (int i = 0; i < kBarCells; ++i) text += i < filled ? "█" : "░";
  char rest[64];
  std::snprintf(rest, sizeof rest, "  seed %llu, epoch %d of %d",
                static_cast<unsigned long long>(options.seed), epoch,
                options.epochs);
  print(text + faint(rest));
  std::fflush(stdout);
}

void Console::erase_bar() {
  if (drawn_ >= 0) print("\r\033[K");
  drawn_ = -1;
}

Watcher Console::watch(const Options& options) {
  Watcher w = watch_briefly(options);
  w.on_epoch = [this, options](const Epoch& e) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "  epoch %3d   loss %-8.4f %s  test %5.1f %%", e.number,
                  e.loss, bar(loss_part(e.loss), 24).c_str(),
                  100 * e.test_accuracy);
    line(text);
    draw_bar(options, e.number, 1);
  };
  return w;
}

Watcher Console::watch_briefly(const Options& options) {
  Watcher w;
  w.on_batch = [this, options](int epoch, double part) {
    draw_bar(options, epoch, part);
  };
  return w;
}

}  // namespace digits
