#include "lang/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace sy::lang {
namespace {

constexpr std::size_t kMaxElements = 1'000'000;

struct Piece {
  std::string_view text;
  std::size_t offset;
};

[[noreturn]] void fail(Piece at, std::string message) {
  throw WordError{at.offset, std::move(message)};
}
[[noreturn]] void expected(Piece at, std::string_view what) {
  fail(at, "expected " + std::string(what) + ", got '" + std::string(at.text) +
               "'");
}

// The parts between single `by`s; an empty part is one too.
std::vector<Piece> split(Piece p, char by) {
  std::vector<Piece> out;
  while (true) {
    const std::size_t end = p.text.find(by);
    out.push_back({p.text.substr(0, end), p.offset});
    if (end == std::string_view::npos) return out;
    p = {p.text.substr(end + 1), p.offset + end + 1};
  }
}

std::vector<Piece> words_of(std::string_view text) {
  std::vector<Piece> out;
  for (const Piece& p : split({text, 0}, ' ')) {
    if (!p.text.empty()) out.push_back(p);
  }
  return out;
}

std::optional<NumberWord> number(std::string_view text) {
  NumberWord n;
  const char* const end = text.data() + text.size();
  if (const auto r = std::from_chars(text.data(), end, n.i);
      r.ec == std::errc() && r.ptr == end) {
    n.d = static_cast<double>(n.i);
    return n;
  }
  n.is_int = false;
  if (const auto r = std::from_chars(text.data(), end, n.d);
      r.ec != std::errc() || r.ptr != end || text.empty()) {
    return std::nullopt;
  }
  return n;
}

double real(Piece p) {
  const auto n = number(p.text);
  if (!n) expected(p, "a number");
  return n->d;
}

NumberWord whole(Piece p) {
  // Signatures name the kinds of `reduction` so.
  if (p.text == "Mean") return {true, 1, 1};
  if (p.text == "Sum") return {true, 2, 2};
  const auto n = number(p.text);
  if (!n || !n->is_int) expected(p, "an int");
  return *n;
}

NumberWord truth(Piece p) {
  if (p.text == "True" || p.text == "1") return {true, 1, 1};
  if (p.text == "False" || p.text == "0") return {};
  expected(p, "True or False");
}

// The part of `p` after `mark`, which is taken off.
std::optional<Piece> take_after(Piece& p, char mark) {
  const std::size_t at = p.text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const Piece rest{p.text.substr(at + 1), p.offset + at + 1};
  p.text = p.text.substr(0, at);
  return rest;
}

TensorWord tensor(Piece p) {
  TensorWord out;
  const Piece all = p;
  const auto values = take_after(p, '=');
  const auto kind = take_after(p, ':');
  if (p.text.ends_with('!')) {
    out.constant = true;
    p.text.remove_suffix(1);
  }
  const auto shift = take_after(p, '+');
  const auto factor = take_after(p, '*');
  if (factor) out.factor = real(*factor);
  if (shift) out.shift = real(*shift);
  std::size_t numel = 1;
  if (p.text != "s") {
    for (const Piece& size : split(p, 'x')) {
      const auto n = number(size.text);
      if (!n || !n->is_int || n->i < 0) {
        expected(all, "a tensor as 2x3, or 's' for one without dims");
      }
      out.sizes.push_back(n->i);
      numel *= static_cast<std::size_t>(n->i);
      if (numel > kMaxElements) fail(all, "a tensor of too many elements");
    }
  }
  if (kind && kind->text == "b") {
    out.kind = TensorWord::kBool;
  } else if (kind && !kind->text.empty() &&
             std::string_view("isc").find(kind->text[0]) !=
                 std::string_view::npos) {
    out.kind = kind->text[0] == 'i'   ? TensorWord::kInt
               : kind->text[0] == 's' ? TensorWord::kInt32
                                      : TensorWord::kInt8;
    if (kind->text.size() > 1 || !values) {
      out.below = real({kind->text.substr(1), kind->offset + 1});
    }
  } else if (kind) {
    expected(*kind, "'b', or 'i', 's' or 'c' and a number");
  }
  if (!values) return out;
  for (const Piece& v : split(*values, ',')) out.values.push_back(real(v));
  if (out.values.size() != numel) {
    fail(*values, "expected " + std::to_string(numel) + " numbers, got " +
                      std::to_string(out.values.size()));
  }
  return out;
}

std::vector<TensorWord> tensors(Piece p) {
  if (p.text.size() < 2 || p.text.front() != '{' || p.text.back() != '}') {
    expected(p, "a list of tensors as {2x3;3}");
  }
  p = {p.text.substr(1, p.text.size() - 2), p.offset + 1};
  std::vector<TensorWord> out;
  if (p.text.empty()) return out;
  for (const Piece& item : split(p, ';')) {
    if (item.text == "None") {
      out.emplace_back().defined = false;
    } else {
      out.push_back(tensor(item));
    }
  }
  return out;
}

void one_of(Piece p, std::span<const std::string_view> names,
            std::string_view what) {
  if (std::find(names.begin(), names.end(), p.text) == names.end()) {
    expected(p, what);
  }
}

Word parse(WordType type, Piece p) {
  static constexpr auto kDtypes = std::to_array<std::string_view>(
      {"uint8", "int8", "int16", "int32", "int64", "float16", "float32",
       "float64", "bool", "bfloat16", "long", "int", "float", "double",
       "half"});
  static constexpr auto kFormats =
      std::to_array<std::string_view>({"contiguous_format", "preserve_format",
                                       "channels_last", "channels_last_3d"});
  static constexpr auto kLayouts = std::to_array<std::string_view>({"strided"});
  Word w;
  w.text = std::string(p.text);
  w.is_none = p.text == "None";
  if (w.is_none) return w;
  const auto list = [&](auto&& item) {
    if (p.text == "[]") return;
    for (const Piece& n : split(p, ',')) w.numbers.push_back(item(n));
  };
  const auto any = [](Piece n) {
    const auto v = number(n.text);
    if (!v) expected(n, "a number");
    return *v;
  };
  switch (type) {
    case WordType::kTensor: w.tensors = {tensor(p)}; break;
    case WordType::kTensors: w.tensors = tensors(p); break;
    case WordType::kInt: w.numbers = {whole(p)}; break;
    case WordType::kFloat: w.numbers = {any(p)}; break;
    case WordType::kBool: w.numbers = {truth(p)}; break;
    case WordType::kScalar:
      w.is_bool = p.text == "True" || p.text == "False";
      w.numbers = {w.is_bool ? truth(p) : any(p)};
      break;
    case WordType::kInts: list(whole); break;
    case WordType::kFloats:
    case WordType::kScalars: list(any); break;
    case WordType::kBools: list(truth); break;
    case WordType::kText: break;
    case WordType::kDevice:
      if (p.text != "cpu" && p.text != "meta") expected(p, "cpu or meta");
      break;
    case WordType::kDtype: one_of(p, kDtypes, "a dtype as float32"); break;
    case WordType::kFormat:
      one_of(p, kFormats, "a memory format as channels_last");
      break;
    case WordType::kLayout: one_of(p, kLayouts, "strided"); break;
    case WordType::kOther: expected(p, "None");
  }
  return w;
}

// The argument of `name=word`; -1 if it begins with no argument's name.
int named(std::span<const WordArgument> arguments, std::string_view word) {
  const std::size_t at = word.find('=');
  if (at == std::string_view::npos) return -1;
  const auto it = std::find_if(
      arguments.begin(), arguments.end(),
      [&](const WordArgument& a) { return a.name == word.substr(0, at); });
  return it == arguments.end() ? -1 : static_cast<int>(it - arguments.begin());
}

}  // namespace

