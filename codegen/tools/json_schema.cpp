#include "codegen/tools/json_schema.h"

#include <cstdio>
#include <vector>

#include "codegen/lang/model.h"
#include "codegen/lang/schema_keys.h"

namespace sy::codegen {
namespace {

template <class List>
std::string string_list(const List& list) {
  std::string out;
  for (const auto& s : list) {
    out += (out.empty() ? "" : ", ") + json_string(s);
  }
  return '[' + out + ']';
}

std::string ref(std::string_view type) {
  return "\"$ref\": " + json_string("#/definitions/" + std::string(type));
}

// The keys of a map as "properties", each on a line.
std::string properties(std::span<const lang::SchemaKey> keys,
                       const std::string& indent) {
  std::string out = indent + "\"properties\": {\n";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    out += indent + "  " + json_string(keys[i].name) +
           ": {\"description\": " + json_string(keys[i].doc) + ", " +
           ref(keys[i].type) + '}' + (i + 1 < keys.size() ? ",\n" : "\n");
  }
  return out + indent + "}";
}

std::string map_of(std::span<const lang::SchemaKey> keys,
                   const std::vector<std::string>& required,
                   const std::string& indent) {
  std::string out = "{\n" + indent + "\"type\": \"object\",\n" + indent +
                    "\"additionalProperties\": false,\n";
  if (!required.empty()) {
    out += indent + "\"required\": " + string_list(required) + ",\n";
  }
  return out + properties(keys, indent) + "\n" +
         indent.substr(0, indent.size() - 2) + "}";
}

// One kind at most.
std::string one_kind() {
  constexpr std::string_view kKinds[] = {"pointwise", "reduce",  "scan",
                                         "composite", "foreach", "view",
                                         "dispatch"};
  std::string each, any;
  for (const std::string_view k : kKinds) {
    const std::string part = "{\"required\": [" + json_string(k) + "]}";
    each += "        " + part + ",\n";
    any += (any.empty() ? "" : ", ") + part;
  }
  return "      \"oneOf\": [\n" + each + "        {\"not\": {\"anyOf\": [" +
         any + "]}}\n      ],\n";
}

std::string operator_type() {
  return "{\n      \"type\": \"object\",\n"
         "      \"additionalProperties\": false,\n"
         "      \"required\": [\"func\"],\n" +
         one_kind() + properties(lang::operator_keys(), "      ") + "\n    }";
}

std::string key_pattern(std::span<const std::string_view> keys) {
  std::string any;
  for (const std::string_view k : keys) {
    any += (any.empty() ? "" : "|") + std::string(k);
  }
  if (any.empty()) any = "[A-Za-z][A-Za-z0-9_]*";
  return "^(" + any + ")( *, *(" + any + "))*$";
}

std::string words(const std::string& item) {
  return "{\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"array\", "
         "\"items\": " +
         item + "}]}";
}

constexpr std::string_view kExpression =
    "{\"type\": [\"string\", \"number\", \"boolean\", \"array\"]}";

struct Definition {
  std::string name, text;
};

std::vector<Definition> definitions(std::span<const std::string> tags,
                                    std::span<const std::string_view> keys) {
  const std::string tag = tags.empty()
                              ? "{\"type\": \"string\"}"
                              : "{\"enum\": " + string_list(tags) + '}';
  const std::string named =
      "{\"oneOf\": [{" + ref("expression") +
      "}, {\"type\": \"object\", \"additionalProperties\": {" +
      ref("expression") + "}}]}";
  const std::string condition =
      "{\"anyOf\": [{" + ref("expression") +
      "}, {\"type\": \"object\", \"additionalProperties\": "
      "{\"type\": \"string\"}}]}";
  return {
      {"any", "{}"},
      {"bool", "{\"type\": \"boolean\"}"},
      {"text", "{\"type\": \"string\"}"},
      {"signature",
       "{\"type\": \"string\", \"pattern\": \"^[^(]+\\\\(.*\\\\) *->\"}"},
      {"expression", std::string(kExpression)},
      {"expressions", std::string(kExpression)},
      {"expressions_by_name", named},
      {"names", words("{\"type\": \"string\"}")},
      {"tags", words(tag)},
      {"variants", words("{\"enum\": [\"function\", \"method\"]}")},
      {"device_check", "{\"enum\": [\"NoCheck\", \"ExactSame\", true, false]}"},
      {"promote_rule",
       "{\"enum\": " + string_list(lang::promote_rules()) + '}'},
      {"promote", "{\"oneOf\": [{" + ref("promote_rule") + "}, " +
                      map_of(lang::promote_keys(), {}, "      ") + "]}"},
      {"reduce", map_of(lang::reduce_keys(), {"map", "combine"}, "      ")},
      {"scan", map_of(lang::scan_keys(), {}, "      ")},
      {"view", map_of(lang::view_keys(), {"sizes"}, "      ")},
      {"dispatch", "{\"type\": \"object\", \"propertyNames\": {\"pattern\": " +
                       json_string(key_pattern(keys)) +
                       "}, \"additionalProperties\": {\"type\": \"string\", "
                       "\"pattern\": \"^[A-Za-z0-9_]+$\"}}"},
      {"require", "{\"anyOf\": [" + condition +
                      ", {\"type\": \"array\", \"items\": " + condition +
                      "}]}"},
      {"derivative",
       "{\"oneOf\": [{\"enum\": [\"auto\", \"non_differentiable\"]}, "
       "{\"type\": \"object\", \"additionalProperties\": {" +
           ref("expression") + "}}]}"},
      {"form", "{\"oneOf\": [{\"enum\": [\"none\", false]}, {" +
                   ref("signature") + "}]}"},
      {"forms",
       "{\"oneOf\": [{\"enum\": [\"none\"]}, {\"type\": \"array\", "
       "\"items\": {" +
           ref("signature") + "}}, " + map_of(lang::form_keys(), {}, "      ") +
           "]}"},
      {"operator", operator_type()},
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
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_schema(std::span<const std::string> tags,
                        std::span<const std::string_view> keys) {
  std::string out =
      "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
      "  \"title\": \"Operators of Switchyard\",\n"
      "  \"description\": \"Made by sygen json-schema.\",\n"
      "  \"type\": [\"array\", \"null\"],\n  \"items\": {" +
      ref("operator") + "},\n  \"definitions\": {\n";
  const std::vector<Definition> all = definitions(tags, keys);
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += "    " + json_string(all[i].name) + ": " + all[i].text +
           (i + 1 < all.size() ? ",\n" : "\n");
  }
  return out + "  }\n}\n";
}

}  // namespace sy::codegen
