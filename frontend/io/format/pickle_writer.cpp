#include "frontend/io/format/pickle_writer.h"

#include <bit>
#include <utility>

namespace sy::io {

void PickleWriter::bytes(uint64_t v, int n) {
  for (int i = 0; i < n; ++i) out_ += static_cast<char>(v >> 8 * i);
}

void PickleWriter::integer(int64_t v) {
  const auto bits = static_cast<uint64_t>(v);
  if (v >= 0 && v < 256) {
    out_ += 'K';
    bytes(bits, 1);
  } else if (v >= INT32_MIN && v <= INT32_MAX) {
    out_ += 'J';
    bytes(bits, 4);
  } else {
    out_ += "\x8a\x08";
    bytes(bits, 8);
  }
}

void PickleWriter::real(double v) {
  out_ += 'G';
  bytes(__builtin_bswap64(std::bit_cast<uint64_t>(v)), 8);
}

void PickleWriter::text(std::string_view v) {
  out_ += 'X';
  bytes(v.size(), 4);
  out_ += v;
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  out_ += 'c';
  ((out_ += module) += '\n') += name;
  out_ += '\n';
}

uint32_t PickleWriter::keep() {
  const bool small = kept_ < 256;
  out_ += small ? 'q' : 'r';
  bytes(kept_, small ? 1 : 4);
  return kept_++;
}

void PickleWriter::kept(uint32_t number) {
  const bool small = number < 256;
  out_ += small ? 'h' : 'j';
  bytes(number, small ? 1 : 4);
}

std::string PickleWriter::finish() {
  out_ += '.';
  return std::move(out_);
}

}  // namespace sy::io
