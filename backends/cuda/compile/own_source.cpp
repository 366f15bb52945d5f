#include "backends/cuda/compile/own_source.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "backends/cuda/device/launch_head.cuh"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

using Kind = OwnParameter::Kind;

constexpr const char* kOp = "cuda.compile";

struct Type {
  std::string_view name;
  Kind kind;
  uint8_t bytes;
  ScalarType element;
};
using enum ScalarType;
constexpr Type kTypes[] = {
    {"float", Kind::kFloat, 4, Float},
    {"double", Kind::kFloat, 8, Double},
    {"bool", Kind::kBool, 1, Bool},
    {"char", Kind::kSigned, 1, Char},
    {"signed char", Kind::kSigned, 1, Char},
    {"int8_t", Kind::kSigned, 1, Char},
    {"unsigned char", Kind::kUnsigned, 1, Byte},
    {"uint8_t", Kind::kUnsigned, 1, Byte},
    {"short", Kind::kSigned, 2, Short},
    {"int16_t", Kind::kSigned, 2, Short},
    {"int", Kind::kSigned, 4, Int},
    {"int32_t", Kind::kSigned, 4, Int},
    {"long", Kind::kSigned, 8, Long},
    {"long long", Kind::kSigned, 8, Long},
    {"int64_t", Kind::kSigned, 8, Long},
    {"unsigned", Kind::kUnsigned, 4, Int},
    {"unsigned int", Kind::kUnsigned, 4, Int},
    {"uint32_t", Kind::kUnsigned, 4, Int},
    {"unsigned long", Kind::kUnsigned, 8, Long},
    {"unsigned long long", Kind::kUnsigned, 8, Long},
    {"uint64_t", Kind::kUnsigned, 8, Long},
    {"size_t", Kind::kUnsigned, 8, Long},
};
// Elements of pointers alone: no number on the host has these types.
constexpr std::pair<std::string_view, ScalarType> kElements[] = {
    {"half16", Half},
    {"bfloat16", BFloat16},
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The text with a blank for each character, but line ends, of comments and of
// texts in quotes: places stay the same.
std::string only_code(std::string_view text) {
  std::string out(text);
  size_t i = 0;
  const auto blank_to = [&](size_t end) {
    for (end = std::min(end, out.size()); i < end; ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  while (i < out.size()) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      blank_to(text.find('\n', i));
    } else if (rest.starts_with("/*")) {
      const size_t end = text.find("*/", i + 2);
      blank_to(end == text.npos ? end : end + 2);
    } else if (rest[0] == '"' || rest[0] == '\'') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != rest[0] && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      // The C of extern "C" says nothing that is looked for.
      blank_to(end + 1);
    } else {
      ++i;
    }
  }
  return out;
}

// The next place of the word at or after `from`; npos if there is none.
size_t find_word(std::string_view code, std::string_view word, size_t from) {
  for (size_t at = code.find(word, from); at != code.npos;
       at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(code[at - 1])) &&
        (end == code.size() || !is_word(code[end]))) {
      return at;
    }
  }
  return code.npos;
}

size_t skip_blanks(std::string_view code, size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])))
    ++at;
  return at;
}

// The place behind the bracket that closes the one at `open`.
size_t close_of(std::string_view code, size_t open) {
  int depth = 0;
  for (size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i + 1;
  }
  return code.npos;
}

// The text before the function's name since the last declaration.
std::string_view head_of(std::string_view code, size_t at) {
  const size_t before = code.find_last_of(";{}", at);
  const size_t begin = before == code.npos ? 0 : before + 1;
  return code.substr(begin, at - begin);
}

struct Found {
  size_t name = 0;  // its place
  std::string_view head, parameters;
};

// The definition: a name behind `void`, and a body behind the parameters.
Found find_function(std::string_view code, std::string_view name) {
  for (size_t at = find_word(code, name, 0); at != code.npos;
       at = find_word(code, name, at + 1)) {
    const size_t open = skip_blanks(code, at + name.size());
    if (open >= code.size() || code[open] != '(') continue;
    const size_t close = close_of(code, open);
    if (close == code.npos) break;
    const size_t body = skip_blanks(code, close);
    const std::string_view head = head_of(code, at);
    if (body >= code.size() || code[body] != '{' ||
        find_word(head, "void", 0) == head.npos) {
      continue;
    }
    SY_CHECK(find_word(head, "template", 0) == head.npos, Value,
             "[{}] name: expected a function that is no template, got {}", kOp,
             name);
    return {at, head, code.substr(open + 1, close - open - 2)};
  }
  fail(ErrorKind::Value,
       "[{}] name: expected a function 'void {}(...) {{' in the source, found "
       "none",
       kOp, name);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (is_word(text[i]) && end < text.size() && is_word(text[end])) ++end;
    out.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

bool is_part_of_type(const std::string& word) {
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const Type& t) {
    return find_word(t.name, word, 0) != t.name.npos;
  });
}

[[noreturn]] void refuse(std::string_view function, std::string_view text,
                         const char* why) {
  fail(ErrorKind::Value,
       "[{}] {}: expected parameters that are numbers or pointers to elements "
       "of tensors, got '{}': {}",
       kOp, function, text, why);
}

