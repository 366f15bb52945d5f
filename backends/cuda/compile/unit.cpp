#include "backends/cuda/compile/unit.h"

#include <algorithm>

#include "c10/process/error.h"

namespace sy::cuda {

namespace {

// The name of `#include "name"`, "" of any other line.
std::string_view included(std::string_view line) {
  const auto skip_blanks = [&] {
    const size_t at = line.find_first_not_of(" \t");
    line.remove_prefix(std::min(at, line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip_blanks();
  constexpr std::string_view kWord = "include";
  if (!line.starts_with(kWord)) return {};
  line.remove_prefix(kWord.size());
  skip_blanks();
  if (!line.starts_with('"')) return {};
  line.remove_prefix(1);
  return line.substr(0, line.find('"'));
}

// A name that no carried file has is left to the compiler: it may be in a part
// that is not compiled.
void add_headers(std::string_view text, std::vector<const SourceFile*>* found) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view name = included(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (name.empty()) continue;
    const SourceFile* const file = find_source(name);
    if (file == nullptr ||
        std::find(found->begin(), found->end(), file) != found->end()) {
      continue;
    }
    found->push_back(file);
    add_headers(file->text, found);
  }
}

void finish(Unit* unit) {
  add_headers(unit->text, &unit->headers);
  std::sort(unit->headers.begin(), unit->headers.end(),
            [](const SourceFile* x, const SourceFile* y) {
              return x->name < y->name;
            });
}

}  // namespace

Unit carried_unit(std::string_view source, ArrayRef<Define> defines) {
  const SourceFile* const file = find_source(source);
  SY_CHECK(file != nullptr, Error,
           "[cuda] kernels: the library carries no source {}", source);
  Unit out;
  out.name = source;
  // The same unit in whatever order they are given.
  std::vector<Define> sorted(defines.begin(), defines.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Define& x, const Define& y) { return x.name < y.name; });
  for (const Define& d : sorted) {
    out.text += str("#define {} {}\n", d.name, d.value);
    out.name +=
        str("{}{}={}", out.name.size() == source.size() ? " with " : ", ",
            d.name, d.value);
  }
  // Errors name the line of the file.
  if (!defines.empty()) out.text += str("#line 1 \"{}\"\n", source);
  out.text += file->text;
  finish(&out);
  return out;
}

Unit printed_unit(std::string name, std::string_view kernels) {
  Unit out;
  out.name = std::move(name);
  out.text = "#include \"kernel.cuh\"\n";
  out.text += kernels;
  finish(&out);
  return out;
}

Hash key_of(const Unit& unit) {
  Hasher h;
  h.add(unit.text);
  for (const SourceFile* const f : unit.headers) h.add(f->name).add(f->text);
  return h.end();
}

}  // namespace sy::cuda
