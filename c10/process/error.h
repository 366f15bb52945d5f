#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "c10/macros.h"

// Errors. A wrong argument, a missing kernel or an exhausted limit throws
// sy::Error or one of its kinds; SY_CHECK is for those. SY_INTERNAL_ASSERT is
// for what only a bug of the library itself can break. Messages read
// `[op] argument: expected X, got Y`.

namespace sy {

class SY_API Error : public std::exception {
 public:
  explicit Error(std::string message);
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  // Puts a line of context before what is there, for rethrowing.
  void add_context(std::string_view context);
  // The same on its line: "[op] " or "[op] argument: ".
  void add_prefix(std::string_view prefix);

 private:
  std::string message_;
};

#define SY_DECLARE_ERROR(Kind)       \
  class SY_API Kind : public Error { \
   public:                           \
    using Error::Error;              \
    ~Kind() override;                \
  }
SY_DECLARE_ERROR(IndexError);
SY_DECLARE_ERROR(TypeError);
SY_DECLARE_ERROR(ValueError);
SY_DECLARE_ERROR(NotImplementedError);
SY_DECLARE_ERROR(OutOfMemoryError);
// A matrix is singular, not positive definite, or an iteration does not end.
SY_DECLARE_ERROR(LinAlgError);
SY_DECLARE_ERROR(RegistrationError);
SY_DECLARE_ERROR(InternalError);
#undef SY_DECLARE_ERROR

enum class ErrorKind : uint8_t {
  Error,
  Index,
  Type,
  Value,
  NotImplemented,
  OutOfMemory,
  LinAlg,
  Registration,
  Internal
};

namespace detail {
// Never defined. A format that is wrong calls one of them while it compiles,
// and the compiler's error shows the name.
void a_format_has_more_braces_than_arguments();
void a_format_has_fewer_braces_than_arguments();
void braces_in_a_format_are_written_as_pairs();

}  // namespace detail

// The text of a message with `{}` for each of its arguments; `{{` and `}}` are
// braces. It is a literal, and the compiler counts the pairs.
template <class... A>
struct Format {
  std::string_view text;

  consteval Format(const char* literal) : text(literal) {
    size_t found = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c != '{' && c != '}') continue;
      const char next = i + 1 < text.size() ? text[i + 1] : '\0';
      if (next != '}' && next != c)
        detail::braces_in_a_format_are_written_as_pairs();
      if (next != c) ++found;
      ++i;
    }
    if (found > sizeof...(A)) detail::a_format_has_more_braces_than_arguments();
    if (found < sizeof...(A))
      detail::a_format_has_fewer_braces_than_arguments();
  }
};
// The format that a function takes before its arguments `const A&...`.
template <class... A>
using FormatOf = Format<std::type_identity_t<A>...>;

namespace detail {

// One argument of a message. Types beyond these convert through a free function
// `std::string to_string(const T&)` in their own namespace.
struct Piece {
  enum Tag : uint8_t { kText, kInt, kUint, kDouble, kBool } tag;
  union {
    struct {
      const char* data;
      size_t size;
    } text;
    int64_t i;
    uint64_t u;
    double d;
  };
  std::string owned;

  Piece(const char* s)
      : tag(kText), text{s, std::char_traits<char>::length(s)} {}
  Piece(std::string_view s) : tag(kText), text{s.data(), s.size()} {}
  Piece(const std::string& s) : tag(kText), text{s.data(), s.size()} {}
  Piece(bool v) : tag(kBool), i(v) {}
  Piece(char c) : tag(kText), text{nullptr, 0}, owned(1, c) {}
  Piece(int v) : tag(kInt), i(v) {}
  Piece(long v) : tag(kInt), i(v) {}
  Piece(long long v) : tag(kInt), i(v) {}
  Piece(unsigned v) : tag(kUint), u(v) {}
  Piece(unsigned long v) : tag(kUint), u(v) {}
  Piece(unsigned long long v) : tag(kUint), u(v) {}
  Piece(double v) : tag(kDouble), d(v) {}
  Piece(float v) : Piece(double{v}) {}
  template <class T>
  requires requires(const T& t) {
    { to_string(t) } -> std::same_as<std::string>;
  }
  Piece(const T& t) : tag(kText), text{nullptr, 0}, owned(to_string(t)) {}
};

// fmt stands behind these three, so that no user compiles it.
SY_API std::string format(std::string_view text, const Piece* pieces, size_t n);
[[noreturn]] SY_API SY_COLD void throw_format(ErrorKind kind,
                                              std::string_view text,
                                              const Piece* pieces, size_t n);
[[noreturn]] SY_API SY_COLD void assert_failed(const char* condition,
                                               const char* file, int line,
                                               std::string_view text,
                                               const Piece* pieces, size_t n);

template <class... A>
[[noreturn]] SY_COLD void assert_fail(const char* condition, const char* file,
                                      int line, FormatOf<A...> text,
                                      const A&... arguments) {
  const Piece pieces[] = {Piece(""), Piece(arguments)...};
  assert_failed(condition, file, line, text.text, pieces + 1, sizeof...(A));
}
[[noreturn]] SY_API SY_COLD void assert_fail(const char* condition,
                                             const char* file, int line);

}  // namespace detail

// The text with its arguments in place: str("{} of {}", i, n).
template <class... A>
std::string str(FormatOf<A...> text, const A&... arguments) {
  const detail::Piece pieces[] = {detail::Piece(""),
                                  detail::Piece(arguments)...};
  return detail::format(text.text, pieces + 1, sizeof...(A));
}

// Throws the error of the given kind with such a text.
template <class... A>
[[noreturn]] SY_COLD void fail(ErrorKind kind, FormatOf<A...> text,
                               const A&... arguments) {
  const detail::Piece pieces[] = {detail::Piece(""),
                                  detail::Piece(arguments)...};
  detail::throw_format(kind, text.text, pieces + 1, sizeof...(A));
}

}  // namespace sy

// SY_CHECK(condition, kind, format, arguments...) throws the error of that
// kind, an enumerator of ErrorKind, unless the condition holds:
//
//   SY_CHECK(n >= 0, Value, "[{}] n: expected at least 0, got {}", op, n);
#define SY_CHECK(condition, kind, ...)                \
  do {                                                \
    if (SY_UNLIKELY(!(condition)))                    \
      ::sy::fail(::sy::ErrorKind::kind, __VA_ARGS__); \
  } while (0)

#define SY_INTERNAL_ASSERT(condition, ...)                            \
  do {                                                                \
    if (SY_UNLIKELY(!(condition)))                                    \
      ::sy::detail::assert_fail(#condition, __FILE__,                 \
                                __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (0)
