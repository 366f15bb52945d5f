#pragma once

#include <cctype>
#include <sstream>
#include <string>
#include <vector>

// Files of schemas/ops as text for load_schema, for another namespace.

namespace sy::test {

// An entry, and what its text alone says of it.
struct MovedEntry {
  std::string name;  // "add.Tensor"
  std::string text;
  // The keys of `dispatch:`, which the text has no more.
  std::vector<std::string> keys;
};

namespace detail {

// "CPU" and "Meta" of "CPU, Meta: f" or "{CPU: f, Meta: f}".
inline void add_keys(const std::string& line, std::vector<std::string>* keys) {
  std::string word;
  for (const char c : line) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z') {
      keys->push_back(word);
    }
    word.clear();
  }
}

}  // namespace detail

inline MovedEntry moved_entry(const std::string& entry, const std::string& ns) {
  std::istringstream in(entry);
  MovedEntry out;
  std::string line, key;
  while (std::getline(in, line)) {
    if (line.starts_with("- func: ")) {
      out.name = line.substr(8, line.find('(') - 8);
      line.insert(8, ns + "::");
    }
    if (line.starts_with("  ") && line[2] != ' ') {
      key = line.substr(2, line.find(':') - 2);
    }
    // Methods are for the build.
    if (key == "variants") continue;
    if (key == "dispatch") {
      detail::add_keys(line, &out.keys);
      continue;
    }
    for (const std::string form : {"    inplace: ", "    out: "}) {
      if (key == "forms" && line.starts_with(form) && line != form + "none") {
        line.insert(form.size(), ns + "::");
      }
    }
    out.text += line + "\n";
  }
  return out;
}

// In the order of the file.
inline std::vector<MovedEntry> moved_entries(const std::string& text,
                                             const std::string& ns) {
  std::vector<MovedEntry> out;
  for (size_t at = text.find("- func: "); at != std::string::npos;) {
    const size_t next = text.find("\n- func: ", at);
    const size_t end = next == std::string::npos ? text.size() : next + 1;
    out.push_back(moved_entry(text.substr(at, end - at), ns));
    at = next == std::string::npos ? next : end;
  }
  return out;
}

}  // namespace sy::test
