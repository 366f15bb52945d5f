#include "codegen/torch/files.h"

#include <algorithm>
#include <optional>

#include "codegen/model_names.h"
#include "codegen/torch/vocabulary.h"
#include "lang/schema_keys.h"
#include "lang/yaml.h"
#include "model/backends.h"

namespace sy::codegen::torch {
namespace {

template <typename Words>
bool has(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// A line of a map: `  - word: …`, with the column of the word.
struct KeyLine {
  std::string_view word;
  std::size_t column;
  bool first;  // after `- `
};

std::optional<KeyLine> key_of(std::string_view line) {
  std::size_t at = std::min(line.find_first_not_of(' '), line.size());
  bool first = false;
  while (line.substr(at).starts_with("- ")) {
    first = true;
    at = std::min(line.find_first_not_of(' ', at + 2), line.size());
  }
  if (first && at < line.size() && line[at] == '{') {
    at = std::min(line.find_first_not_of(' ', at + 1), line.size());
  }
  const std::size_t colon = line.find(':', at);
  if (colon == std::string_view::npos || line[at] == '#') return std::nullopt;
  return KeyLine{line.substr(at, colon - at), at, first};
}

// Looks at lines, not at the tree: a file with broken YAML has a kind too.
// `keys` are those that `dispatch:` of our files may name. If none is a
// described backend, they may be those of any backend.
std::optional<FileKind> kind_of(std::string_view text,
                                std::span<const std::string_view> keys) {
  const bool described =
      std::any_of(keys.begin(), keys.end(),
                  [](std::string_view key) { return !is_alias_key(key); });
  std::optional<std::size_t> entry;  // the column of an entry's keys
  bool torch = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const auto key = key_of(text.substr(begin, end - begin));
    begin = end + 1;
    if (!key) continue;
    if (!entry && !key->first && key->word == "backend") {
      return is_own_backend_file(text) ? FileKind::kOwn : FileKind::kBackend;
    }
    if (!entry && key->first) {
      if (key->word == "tag") return FileKind::kTags;
      entry = key->column;
      if (key->word == "name") {
        // Our tags.yaml has names too, which are no signatures.
        const auto line = text.substr(0, end);
        return line.rfind('(') != std::string_view::npos &&
                       line.rfind("->") != std::string_view::npos
                   ? FileKind::kDerivatives
                   : FileKind::kOwn;
      }
    }
    if (entry && key->column == *entry) {
      const lang::SchemaKey* known = lang::find_key(key->word);
      if (!known) continue;
      if (known->origin == lang::SchemaKey::kOwn) return FileKind::kOwn;
      torch |= known->origin == lang::SchemaKey::kTorch;
    } else if (entry && key->column > *entry && !torch) {
      const std::string_view word = key->word.substr(0, key->word.find(','));
      torch = is_dispatch_key(word) && !has(keys, word) &&
              (described || !is_backend_key(word));
    }
  }
  if (torch) return FileKind::kNative;
  return std::nullopt;
}

std::string_view line_at(std::string_view text, std::size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

constexpr std::size_t kMaxLine = 300;

// The line of an error; of a very long one the part around its place.
void quote(std::string& out, std::string_view line, std::size_t column) {
  std::size_t begin = 0;
  if (line.size() > kMaxLine && column > kMaxLine / 2) {
    begin = std::min(column - kMaxLine / 2, line.size());
  }
  const std::string_view shown = line.substr(begin, kMaxLine);
  out += "\n  ";
  out += shown;
  out += "\n  ";
  for (std::size_t i = begin; i < column; ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    // Bytes that continue a character of UTF-8 take no room.
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    out += c == '\t' ? '\t' : ' ';
  }
  out += '^';
}

}  // namespace

std::vector<SourceFile> read_sources(std::span<const std::string> paths,
                                     lang::Diagnostics& diagnostics) {
  std::vector<SourceFile> files;
  std::vector<Backend> backends;
  for (const std::string& path : paths) {
    files.push_back({path, lang::read_file(path, diagnostics), {}});
    if (!is_own_backend_file(files.back().text)) continue;
    lang::Diagnostics later;  // the loader of the file reports these
    backends.push_back(read_backend(files.back().text, path, later));
  }
  const auto keys = dispatch_keys(backends);
  std::vector<bool> open;  // only the other files can tell the kind
  bool torch = false;
  for (SourceFile& file : files) {
    const auto kind = kind_of(file.text, keys);
    const std::size_t slash = file.path.find_last_of('/');
    const std::string_view name = std::string_view(file.path).substr(
        slash == std::string::npos ? 0 : slash + 1);
    if (kind) {
      file.kind = *kind;
    } else if (name == "native_functions.yaml") {
      file.kind = FileKind::kNative;
    }
    open.push_back(!kind && !file.is_torch());
    torch |= file.is_torch() && file.kind != FileKind::kBackend;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (torch && open[i]) files[i].kind = FileKind::kNative;
  }
  return files;
}

std::string report(const lang::Diagnostics& diagnostics,
                   std::span<const SourceFile> files) {
  std::string out;
  const SourceFile* file = nullptr;
  std::uint32_t line = 1;
  std::size_t begin = 0;
  // Errors come by file and line, so that each text is walked once.
  for (const lang::Diagnostic& d : diagnostics.sorted()) {
    if (!out.empty()) out += '\n';
    out += to_string(d);
    if (d.at.line == 0) continue;
    if (!file || d.at.file != file->path) {
      const auto it = std::find_if(
          files.begin(), files.end(),
          [&](const SourceFile& f) { return d.at.file == f.path; });
      if (it == files.end()) continue;
      file = &*it;
      line = 1;
      begin = 0;
    }
    while (line < d.at.line && begin < file->text.size()) {
      begin = std::min(file->text.find('\n', begin), file->text.size() - 1) + 1;
      ++line;
    }
    const std::string_view source = line_at(file->text, begin);
    if (source.empty()) continue;
    quote(out, source, d.at.column ? d.at.column - 1 : 0);
  }
  return out;
}

}  // namespace sy::codegen::torch
