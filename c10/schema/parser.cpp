#include "c10/schema/parser.h"

#include <fmt/core.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/schema/nearest.h"
#include "c10/schema/scanner.h"
#include "c10/schema/source_map.h"

namespace sy {
namespace {

using detail::Scanner;
using detail::SourceMap;

constexpr std::size_t kMaxArguments = 255;
constexpr int kMaxTypeDepth = 8;

std::string quote(std::string_view text) {
  std::string out = "'";
  out += text;
  return out += '\'';
}

// The type for a name that people write who think of C++ or Python, or "".
std::string_view foreign_type(std::string_view name) {
  struct Foreign {
    std::string_view foreign, ours;
  };
  constexpr Foreign kForeign[] = {{"double", "float"},
                                  {"int64_t", "int"},
                                  {"long", "int"},
                                  {"string", "str"},
                                  {"number", "Scalar"},
                                  {"dtype", "ScalarType"},
                                  {"TensorList", "Tensor[]"},
                                  {"IntArrayRef", "int[]"},
                                  {"memory_format", "MemoryFormat"}};
  for (const Foreign& f : kForeign) {
    if (f.foreign == name) return f.ours;
  }
  return {};
}

class Parser {
 public:
  Parser(std::string_view text, SourceMap* map) : in_(text), map_(map) {}

  FunctionSchema schema() {
    const OperatorName name = operator_name();
    if (!in_.accept("(")) {
      in_.fail_expected(fmt::format("'(' after operator name '{}'", name.name));
    }
    std::vector<Argument> arguments;
    const bool is_vararg = read_arguments(arguments);
    in_.expect("->", "after the arguments");
    std::vector<Return> returns;
    const bool is_varret = read_returns(returns);
    end("the returns");
    return FunctionSchema(name, std::move(arguments), std::move(returns),
                          is_vararg, is_varret);
  }

  OperatorName operator_name() {
    OperatorName name;
    note_name();
    std::string_view word = in_.expect_identifier("an operator name");
    if (in_.accept("::")) {
      name.ns = InternedString(word);
      note_name();
      word = in_.expect_identifier("an operator name after '::'");
    }
    name.name = InternedString(word);
    if (in_.accept(".")) {
      if (map_) map_->overload = here();
      name.overload =
          InternedString(in_.expect_identifier("an overload name after '.'"));
    }
    return name;
  }

  // `alias` takes the annotation; without it there must be none.
  Type type(std::string_view what, AliasInfo* alias) {
    Type result = base_type(what);
    if (alias && in_.accept("(")) *alias = alias_info();
    for (int depth = 0;; ++depth) {
      const std::size_t start = in_.offset();
      if (in_.accept("[")) {
        result = Type::list_of(result, list_size());
      } else if (in_.accept("?")) {
        if (result.is_optional()) Scanner::fail("'?' follows '?'", start);
        result = Type::optional_of(result);
      } else {
        return result;
      }
      if (depth == kMaxTypeDepth) {
        Scanner::fail("the type is nested deeper than 8 levels", start);
      }
    }
  }

  void end(std::string_view what) {
    if (in_.at_end()) return;
    in_.fail_expected(fmt::format("end of text after {}", what));
  }

 private:
  std::uint32_t here() { return static_cast<std::uint32_t>(in_.offset()); }

  void note_name() {
    if (map_) map_->name = map_->overload = here();
  }

  // True if the arguments end with `...`.
  bool read_arguments(std::vector<Argument>& arguments) {
    bool kwarg_only = false;
    if (in_.accept(")")) return false;
    for (;;) {
      const std::size_t start = in_.offset();
      if (in_.accept("...")) {
        in_.expect(")", "after '...'");
        return true;
      }
      if (in_.accept("*")) {
        if (kwarg_only) Scanner::fail("'*' appears twice", start);
        kwarg_only = true;
        in_.expect(",", "after '*'");
        continue;
      }
      if (arguments.size() == kMaxArguments) {
        Scanner::fail("more than 255 arguments", start);
      }
      arguments.push_back(argument(kwarg_only));
      if (in_.accept(",")) continue;
      if (in_.accept(")")) return false;
      in_.fail_expected(
          fmt::format("',' or ')' after argument '{}'", arguments.back().name));
    }
  }

  Argument argument(bool kwarg_only) {
    SourceMap::Part part;
    part.start = here();
    AliasInfo alias;
    const Type argument_type = type("an argument type", &alias);
    part.name = here();
    const std::string_view name = in_.identifier();
    if (name.empty()) fail_name(argument_type);
    DefaultValue default_value;
    if (in_.accept("=")) {
      part.default_value = here();
      default_value = detail::parse_default(in_);
    }
    if (map_) map_->arguments.push_back(part);
    return {InternedString(name), argument_type, alias, default_value,
            kwarg_only};
  }

  [[noreturn]] void fail_name(Type argument_type) {
    if (in_.peek() == '(') {
      Scanner::fail(
          "an alias annotation goes right after the base type, as in "
          "'Tensor(a!)?'",
          in_.offset());
    }
    in_.fail_expected(
        fmt::format("an argument name after type '{}'", argument_type.str()));
  }