std::vector<std::optional<Word>> parse_words(
    std::span<const WordArgument> arguments, std::string_view text) {
  std::vector<std::optional<Word>> out(arguments.size());
  std::size_t next = 0;
  for (Piece p : words_of(text)) {
    const int name = named(arguments, p.text);
    const std::size_t i = name < 0 ? next : static_cast<std::size_t>(name);
    if (name >= 0) p = *take_after(p, '=');
    if (i >= arguments.size()) {
      fail(p, "'" + std::string(p.text) + "' is for no argument; there are " +
                  std::to_string(arguments.size()));
    }
    const std::string what = "argument '" + std::string(arguments[i].name);
    if (out[i]) fail(p, what + "' has two words");
    try {
      out[i] = parse(arguments[i].type, p);
    } catch (WordError& e) {
      e.message = what + "': " + e.message;
      throw;
    }
    next = i + 1;
  }
  return out;
}

std::optional<NoDerivative> parse_no_derivative(std::string_view text) {
  constexpr std::string_view kBecause = "because", kSpace = " \n";
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const std::string_view word = text.substr(0, comma);
  if (word != "none" && word != "non_differentiable") return std::nullopt;
  text.remove_prefix(comma + 1);
  const auto skip_space = [&] {
    const std::size_t n = std::min(text.find_first_not_of(kSpace), text.size());
    text.remove_prefix(n);
    return n != 0;
  };
  skip_space();
  if (!text.starts_with(kBecause)) return std::nullopt;
  text.remove_prefix(kBecause.size());
  if (!skip_space() || text.empty()) return std::nullopt;
  return NoDerivative{word, text};
}

}  // namespace sy::lang