OwnParameter parameter_of(std::string_view function, std::string_view text,
                          size_t number) {
  std::vector<std::string> words = words_of(text);
  OwnParameter out;
  out.is_const = std::find(words.begin(), words.end(), "const") <
                 std::find(words.begin(), words.end(), "*");
  std::erase_if(words, [](const std::string& w) {
    return w == "const" || w == "__restrict__" || w == "__restrict" ||
           w == "volatile";
  });
  const auto star = std::find(words.begin(), words.end(), "*");
  const bool pointer = star != words.end();
  auto type_end = star;
  if (!pointer) {
    type_end = std::find_if_not(words.begin(), words.end(), is_part_of_type);
    if (type_end == words.begin() && !words.empty()) ++type_end;
  }
  std::string type;
  for (auto w = words.begin(); w != type_end; ++w) {
    type += (type.empty() ? "" : " ") + *w;
  }
  const auto name = pointer ? star + 1 : type_end;
  if (words.end() - name > 1) {
    refuse(function, text, "nothing else has such a form");
  }
  out.name = name == words.end() ? str("argument {}", number) : *name;
  out.type =
      (out.is_const && pointer ? "const " : "") + type + (pointer ? "*" : "");
  for (const Type& t : kTypes) {
    if (t.name != type) continue;
    if (pointer) {
      out.element = t.element;
    } else {
      out.kind = t.kind;
      out.bytes = t.bytes;
    }
    return out;
  }
  if (pointer && type == "void") return out;
  for (const auto& [element, dtype] : kElements) {
    if (!pointer || element != type) continue;
    out.element = dtype;
    return out;
  }
  refuse(function, text, "its type is not known");
}

std::vector<OwnParameter> parameters_of(std::string_view function,
                                        std::string_view text) {
  std::vector<OwnParameter> out;
  const std::vector<std::string> words = words_of(text);
  if (words.empty() || (words.size() == 1 && words[0] == "void")) return out;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    one.remove_prefix(skip_blanks(one, 0));
    one = one.substr(0, one.find_last_not_of(" \t\r\n") + 1);
    out.push_back(parameter_of(function, one, out.size() + 1));
    if (comma == text.size()) return out;
    text.remove_prefix(comma + 1);
  }
}

// The number of __launch_bounds__(256); 1024 if there is none.
unsigned threads_of(std::string_view head) {
  constexpr std::string_view kWord = "__launch_bounds__";
  size_t at = find_word(head, kWord, 0);
  if (at == head.npos) return 1024;
  at = skip_blanks(head, at + kWord.size());
  if (at < head.size()) at = skip_blanks(head, at + 1);
  unsigned n = 0;
  const std::string_view number = head.substr(std::min(at, head.size()));
  const auto read =
      std::from_chars(number.data(), number.data() + number.size(), n);
  return read.ec == std::errc() && n >= 1 && n <= 1024 ? n : 1024;
}

// The function becomes one that the kernel calls: the words that make it a
// kernel give way to others of their length.
std::string as_function(std::string_view text, std::string_view code) {
  std::string out(text);
  constexpr std::string_view kGlobal = "__global__", kDevice = "__device__";
  static_assert(kGlobal.size() == kDevice.size());
  for (size_t at = find_word(code, kGlobal, 0); at != code.npos;
       at = find_word(code, kGlobal, at + 1)) {
    out.replace(at, kGlobal.size(), kDevice);
  }
  constexpr std::string_view kBounds = "__launch_bounds__";
  for (size_t at = find_word(code, kBounds, 0); at != code.npos;
       at = find_word(code, kBounds, at + 1)) {
    const size_t open = skip_blanks(code, at + kBounds.size());
    const size_t end = std::min(close_of(code, open), out.size());
    std::fill(out.begin() + static_cast<ptrdiff_t>(at),
              out.begin() + static_cast<ptrdiff_t>(end), ' ');
  }
  return out;
}

}  // namespace

OwnSource read_own_source(std::string_view text, std::string_view name) {
  SY_CHECK(!name.empty() && std::all_of(name.begin(), name.end(), is_word) &&
               std::isdigit(static_cast<unsigned char>(name[0])) == 0,
           Value, "[{}] name: expected the name of a function, got '{}'", kOp,
           name);
  const std::string code = only_code(text);
  const Found found = find_function(code, name);
  OwnSource out;
  out.name = name;
  out.symbol = str("sy_own_{}", name);
  out.threads = threads_of(found.head);
  out.parameters = parameters_of(name, found.parameters);

  std::string members, arguments;
  size_t at = sizeof(LaunchHead);
  for (size_t i = 0; i < out.parameters.size(); ++i) {
    OwnParameter& p = out.parameters[i];
    at = (at + p.bytes - 1) / p.bytes * p.bytes;
    p.offset = at;
    at += p.bytes;
    members += str(" {} a{};", p.type, i);
    arguments += str("{}p.a{}", i == 0 ? "" : ", ", i);
  }
  out.params_bytes = (at + alignof(LaunchHead) - 1) / alignof(LaunchHead) *
                     alignof(LaunchHead);
  constexpr size_t kMostBytes = 4096;
  SY_CHECK(out.params_bytes <= kMostBytes, Value,
           "[{}] {}: expected at most {} bytes of arguments, got {}", kOp, name,
           kMostBytes, out.params_bytes);
  out.kernels =
      str("#line 1 \"{}.cu\"\n{}\n#line 1 \"the call of {}\"\n"
          "namespace {} {{\nstruct Params {{ LaunchHead head;{} }};\n"
          "SY_KERNEL({}, Params, {}) {{ ::{}({}); }}\n}}\n",
          name, as_function(text, code), name, "sy_own", members, out.symbol,
          out.threads, name, arguments);
  return out;
}

}  // namespace sy::cuda
