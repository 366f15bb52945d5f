#include "lang/yaml.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <fstream>
#include <streambuf>

#include "lang/yaml_source.h"
#include "lang/yaml_tree.h"

namespace sy::lang {
namespace {

// yaml-cpp stops at an alias that it does not know. The parse that reports it,
// and what is behind it, begins again for so many.
constexpr int kMaxAliases = 8;

constexpr std::size_t kMaxFile = std::size_t{256} << 20;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

class Bytes : public std::streambuf {
 public:
  explicit Bytes(std::string& text) {
    setg(text.data(), text.data(), text.data() + text.size());
  }
};

// The text as yaml-cpp understands it: it knows no line's end that is a
// carriage return alone, and takes white space behind the last line for text.
std::string prepared(std::string_view text) {
  std::string out(text);
  for (std::size_t i = out.find('\r'); i != std::string::npos;
       i = out.find('\r', i + 1)) {
    if (i + 1 == out.size() || out[i + 1] != '\n') out[i] = '\n';
  }
  const std::size_t last = out.find_last_not_of(" \t") + 1;
  if (last == 0 || out[last - 1] == '\n') out.resize(last);
  return out;
}

YamlNode read(std::string& text, YamlTree& tree) {
  Bytes bytes(text);
  std::istream in(&bytes);
  YAML::Parser parser(in);
  if (parser.HandleNextDocument(tree)) parser.HandleNextDocument(tree);
  return tree.finish();
}

}  // namespace

YamlNode parse_yaml(std::string_view text, std::string_view file,
                    Diagnostics& diagnostics) {
  diagnostics.add_source(file, text);
  const YamlSource source(text, file);
  std::string input = prepared(text);
  for (int aliases = kMaxAliases;; --aliases) {
    Diagnostics found;
    YamlTree tree(source, found);
    YamlNode root;
    try {
      source.check();
      try {
        root = read(input, tree);
      } catch (const YAML::Exception& e) {
        if (e.msg != YAML::ErrorMsg::UNKNOWN_ANCHOR || aliases == 0) {
          throw tree.explain(e);
        }
        input[source.offset(e.mark.pos)] = '&';  // is read, and reported
        continue;
      }
    } catch (const YamlError& e) {
      found.error(source.location(e.offset), "YAML: " + e.message);
    }
    for (const Diagnostic& d : found.all()) diagnostics.error(d.at, d.message);
    return root;
  }
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const Entry& e : entries) {
    if (e.key.str() == key) return &e.value;
  }
  return nullptr;
}

std::string read_file(const std::string& path, Diagnostics& diagnostics) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  // Reads in parts: a device has no end.
  for (std::size_t part = 1 << 16; in && text.size() <= kMaxFile; part *= 2) {
    const std::size_t size = text.size();
    text.resize(size + part);
    in.read(text.data() + size, static_cast<std::streamsize>(part));
    text.resize(size + static_cast<std::size_t>(in.gcount()));
  }
  Location at;
  at.file = std::string_view(path);
  if (!in.eof() || text.size() > kMaxFile) {
    diagnostics.error(at, text.size() > kMaxFile
                              ? "the file is larger than 256 MiB"
                              : "the file cannot be read");
    return {};
  }
  return text;
}

void check_keys(const YamlNode& map, std::string_view what,
                std::span<const std::string_view> known,
                Diagnostics& diagnostics) {
  for (const YamlNode::Entry& e : map.entries) {
    const std::string& key = e.key.str();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (key == "<<") continue;  // an error of the reader's
    std::string message = "unknown key '" + key + "' in " + std::string(what);
    const std::string nearest = suggest(key, known);
    if (!nearest.empty()) {
      message += nearest;
    } else {
      message += "; the keys are";
      for (std::size_t i = 0; i < known.size(); ++i) {
        message += (i ? ", " : " ") + std::string(known[i]);
      }
    }
    diagnostics.error(e.key.start(), std::move(message));
  }
}

bool yaml_bool(const YamlNode& node, std::string_view what,
               Diagnostics& diagnostics) {
  if (node.str() == "true" || node.str() == "True") return true;
  if (node.str() != "false" && node.str() != "False") {
    diagnostics.error(node.at,
                      "expected true or false for '" + std::string(what) + "'");
  }
  return false;
}

std::vector<Text> split_commas(const Text& text) {
  std::vector<Text> out;
  const std::string& s = text.str();
  for (std::size_t begin = 0; begin <= s.size();) {
    const std::size_t end = std::min(s.find(',', begin), s.size());
    std::size_t first = begin;
    std::size_t last = end;
    while (first < last && is_space(s[first])) ++first;
    while (last > first && is_space(s[last - 1])) --last;
    if (first < last) {
      out.emplace_back(s.substr(first, last - first), text.at(first));
    }
    begin = end + 1;
  }
  return out;
}

std::vector<Text> yaml_list(const YamlNode& node, std::string_view what,
                            Diagnostics& diagnostics) {
  if (node.is_scalar()) return split_commas(node.scalar);
  std::vector<Text> out;
  if (!node.is_sequence()) {
    if (!node.is_null()) {
      diagnostics.error(node.at,
                        "expected a list for '" + std::string(what) + "'");
    }
    return out;
  }
  for (const YamlNode& item : node.items) {
    if (item.is_scalar()) {
      out.push_back(item.scalar);
    } else {
      diagnostics.error(item.at,
                        "expected words in '" + std::string(what) + "'");
    }
  }
  return out;
}

}  // namespace sy::lang
