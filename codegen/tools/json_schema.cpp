#include "codegen/tools/json_schema.h"

#include <vector>

#include "codegen/text.h"
#include "lang/entry.h"
#include "lang/schema_keys.h"

namespace sy::codegen {
namespace {

constexpr const char* kText = R"({"type": "string"})";
constexpr const char* kExpression =
    R"({"type": ["string", "number", "boolean", "array"]})";

template <class List>
std::string enumeration(const List& list) {
  std::string out;
  for (const auto& s : list) {
    out += (out.empty() ? "" : ", ") + json_string(s);
  }
  return fmt::format(R"({{"enum": [{}]}})", out);
}

std::string reference(std::string_view type) {
  return fmt::format(R"({{"$ref": "#/definitions/{}"}})", type);
}

std::string one_of(const std::vector<std::string>& types) {
  return fmt::format(R"({{"oneOf": [{}]}})", join(types, ", "));
}

std::string any_of(const std::vector<std::string>& types) {
  return fmt::format(R"({{"anyOf": [{}]}})", join(types, ", "));
}

std::string array_of(std::string_view type) {
  return fmt::format(R"({{"type": "array", "items": {}}})", type);
}

// Any keys, with values of that type.
std::string map_to(std::string_view type) {
  return fmt::format(R"({{"type": "object", "additionalProperties": {}}})",
                     type);
}

// The keys of a map as "properties", each on a line.
std::string properties(std::span<const lang::SchemaKey> keys,
                       std::string_view indent) {
  std::string out = fmt::format("{}\"properties\": {{\n", indent);
  for (const lang::SchemaKey& k : keys) {
    append(out, R"({}  {}: {{"description": {}, "$ref": "#/definitions/{}"}})",
           indent, json_string(k.name), json_string(k.doc), k.type);
    out += &k == &keys.back() ? "\n" : ",\n";
  }
  append(out, "{}}}", indent);
  return out;
}

// The schema of a map, for "definitions".
std::string map_of(std::span<const lang::SchemaKey> keys,
                   std::string_view required = "") {
  return fmt::format(R"({{
      "type": "object",
      "additionalProperties": false,
{}{}
    }})",
                     required, properties(keys, "      "));
}

// One kind at most.
std::string one_kind() {
  constexpr std::string_view kKinds[] = {"pointwise", "reduce",  "scan",
                                         "composite", "foreach", "view",
                                         "dispatch"};
  std::string each;
  std::vector<std::string> any;
  for (const std::string_view k : kKinds) {
    any.push_back(fmt::format(R"({{"required": ["{}"]}})", k));
    append(each, "        {},\n", any.back());
  }
  return fmt::format(R"(      "oneOf": [
{}        {{"not": {}}}
      ],
)",
                     each, any_of(any));
}

std::string key_pattern(std::span<const std::string_view> keys) {
  std::string any;
  for (const std::string_view k : keys) {
    append(any, "{}{}", any.empty() ? "" : "|", k);
  }
  if (any.empty()) any = "[A-Za-z][A-Za-z0-9_]*";
  return fmt::format("^({0})( *, *({0}))*$", any);
}

std::string words(const std::string& item) {
  return one_of({kText, array_of(item)});
}

struct Definition {
  std::string name, text;
};

std::vector<Definition> definitions(std::span<const std::string> tags,
                                    std::span<const std::string_view> keys) {
  const std::string tag = tags.empty() ? kText : enumeration(tags);
  const std::string expression = reference("expression");
  const std::string signature = reference("signature");
  const std::string condition = any_of({expression, map_to(kText)});
  return {
      {"any", "{}"},
      {"bool", R"({"type": "boolean"})"},
      {"text", kText},
      {"signature", R"({"type": "string", "pattern": "^[^(]+\\(.*\\) *->"})"},
      {"expression", kExpression},
      {"expressions", kExpression},
      {"expressions_by_name", one_of({expression, map_to(expression)})},
      {"names", words(kText)},
      {"tags", words(tag)},
      {"variants", words(R"({"enum": ["function", "method"]})")},
      {"device_check", R"({"enum": ["NoCheck", "ExactSame", true, false]})"},
      {"promote_rule", enumeration(lang::promote_rules())},
      {"promote",
       one_of({reference("promote_rule"), map_of(lang::promote_keys())})},
      {"reduce", map_of(lang::reduce_keys(),
                        "      \"required\": [\"map\", \"combine\"],\n")},
      {"scan", map_of(lang::scan_keys())},
      {"view", map_of(lang::view_keys(), "      \"required\": [\"sizes\"],\n")},
      {"dispatch",
       fmt::format(R"({{"type": "object", "propertyNames": {{"pattern": {}}}, )"
                   R"("additionalProperties": {{"type": "string", )"
                   R"("pattern": "^[A-Za-z0-9_]+$"}}}})",
                   json_string(key_pattern(keys)))},
      {"require", any_of({condition, array_of(condition)})},
      {"derivative",
       one_of(
           {R"({"enum": ["auto", "non_differentiable"]})",
            R"({"type": "string", "pattern": "^(none|non_differentiable), because ."})",
            map_to(expression)})},
      {"form", one_of({R"({"enum": ["none", false]})", signature})},
      {"forms", one_of({R"({"enum": ["none"]})", array_of(signature),
                        map_of(lang::form_keys())})},
      {"operator", map_of(lang::operator_keys(),
                          "      \"required\": [\"func\"],\n" + one_kind())},
  };
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append(out, "\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_schema(std::span<const std::string> tags,
                        std::span<const std::string_view> keys) {
  std::string out = fmt::format(R"({{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Operators of Switchyard",
  "description": "Made by sygen json-schema.",
  "type": ["array", "null"],
  "items": {},
  "definitions": {{
)",
                                reference("operator"));
  const std::vector<Definition> all = definitions(tags, keys);
  for (const Definition& d : all) {
    append(out, "    {}: {}{}\n", json_string(d.name), d.text,
           &d == &all.back() ? "" : ",");
  }
  return out + "  }\n}\n";
}

}  // namespace sy::codegen
