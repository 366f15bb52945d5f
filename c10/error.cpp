#include "c10/error.h"

#include <charconv>
#include <cstring>

namespace sy {

Error::Error(std::string message) : message_(std::move(message)) {}
Error::~Error() = default;

void Error::add_context(std::string_view context) {
  message_.insert(0, std::string(context) + "\n");
}

void Error::add_prefix(std::string_view prefix) { message_.insert(0, prefix); }

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

std::string join(const Piece* pieces, size_t n) {
  std::string out;
  for (size_t k = 0; k < n; ++k) {
    const Piece& p = pieces[k];
    char buffer[40];
    std::to_chars_result r{buffer, {}};
    switch (p.tag) {
      case Piece::kText:
        if (p.text.data != nullptr) {
          out.append(p.text.data, p.text.size);
        } else {
          out += p.owned;
        }
        continue;
      case Piece::kBool: out += p.i != 0 ? "true" : "false"; continue;
      case Piece::kInt:
        r = std::to_chars(buffer, buffer + sizeof buffer, p.i);
        break;
      case Piece::kUint:
        r = std::to_chars(buffer, buffer + sizeof buffer, p.u);
        break;
      case Piece::kDouble:
        r = std::to_chars(buffer, buffer + sizeof buffer, p.d);
        break;
    }
    out.append(buffer, r.ptr);
  }
  return out;
}

void throw_pieces(ErrorKind kind, const Piece* pieces, size_t n) {
  std::string message = join(pieces, n);
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
                   const Piece* pieces, size_t n) {
  throw InternalError(str("internal error at ", file, ":", line, ": ",
                          condition, " does not hold. ", join(pieces, n),
                          "\nThis is a bug of the library: please report it."));
}

}  // namespace detail
}  // namespace sy
