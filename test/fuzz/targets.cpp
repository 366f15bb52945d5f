#include "test/fuzz/targets.h"

#include <algorithm>
#include <string>
#include <vector>

#include "c10/schema/parser.h"
#include "codegen/torch/translate.h"
#include "codegen/torch/world.h"
#include "lang/entry.h"
#include "lang/parser.h"
#include "lang/words.h"
#include "lang/yaml.h"
#include "test/fuzz/file_targets.h"
#include "test/fuzz/library_target.h"
#include "test/fuzz/promise.h"

namespace sy::fuzz {
namespace {

// Errors stand in the text: on one of its lines, at most one column behind it.
void check_places(const lang::Diagnostics& diagnostics, std::string_view text) {
  std::vector<std::size_t> lengths = {0};
  for (const char c : text) {
    if (c == '\n') {
      lengths.push_back(0);
    } else {
      ++lengths.back();
    }
  }
  for (const lang::Diagnostic& d : diagnostics.all()) {
    promise(!d.message.empty(), "an error says something");
    if (d.at.line == 0) continue;
    promise(d.at.line <= lengths.size(), "an error is on a line of the text");
  }
}

// Every character of a scalar has a place, where it stands but for escapes.
void check_scalars(const lang::YamlNode& n,
                   const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < n.str().size(); ++i) {
    const lang::Location at = n.scalar.at(i);
    promise(at.line >= 1 && at.line <= lines.size() && at.column >= 1,
            "a character of a scalar is in the text");
    const char c = n.str()[i];
    if (!n.plain || c == ' ' || c == '\n' || c == '\t') continue;
    const std::string_view line = lines[at.line - 1];
    promise(at.column <= line.size() && line[at.column - 1] == c,
            "a character of a plain scalar is where its place says");
  }
  for (const lang::YamlNode& item : n.items) check_scalars(item, lines);
  for (const auto& e : n.entries) check_scalars(e.value, lines);
}

void yaml(std::string_view text) {
  lang::Diagnostics d;
  const lang::YamlNode root = lang::parse_yaml(text, "f.yaml", d);
  check_places(d, text);
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (d.empty()) check_scalars(root, lines);
}

void words(std::string_view text) {
  using lang::WordType;
  constexpr lang::WordArgument kArguments[] = {
      {"self", WordType::kTensor},   {"list", WordType::kTensors},
      {"dim", WordType::kInt},       {"p", WordType::kFloat},
      {"flag", WordType::kBool},     {"alpha", WordType::kScalar},
      {"mode", WordType::kText},     {"dtype", WordType::kDtype},
      {"device", WordType::kDevice}, {"format", WordType::kFormat},
      {"dims", WordType::kInts},     {"scales", WordType::kFloats},
      {"mask", WordType::kBools},    {"other", WordType::kOther}};
  try {
    const auto all = lang::parse_words(kArguments, text);
    promise(all.size() == std::size(kArguments), "a word or none for each");
  } catch (const lang::WordError& e) {
    promise(e.offset <= text.size() && !e.message.empty(),
            "an error is in the text");
  }
}

void schema(std::string_view text) {
  const ParseResult r = parse_and_check_schema(text);
  for (const SchemaError& e : r.errors) {
    promise(e.offset() <= text.size(), "an error is in the text");
  }
  if (!r.schema) return;
  const std::string printed = to_string(*r.schema);
  const ParseResult again = try_parse_schema(printed);
  promise(again.ok() && *again.schema == *r.schema,
          "a signature reads as it was printed");
}

void expression(std::string_view text) {
  lang::Diagnostics d;
  const lang::Expr e = lang::parse(lang::Text(std::string(text)), d);
  promise((e == nullptr) == !d.empty(), "an expression, or one error");
  promise(d.size() <= 1, "one error at most");
  if (e) {
    lang::Diagnostics none;
    const lang::Expr again = lang::parse(lang::Text(to_string(e)), none);
    promise(again && equal(e, again), "an expression reads as it was printed");
  }
  if (const lang::Expr t = codegen::torch::translate(text)) to_string(t);
}

void operators(std::string_view text) {
  lang::Diagnostics d;
  const lang::SchemaFile file =
      lang::read_schema(std::string(text), "f.yaml", d);
  for (const lang::OperatorEntry& e : file.entries) check_types(e, d);
  lang::check_duplicates(std::span(&file, 1), d);
  check_places(d, text);
}

void torch(std::string_view text) {
  using codegen::torch::FileKind;
  std::vector<codegen::torch::SourceFile> files;
  for (const FileKind kind : {FileKind::kNative, FileKind::kTags,
                              FileKind::kDerivatives, FileKind::kBackend}) {
    files.push_back({"f.yaml", std::string(text), kind});
  }
  lang::Diagnostics d;
  check_world(codegen::torch::World::load(files, d), d);
  check_places(d, text);
  codegen::torch::report(d, files);
}

constexpr Target kTargets[] = {{"yaml", &yaml},
                               {"schema", &schema},
                               {"expression", &expression},
                               {"words", &words},
                               {"operators", &operators},
                               {"torch", &torch},
                               {"safetensors", &safetensors},
                               {"safetensors_index", &safetensors_index},
                               {"npy", &npy},
                               {"npz", &npz},
                               {"pickle", &pickle},
                               {"torch_archive", &torch_archive},
                               {"program_text", &program_text},
                               {"size_expression", &size_expression},
                               {"library", &library}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

}  // namespace sy::fuzz
