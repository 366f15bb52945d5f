#include "codegen/site/operators_words.h"

#include <algorithm>

#include "codegen/model_names.h"
#include "codegen/text.h"
#include "model/cpp_types.h"

namespace sy::codegen::site {
namespace {

struct KindWords {
  std::string_view name, meaning;
};
constexpr KindWords kKinds[] = {
    {"pointwise", "each element of the result from the elements at its place"},
    {"reduce", "elements along some dims become one"},
    {"scan", "each element combined with all before it"},
    {"composite", "made of other operators"},
    {"foreach", "the same for each of some tensors"},
    {"view", "other sizes and strides on the same memory"},
    {"kernel", "a function written for it"},
};

std::string_view base_words(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTensor: return "tensor";
    case TypeKind::kScalar: return "number";
    case TypeKind::kInt:
    case TypeKind::kSymInt: return "int";
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return "float";
    case TypeKind::kBool:
    case TypeKind::kSymBool: return "bool";
    case TypeKind::kStr: return "text";
    case TypeKind::kScalarType: return "dtype";
    case TypeKind::kLayout: return "layout";
    case TypeKind::kDevice: return "device";
    case TypeKind::kMemoryFormat: return "memory format";
    case TypeKind::kGenerator: return "generator";
    default: return "";
  }
}

// The words of an argument whose name means the same in every operator.
std::string_view common_words(const Argument& a) {
  struct Common {
    std::string_view name;
    TypeKind type;
    std::string_view words;
  };
  constexpr Common kCommon[] = {
      {"dim", TypeKind::kInt, "negative ones count from the end"},
      {"keepdim", TypeKind::kBool,
       "whether the result keeps `dim`, with size 1"},
      {"dtype", TypeKind::kScalarType, "of the result"},
      {"layout", TypeKind::kLayout, "of the result"},
      {"device", TypeKind::kDevice, "of the result"},
      {"generator", TypeKind::kGenerator,
       "of the random numbers; the device has one of its own"},
      {"memory_format", TypeKind::kMemoryFormat,
       "in which order the dims lie in memory"},
      {"output_mask", TypeKind::kBool, "which gradients are wanted"},
      {"grad_output", TypeKind::kTensor, "gradient of the result"},
  };
  for (const Common& c : kCommon) {
    if (a.name.view() == c.name && a.type.base() == c.type) return c.words;
  }
  return {};
}

std::string requirement(const lang::Requirement& r) {
  const std::string condition = to_string(r.condition.expr);
  if (r.message.empty()) return fmt::format("`{}`", condition);
  return fmt::format("{}: `{}`", r.message.str(), condition);
}

// Whether it is about this argument alone.
bool is_about(const Operator& op, const lang::Requirement& r,
              const Argument& a) {
  for (const Argument& other : op.base.schema.arguments()) {
    const bool named = mentions(r.condition.expr, other.name.view());
    if (named != (other.name == a.name)) return false;
  }
  return true;
}

bool broadcasts(const Operator& op, const Argument& a) {
  return op.kind() == lang::OperatorKind::kPointwise &&
         a.type.without_optional() == TypeKind::kTensor &&
         op.tensor_arguments().size() > 1;
}

bool promotes(const Operator& op, const Argument& a) {
  const auto& promote = op.entry->promote;
  if (!promote || promote->arguments.empty()) return true;
  return std::any_of(
      promote->arguments.begin(), promote->arguments.end(),
      [&](const lang::Text& t) { return t.str() == a.name.view(); });
}

}  // namespace

std::string_view kind_name(const Operator& op) {
  if (op.entry->is_foreach) return "foreach";
  if (op.kind() != lang::OperatorKind::kDispatch) return to_string(op.kind());
  return op.has_kernel("CompositeImplicitAutograd") ? "composite" : "kernel";
}

std::string_view kind_meaning(std::string_view kind) {
  for (const KindWords& k : kKinds) {
    if (k.name == kind) return k.meaning;
  }
  return {};
}

std::string type_words(Type type) {
  if (type.is_optional()) return type_words(type.element()) + ", or none";
  if (!type.is_list()) {
    const std::string_view words = base_words(type.kind());
    return std::string(words.empty() ? type.str() : words);
  }
  const Type element = type.element();
  const std::string each = type_words(element.without_optional()) + "s";
  if (element.is_optional()) return each + ", some of them none";
  if (type.size() == 0) return each;
  if (element == TypeKind::kBool) {
    return fmt::format("{} {}", type.size(), each);
  }
  if (type.size() == 1) return each + ", or one";
  return fmt::format("{} {}, or one for all", type.size(), each);
}

std::string default_words(const Argument& a) {
  if (!a.default_value) return "";
  if (a.default_value.is_none()) return "none";
  return default_text(a);
}

std::vector<std::string> argument_words(const Operator& op, const Argument& a) {
  std::vector<std::string> out;
  if (a.is_write()) out.emplace_back("is written");
  if (const auto words = common_words(a); !words.empty()) {
    out.emplace_back(words);
  }
  if (broadcasts(op, a)) {
    out.emplace_back(promotes(op, a) ? "broadcast with the other tensors"
                                     : "broadcast; its dtype does not count");
  }
  if (const int n = required_length(a); n > 0) {
    out.push_back(fmt::format("exactly {} values", n));
  }
  for (const lang::Requirement& r : op.entry->require) {
    if (is_about(op, r, a)) out.push_back(requirement(r));
  }
  return out;
}

std::string result_words(const FunctionSchema& schema) {
  const auto returns = schema.returns();
  if (returns.empty()) return "nothing";
  std::string out;
  if (returns.size() == 1) {
    out = type_words(returns[0].type);
  } else {
    const bool same =
        std::all_of(returns.begin(), returns.end(),
                    [&](const Return& r) { return r.type == returns[0].type; });
    const std::string type = type_words(returns[0].type);
    out = same ? fmt::format("{} {}s", returns.size(), type)
               : fmt::format("{} values", returns.size());
  }
  std::vector<std::string> names;
  for (const Return& r : returns) {
    if (!r.name.view().empty()) {
      names.push_back(fmt::format("`{}`", r.name.view()));
    }
  }
  return names.empty() ? out : out + ": " + join(names, ", ");
}

std::vector<std::string> joint_requirements(const Operator& op) {
  std::vector<std::string> out;
  const auto args = op.base.schema.arguments();
  for (const lang::Requirement& r : op.entry->require) {
    if (std::none_of(args.begin(), args.end(),
                     [&](const Argument& a) { return is_about(op, r, a); })) {
      out.push_back(requirement(r));
    }
  }
  return out;
}

std::string head_comment(std::string_view text) {
  std::string out;
  while (text.starts_with('#')) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(1, end - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (line.starts_with("yaml-language-server:")) continue;
    if (!out.empty() && !line.empty()) out += ' ';
    out += line;
  }
  return out;
}

std::pair<std::string, std::string> first_sentence(const std::string& text) {
  const std::size_t at = text.find(". ");
  if (at == text.npos) return {text, ""};
  return {text.substr(0, at + 1), text.substr(at + 2)};
}

std::string entry_lines(std::string_view text, const Operator& op) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < op.entry->at.line; ++line) {
    begin = text.find('\n', begin);
    if (begin == text.npos) return "";
    ++begin;
  }
  std::size_t end = begin;
  // The entry ends before a line that is empty or begins another item.
  do {
    end = text.find('\n', end);
    if (end == text.npos) return std::string(text.substr(begin));
    ++end;
  } while (end < text.size() && text[end] == ' ');
  return std::string(text.substr(begin, end - begin));
}

}  // namespace sy::codegen::site