  // True if the returns end with `...`.
  bool read_returns(std::vector<Return>& returns) {
    if (in_.accept("...")) return true;
    if (!in_.accept("(")) {
      returns.push_back(single_return());
      return false;
    }
    if (in_.accept(")")) return false;
    for (;;) {
      if (in_.accept("...")) {
        in_.expect(")", "after '...'");
        return true;
      }
      if (returns.size() == kMaxArguments) {
        Scanner::fail("more than 255 returns", in_.offset());
      }
      returns.push_back(single_return());
      if (in_.accept(",")) continue;
      if (in_.accept(")")) return false;
      in_.fail_expected(
          fmt::format("',' or ')' after return {}", returns.size()));
    }
  }

  Return single_return() {
    SourceMap::Part part;
    part.start = here();
    AliasInfo alias;
    const Type return_type = type("a return type", &alias);
    part.name = here();
    const std::string_view name = in_.identifier();
    if (map_) map_->returns.push_back(part);
    return {InternedString(name), return_type, alias};
  }

  Type base_type(std::string_view what) {
    const std::size_t start = in_.offset();
    const std::string_view name = in_.expect_identifier(what);
    if (const auto base = Type::base_named(name)) return *base;
    if (name != "__torch__") fail_type(name, start);
    std::string path(name);
    while (in_.accept(".")) {
      path += '.';
      path += in_.expect_identifier("a class name after '.'");
    }
    if (!path.starts_with("__torch__.torch.classes.")) {
      Scanner::fail(
          fmt::format(
              "expected a class type '__torch__.torch.classes.NAME', got '{}'",
              path),
          start);
    }
    return Type::class_named(path);
  }

  [[noreturn]] static void fail_type(std::string_view name, std::size_t start) {
    std::string message = "unknown type " + quote(name);
    const std::string_view ours = foreign_type(name);
    if (!ours.empty()) {
      message += "; did you mean " + quote(ours) + "?";
    } else {
      NearestName nearest(name);
      for (std::string_view base : base_type_names()) nearest.consider(base);
      message += nearest.question();
    }
    Scanner::fail(std::move(message), start);
  }

  int list_size() {
    const std::size_t start = in_.offset();
    const std::string_view digits = in_.digits();
    if (!in_.accept("]")) {
      in_.fail_expected(digits.empty() ? "a list size or ']'"
                                       : "']' after the list size");
    }
    if (digits.empty()) return 0;
    int size = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (size < 1 || size > Type::kMaxListSize) {
      Scanner::fail(fmt::format("list size must be between 1 and {}, got {}",
                                Type::kMaxListSize, digits),
                    start);
    }
    return size;
  }

  // Reads up to and including the closing parenthesis.
  AliasInfo alias_info() {
    const AliasSet before = alias_set();
    const bool is_write = in_.accept("!");
    AliasSet after;
    if (in_.accept("->")) after = alias_set();
    if (!in_.accept(")")) in_.fail_expected("')' after the alias annotation");
    return AliasInfo(before, is_write, after);
  }

  AliasSet alias_set() {
    if (in_.accept("*")) return AliasSet::of('*');
    AliasSet set;
    do {
      const std::size_t start = in_.offset();
      const std::string_view name = in_.identifier();
      if (name.empty()) in_.fail_expected("an alias letter or '*'");
      if (name.size() != 1 || name[0] < 'a' || name[0] > 'z') {
        Scanner::fail(
            fmt::format("an alias set is a letter 'a' to 'z', got '{}'", name),
            start);
      }
      set = set | AliasSet::of(name[0]);
    } while (in_.accept("|"));
    return set;
  }

  Scanner in_;
  SourceMap* map_;
};

ParseResult failure(SchemaError error) {
  ParseResult result;
  result.errors.push_back(std::move(error));
  return result;
}

}  // namespace

FunctionSchema detail::parse_mapped(std::string_view text, SourceMap* map) {
  return Parser(text, map).schema();
}

FunctionSchema parse_schema(std::string_view text) {
  return Parser(text, nullptr).schema();
}

ParseResult try_parse_schema(std::string_view text) {
  try {
    return {parse_schema(text), {}};
  } catch (const SchemaError& error) {
    return failure(error);
  }
}

ParseResult parse_and_check_schema(std::string_view text) {
  try {
    SourceMap map;
    ParseResult result{detail::parse_mapped(text, &map), {}};
    result.errors = detail::locate(detail::find_faults(*result.schema), map);
    return result;
  } catch (const SchemaError& error) {
    return failure(error);
  }
}

OperatorName parse_operator_name(std::string_view text) {
  Parser parser(text, nullptr);
  const OperatorName name = parser.operator_name();
  parser.end("the operator name");
  return name;
}

Type parse_type(std::string_view text) {
  Parser parser(text, nullptr);
  const Type type = parser.type("a type", nullptr);
  parser.end("the type");
  return type;
}

}  // namespace sy
