#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lang/format.h"
#include "lang/location.h"

namespace sy::lang {

struct Diagnostic {
  Location at;
  std::string message;

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

// "file:line:col: error: message"
std::string to_string(const Diagnostic& d);

// Collects the errors of a run, so that all of them are told at once. Every
// function that takes one returns null or a partial result after an error and
// goes on with the rest. Not safe for several threads.
class Diagnostics {
 public:
  void error(const Location& at, std::string message);
  // The message from a format and what it holds.
  template <class Arg, class... Args>
  void error(const Location& at,
             fmt::format_string<const Arg&, const Args&...> format,
             const Arg& arg, const Args&... args) {
    error(at, fmt::format(format, arg, args...));
  }
  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size(); }
  // The errors as reported.
  std::span<const Diagnostic> all() const { return errors_; }
  // The errors by place, each once.
  std::vector<Diagnostic> sorted() const;
  // The same, one a line.
  std::string str() const;
  // The text of the file that errors at `file` refer to.
  void add_source(std::string_view file, std::string_view text);
  // The text of str(), each error with the line of its file, where that is
  // known, and a caret.
  std::string str_with_sources() const;

 private:
  std::vector<Diagnostic> errors_;
  std::map<std::string, std::string, std::less<>> sources_;
};

// Thrown by the short forms that take no Diagnostics; what() is their str().
class LangError : public std::runtime_error {
 public:
  explicit LangError(const Diagnostics& d) : std::runtime_error(d.str()) {}
};

// " (did you mean 'X'?)" for the nearest of `names`, or nothing.
std::string suggest(std::string_view name,
                    std::span<const std::string_view> names);

// suggest() for many names that may be wrong, among the same ones. The first
// wrong ones are looked for, so that a file of errors takes no longer than
// another. Not safe for several threads.
class Suggestions {
 public:
  // `names()` gives all that there are.
  template <class F>
  std::string of(std::string_view name, const F& names) {
    if (const auto it = given_.find(name); it != given_.end()) {
      return it->second;
    }
    if (given_.size() == kMost) return {};
    return given_.emplace(name, suggest(name, names())).first->second;
  }

 private:
  static constexpr std::size_t kMost = 100;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace sy::lang
