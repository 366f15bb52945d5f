#include "tools/sy/prove/schema_texts.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "c10/process/error.h"
#include "lang/words.h"

namespace sy::tools {

namespace {

constexpr std::string_view kFunc = "func:", kDerivative = "derivative:";
constexpr size_t kNumbers = 12;  // of an entry

std::string_view trimmed(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \"'");
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(" \"'\r") - begin + 1);
}

void add_literals(std::string_view line, std::vector<std::string>* out) {
  for (const char quote : {'\'', '"'}) {
    for (size_t at = line.find(quote); at != line.npos;) {
      const size_t end = line.find(quote, at + 1);
      if (end == line.npos) break;
      const std::string text(line.substr(at + 1, end - at - 1));
      const bool plain =
          !text.empty() && text.find_first_of(" (){},'\"") == text.npos;
      if (plain && std::find(out->begin(), out->end(), text) == out->end()) {
        out->push_back(text);
      }
      at = line.find(quote, at + 1);
    }
  }
}

// Numbers that stand alone: no part of a name.
void add_numbers(std::string_view line, std::vector<double>* out) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           c == '.';
  };
  for (size_t at = 0; at < line.size();) {
    if (!is_word(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() &&
           (is_word(line[end]) ||
            (line[end] == '-' && (line[end - 1] | 0x20) == 'e' && end > at))) {
      ++end;
    }
    const std::string word(line.substr(at, end - at));
    char* rest = nullptr;
    const double x = std::strtod(word.c_str(), &rest);
    const bool digit = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    if (digit && *rest == '\0' && out->size() < kNumbers &&
        std::find(out->begin(), out->end(), x) == out->end()) {
      out->push_back(x);
    }
    at = end;
  }
}

// The value of a key, if the line has it; else npos.
size_t value_of(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == line.npos) return at;
  const std::string_view before = trimmed(line.substr(0, at));
  const bool begins = before.empty() || before == "-" || before.back() == '{' ||
                      before.back() == ',';
  return begins ? at + key.size() : line.npos;
}

// Why there is none; "" if the value does not say so.
std::string because(std::string_view value) {
  value = trimmed(value);
  value = value.substr(0, value.find_last_not_of("}'\" ") + 1);
  const auto reason = lang::parse_no_derivative(value);
  return reason ? std::string(reason->why) : "";
}

}  // namespace

SchemaTexts::SchemaTexts(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::ifstream in(file);
    SY_CHECK(in.good(), Value, "cannot read {}", file);
    entry_ = nullptr;
    for (std::string line; std::getline(in, line);) read(line);
  }
}

void SchemaTexts::read(std::string_view line) {
  if (trimmed(line).starts_with('#')) return;
  add_literals(line, &texts_);
  const size_t func = value_of(line, kFunc);
  if (func != line.npos) {
    const std::string_view name = trimmed(line.substr(func));
    entry_ = &entries_[std::string(name.substr(0, name.find('(')))];
    derivative_ = false;
  }
  if (entry_ == nullptr) return;
  if (derivative_) {
    derivative_ = trimmed(line).empty();
    entry_->no_derivative = because(line);
  }
  const size_t value = value_of(line, kDerivative);
  if (value != line.npos) {
    const std::string_view here = trimmed(line.substr(value));
    derivative_ = here.empty() || here[0] == '>' || here[0] == '|';
    if (!derivative_) entry_->no_derivative = because(here);
    return;
  }
  const bool words = value_of(line, "doc:") != line.npos ||
                     value_of(line, "example:") != line.npos;
  if (func == line.npos && !words) add_numbers(line, &entry_->numbers);
}

Hints SchemaTexts::hints(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return {texts_, {}};
  return {texts_, found->second.numbers};
}

std::string SchemaTexts::no_derivative(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? "" : found->second.no_derivative;
}

}  // namespace sy::tools
