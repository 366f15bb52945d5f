#include "tools/sy/prove/excuses.h"

#include <algorithm>

#include "c10/process/error.h"
#include "tools/sy/support/names.h"

namespace sy::tools {

namespace {

constexpr const char* kTrials[] = {
    "agreed",  "described", "strided",     "aliased", "threaded", "starved",
    "hostile", "gradient",  "second",      "third",   "orders",   "points",
    "values",  "constant",  "associative", "device",  "fit"};

// The position of the colon in front of the trial; npos if there is none.
// `mine::op` has two colons, which do not count.
size_t trial_colon(const std::string& text) {
  const size_t at = text.rfind(':');
  return at == text.npos || at == 0 || text[at - 1] == ':' ? text.npos : at;
}

}  // namespace

Excuses::Excuses(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const size_t colon = trial_colon(text);
    const std::string trial = colon == text.npos ? "" : text.substr(colon + 1);
    SY_CHECK(colon == text.npos ||
                 std::find(std::begin(kTrials), std::end(kTrials), trial) !=
                     std::end(kTrials),
             Value, "--except {}: no trial is named '{}'", text, trial);
    all_.push_back({text, text.substr(0, colon), trial});
  }
}

Excused Excuses::of(const std::string& name) {
  Excused out;
  for (Excuse& e : all_) {
    if (!matches(e.pattern, name)) continue;
    e.used = true;
    out.insert(e.trial);
  }
  return out;
}

std::vector<std::string> Excuses::unused() const {
  std::vector<std::string> out;
  for (const Excuse& e : all_) {
    if (!e.used) out.push_back(e.text);
  }
  return out;
}

}  // namespace sy::tools
