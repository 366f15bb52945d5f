#include <string>

#include "c10/schema/function_schema.h"

namespace sy {
namespace {

void print(std::string& out, AliasSet set) {
  bool first = true;
  const auto add = [&](char c) {
    if (!first) out += '|';
    first = false;
    out += c;
  };
  for (char c = 'a'; c <= 'z'; ++c) {
    if (set.intersects(AliasSet::of(c))) add(c);
  }
  if (set.is_wildcard()) add('*');
}

void print(std::string& out, AliasInfo alias) {
  print(out, alias.before());
  if (alias.is_write()) out += '!';
  if (!alias.has_after()) return;
  out += " -> ";
  print(out, alias.after());
}

// The annotation belongs to the base type: `Tensor(a!)[]`.
void print(std::string& out, Type type, AliasInfo alias) {
  const std::string_view text = type.str();
  if (!alias) {
    out += text;
    return;
  }
  const std::size_t base = type.base().str().size();
  out += text.substr(0, base);
  out += '(';
  print(out, alias);
  out += ')';
  out += text.substr(base);
}

void print(std::string& out, const Argument& argument) {
  print(out, argument.type, argument.alias);
  out += ' ';
  out += argument.name;
  if (argument.default_value) {
    out += '=';
    out += argument.default_value.str();
  }
}

void print(std::string& out, const Return& ret) {
  print(out, ret.type, ret.alias);
  if (ret.name.empty()) return;
  out += ' ';
  out += ret.name;
}

void print(std::string& out, const OperatorName& name) {
  if (!name.ns.empty()) {
    out += name.ns;
    out += "::";
  }
  out += name.name;
  if (!name.overload.empty()) {
    out += '.';
    out += name.overload;
  }
}

void print_arguments(std::string& out, const FunctionSchema& schema) {
  bool first = true;
  bool star = false;
  const auto separate = [&] {
    if (!first) out += ", ";
    first = false;
  };
  for (const Argument& argument : schema.arguments()) {
    separate();
    if (argument.kwarg_only && !star) {
      out += "*, ";
      star = true;
    }
    print(out, argument);
  }
  if (!schema.is_vararg()) return;
  separate();
  out += "...";
}

void print_returns(std::string& out, const FunctionSchema& schema) {
  if (schema.is_varret() && schema.returns().empty()) {
    out += "...";
    return;
  }
  const bool alone = schema.returns().size() == 1 && !schema.is_varret();
  if (!alone) out += '(';
  bool first = true;
  for (const Return& ret : schema.returns()) {
    if (!first) out += ", ";
    first = false;
    print(out, ret);
  }
  if (schema.is_varret()) out += ", ...";
  if (!alone) out += ')';
}

}  // namespace

std::string to_string(const FunctionSchema& schema) {
  std::string out;
  out.reserve(64 + 32 * schema.arguments().size());
  print(out, schema.name());
  out += '(';
  print_arguments(out, schema);
  out += ") -> ";
  print_returns(out, schema);
  return out;
}

std::string to_string(const OperatorName& name) {
  std::string out;
  print(out, name);
  return out;
}

std::string to_string(const Argument& argument) {
  std::string out;
  print(out, argument);
  return out;
}

std::string to_string(const Return& ret) {
  std::string out;
  print(out, ret);
  return out;
}

std::string to_string(AliasInfo alias) {
  std::string out;
  print(out, alias);
  return out;
}

}  // namespace sy
