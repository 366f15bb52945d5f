#include "codegen/tools/json_schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "codegen/tools/commands.h"
#include "codegen/tools/schema_files.h"
#include "lang/entry.h"
#include "lang/schema_keys.h"
#include "lang/yaml.h"

namespace sy::codegen {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

using Names = std::set<std::string, std::less<>>;

Names keys_of(std::span<const lang::SchemaKey> keys) {
  Names out;
  for (const lang::SchemaKey& k : keys) out.emplace(k.name);
  return out;
}

// The keys that the reader says there are, when it meets another.
Names known_to_reader(const std::string& entry) {
  lang::Diagnostics d;
  lang::read_schema("- func: f(Tensor self) -> Tensor\n" + entry, "a.yaml", d);
  const std::string told = d.str();
  const std::string before = "; the keys are ";
  Names out;
  std::size_t at = told.find(before);
  if (at == std::string::npos) return out;
  std::istringstream words(told.substr(
      at + before.size(), told.find('\n', at) - at - before.size()));
  for (std::string word; words >> word;) {
    if (word.back() == ',') word.pop_back();
    out.insert(word);
  }
  return out;
}

TEST(JsonSchema, KnowsTheKeysThatTheReaderKnows) {
  EXPECT_EQ(keys_of(lang::operator_keys()), known_to_reader("  zzzzzz: 1\n"));
  EXPECT_EQ(keys_of(lang::reduce_keys()),
            known_to_reader("  reduce: {zzzzzz: 1}\n"));
  EXPECT_EQ(keys_of(lang::scan_keys()),
            known_to_reader("  scan: {zzzzzz: 1}\n"));
  EXPECT_EQ(keys_of(lang::view_keys()),
            known_to_reader("  view: {zzzzzz: 1}\n"));
  EXPECT_EQ(keys_of(lang::promote_keys()),
            known_to_reader("  promote: {zzzzzz: 1}\n"));
  EXPECT_EQ(keys_of(lang::form_keys()),
            known_to_reader("  forms: {zzzzzz: 1}\n"));
}

TEST(JsonSchema, KnowsTheWordsThatTheCheckerKnows) {
  const std::string_view keys[] = {"Npu", "CompositeExplicitAutograd"};
  const std::string text = json_schema({}, keys);
  for (const std::string_view key : keys) {
    EXPECT_NE(text.find(key), std::string::npos) << key;
  }
  EXPECT_EQ(text.find("CPU"), std::string::npos);
  for (const std::string_view rule : lang::promote_rules()) {
    EXPECT_NE(text.find('"' + std::string(rule) + '"'), std::string::npos);
  }
}

TEST(JsonSchema, TheFileIsWhatIsMade) {
  std::ostringstream out, err;
  EXPECT_EQ(print_json_schema("schemas/tags.yaml", out, err), 0) << err.str();
  EXPECT_EQ(read("schemas/operators.schema.json"), out.str())
      << "sygen json-schema schemas/tags.yaml > schemas/operators.schema.json";
}

// JSON is YAML: every reference has a definition, every property a type.
TEST(JsonSchema, IsWhole) {
  lang::Diagnostics d;
  const std::string text = json_schema({}, {});
  const lang::YamlNode root = lang::parse_yaml(text, "a.json", d);
  ASSERT_TRUE(d.empty()) << d.str();
  const lang::YamlNode* definitions = root.find("definitions");
  ASSERT_TRUE(definitions);
  const std::string ref = "#/definitions/";
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(ref, at)) != std::string::npos;
       ++n) {
    at += ref.size();
    const std::string name = text.substr(at, text.find('"', at) - at);
    EXPECT_TRUE(definitions->find(name)) << name;
  }
  EXPECT_GT(n, 30u);
  const lang::YamlNode* properties =
      definitions->find("operator")->find("properties");
  ASSERT_TRUE(properties);
  EXPECT_EQ(properties->entries.size(), lang::operator_keys().size());
}

TEST(JsonSchema, TheRepositorysOwnPointToIt) {
  for (const std::string& path : schema_files("schemas/ops")) {
    if (is_tags(path)) continue;
    EXPECT_TRUE(read(path).starts_with(
        "# yaml-language-server: $schema=../operators.schema.json\n"))
        << path;
  }
}

TEST(JsonSchema, EscapesStrings) {
  EXPECT_EQ(json_string("a\"b\\c\nd\x01"), "\"a\\\"b\\\\c\\nd\\u0001\"");
}

TEST(SchemaFiles, AFileIsCheckedBesideItsLibrary) {
  EXPECT_TRUE(library_of("schemas/ops/math.yaml").ends_with("/schemas"));
  EXPECT_EQ(known_files({"x/math.yaml", "tags.yaml"}, {"schemas"}).size() + 2,
            schema_files("schemas").size() + backend_files("schemas").size());
}

TEST(SchemaFiles, ALibraryKnowsTheBackendsThatAreNoPlugins) {
  const std::string root = ::testing::TempDir() + "with_backends/";
  const std::string npu = root + "backends/npu", gpu = root + "backends/gpu";
  for (const std::string& folder : {root + "schemas", npu, gpu}) {
    std::filesystem::create_directories(folder);
  }
  const std::string text = "cpp_namespace: x\nsupported: []\n";
  std::ofstream(npu + "/backend.yaml") << "backend: Npu\n" << text;
  std::ofstream(gpu + "/backend.yaml") << "backend: Gpu\nplugin: true\n"
                                       << text;
  EXPECT_EQ(backend_files(root + "schemas"),
            std::vector<std::string>{npu + "/backend.yaml"});
}

}  // namespace
}  // namespace sy::codegen
