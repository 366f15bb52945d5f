#include "c10/process/error.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <span>

namespace sy {

namespace {

// what() ends at a NUL: the rest of a message would be lost.
std::string shown(std::string text) {
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) {
    text.replace(at, 1, "\\0");
  }
  return text;
}

}  // namespace

Error::Error(std::string message) : message_(shown(std::move(message))) {}
Error::~Error() = default;

void Error::add_context(std::string_view context) {
  message_.insert(0, shown(std::string(context)) + "\n");
}

void Error::add_prefix(std::string_view prefix) {
  message_.insert(0, shown(std::string(prefix)));
}

// Destructors are out of line so that type_info and vtable have one home, and
// a plugin catches what the library throws.
IndexError::~IndexError() = default;
TypeError::~TypeError() = default;
ValueError::~ValueError() = default;
NotImplementedError::~NotImplementedError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;
LinAlgError::~LinAlgError() = default;
RegistrationError::~RegistrationError() = default;
InternalError::~InternalError() = default;

namespace detail {

std::string format(std::string_view text, const Piece* pieces, size_t n) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  arguments.reserve(n, 0);
  for (const Piece& p : std::span(pieces, n)) {
    switch (p.tag) {
      case Piece::kText:
        arguments.push_back(p.text.data != nullptr
                                ? fmt::string_view(p.text.data, p.text.size)
                                : fmt::string_view(p.owned));
        break;
      case Piece::kBool: arguments.push_back(p.i != 0); break;
      case Piece::kInt: arguments.push_back(p.i); break;
      case Piece::kUint: arguments.push_back(p.u); break;
      case Piece::kDouble: arguments.push_back(p.d); break;
    }
  }
  return fmt::vformat(fmt::string_view(text.data(), text.size()), arguments);
}

void throw_format(ErrorKind kind, std::string_view text, const Piece* pieces,
                  size_t n) {
  std::string message = format(text, pieces, n);
  switch (kind) {
    case ErrorKind::Index: throw IndexError(std::move(message));
    case ErrorKind::Type: throw TypeError(std::move(message));
    case ErrorKind::Value: throw ValueError(std::move(message));
    case ErrorKind::NotImplemented:
      throw NotImplementedError(std::move(message));
    case ErrorKind::OutOfMemory: throw OutOfMemoryError(std::move(message));
    case ErrorKind::LinAlg: throw LinAlgError(std::move(message));
    case ErrorKind::Registration: throw RegistrationError(std::move(message));
    case ErrorKind::Internal: throw InternalError(std::move(message));
    case ErrorKind::Error: break;
  }
  throw Error(std::move(message));
}

void assert_failed(const char* condition, const char* file, int line,
                   std::string_view text, const Piece* pieces, size_t n) {
  throw InternalError(
      str("internal error at {}:{}: {} does not hold. {}\n"
          "This is a bug of the library: please report it.",
          file, line, condition, format(text, pieces, n)));
}

void assert_fail(const char* condition, const char* file, int line) {
  assert_failed(condition, file, line, "", nullptr, 0);
}

}  // namespace detail
}  // namespace sy
