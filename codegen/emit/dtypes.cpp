#include <array>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "lang/yaml.h"

namespace sy::codegen {
namespace {

constexpr std::array<std::string_view, 3> kCategories = {"bool", "integral",
                                                         "floating"};

struct Dtype {
  std::string name, enumerator, cpp;
  std::vector<std::string> aliases;
  int category = 0;
  int rank = 0;
  int size = 0;
  std::vector<std::pair<std::string, std::string>> joins;
};

int bytes_of(const std::string& name) {
  const std::size_t digits = name.find_first_of("0123456789");
  return digits == std::string::npos ? 1 : std::stoi(name.substr(digits)) / 8;
}

std::vector<Dtype> read(const lang::YamlNode& root,
                        lang::Diagnostics& diagnostics) {
  static constexpr std::string_view kKeys[] = {
      "name", "enum", "alias", "cpp", "category", "rank", "join"};
  std::vector<Dtype> out;
  for (const lang::YamlNode& item : root.items) {
    lang::check_keys(item, "a dtype", kKeys, diagnostics);
    const auto text = [&](const char* key) -> std::string {
      const lang::YamlNode* n = item.find(key);
      if (!n) diagnostics.error(item.at, "a dtype needs '{}:'", key);
      return n ? n->str() : std::string();
    };
    Dtype d;
    d.name = text("name");
    d.enumerator = text("enum");
    d.cpp = text("cpp");
    d.size = bytes_of(d.name);
    const std::string category = text("category");
    for (std::size_t i = 0; i < kCategories.size(); ++i) {
      if (kCategories[i] == category) d.category = static_cast<int>(i);
    }
    const std::string rank = text("rank");
    d.rank = rank.empty() ? 0 : rank[0] - '0';
    if (const lang::YamlNode* n = item.find("alias")) {
      for (const lang::Text& a : lang::yaml_list(*n, "alias", diagnostics)) {
        d.aliases.push_back(a.str());
      }
    }
    if (const lang::YamlNode* n = item.find("join")) {
      for (const lang::YamlNode::Entry& e : n->entries) {
        d.joins.emplace_back(e.key.str(), e.value.str());
      }
    }
    out.push_back(std::move(d));
  }
  return out;
}

std::size_t index_of(const std::vector<Dtype>& all, const std::string& name) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  return 0;
}

std::size_t promote(const std::vector<Dtype>& all, std::size_t a,
                    std::size_t b) {
  if (a == b) return a;
  if (all[a].category != all[b].category) {
    return all[a].category > all[b].category ? a : b;
  }
  if (all[a].rank != all[b].rank) return all[a].rank > all[b].rank ? a : b;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    for (const auto& [other, result] : all[from].joins) {
      if (other == all[to].name) return index_of(all, result);
    }
  }
  return a;
}

void types_macro(Writer& w, const std::vector<Dtype>& all) {
  std::vector<std::string> lines = {"#define SY_FORALL_SCALAR_TYPES(X)"};
  std::size_t width = lines[0].size();
  for (const Dtype& d : all) {
    lines.push_back(fmt::format("  X({}, {})", d.cpp, d.enumerator));
    width = std::max(width, lines.back().size());
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = lines[i];
    if (i + 1 < lines.size()) {
      line.resize(width + 1, ' ');
      line += '\\';
    }
    w.raw(line + '\n');
  }
}

void tables(Writer& w, const std::vector<Dtype>& all) {
  const std::size_t n = all.size();
  w.line("enum class ScalarType : uint8_t {");
  for (std::size_t i = 0; i < all.size(); ++i) {
    w.line("  {} = {},", all[i].enumerator, i);
  }
  w.line("  Undefined = {},", n);
  w.line("};");
  w.gap();
  w.line("inline constexpr int kNumScalarTypes = {};", n);
  w.gap();
  for (const Dtype& d : all) {
    for (const std::string& alias : d.aliases) {
      w.line("inline constexpr ScalarType {} = ScalarType::{};", alias,
             d.enumerator);
    }
  }
  w.gap();
  w.comment(
      "category: 0 bool, 1 integral, 2 floating; promotion compares it "
      "first.");
  w.raw(R"(struct ScalarTypeInfo {
  const char* name;       // "float32"
  const char* enum_name;  // "Float"
  uint8_t size;           // bytes of one element
  uint8_t category;
};
)");
  w.gap();
  w.line("inline constexpr ScalarTypeInfo kScalarTypeInfo[] = {");
  for (const Dtype& d : all) {
    w.line(R"(    {{"{}", "{}", {}, {}}},)", d.name, d.enumerator, d.size,
           d.category);
  }
  w.line(R"(    {"undefined", "Undefined", 0, 0},)");
  w.line("};");
  w.gap();
  w.comment("promote_types(a, b), by number.");
  w.line("inline constexpr uint8_t kPromoteTypes[{0}][{0}] = {{", n);
  for (std::size_t a = 0; a < all.size(); ++a) {
    std::vector<std::string> row;
    for (std::size_t b = 0; b < all.size(); ++b) {
      row.push_back(std::to_string(promote(all, a, b)));
    }
    w.raw("    {{{}}},  // {}\n", join(row, ", "), all[a].name);
  }
  w.line("};");
}

}  // namespace

std::string emit_dtypes(std::string_view yaml, std::string_view file,
                        lang::Diagnostics& diagnostics) {
  const auto all = read(lang::parse_yaml(yaml, file, diagnostics), diagnostics);
  Writer w;
  w.line("// Generated from {} by sygen. Do not edit.", file);
  w.raw("#pragma once\n\n#include <cstdint>\n\n// X(cpp_type, Enum)\n");
  types_macro(w, all);
  open_namespace(w, "sy");
  w.gap();
  tables(w, all);
  close_namespace(w, "sy");
  return w.str();
}

}  // namespace sy::codegen
