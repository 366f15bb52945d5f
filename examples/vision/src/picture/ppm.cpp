#include <sstream>

#include "picture/formats.h"

namespace vision {
namespace {

// The next number of the header, after spaces and comments.
int64_t number(std::istringstream& in) {
  while ((in >> std::ws) && in.peek() == '#') {
    std::string comment;
    std::getline(in, comment);
  }
  int64_t n = -1;
  in >> n;
  return in ? n : -1;
}

}  // namespace

Pixels decode_ppm(const std::string& path, const std::string& bytes) {
  constexpr int64_t kMost = 1 << 16;  // pixels of a side
  std::istringstream in(bytes.substr(0, 4096));
  in.ignore(2);
  Pixels p;
  p.width = number(in);
  p.height = number(in);
  const int64_t white = number(in);
  if (p.width <= 0 || p.height <= 0 || p.width > kMost || p.height > kMost ||
      white != 255 || in.get() == EOF) {
    bad_picture(path, "expected the header of a PPM of 8 bits");
  }
  const auto at = static_cast<size_t>(in.tellg());
  const auto n = static_cast<size_t>(3 * p.width * p.height);
  if (bytes.size() < at + n) {
    bad_picture(path, "expected " + std::to_string(n) +
                          " bytes of pixels, got " +
                          std::to_string(bytes.size() - at));
  }
  p.bytes.assign(bytes.begin() + static_cast<int64_t>(at),
                 bytes.begin() + static_cast<int64_t>(at + n));
  return p;
}

std::string encode_ppm(const Pixels& p) {
  return "P6\n" + std::to_string(p.width) + " " + std::to_string(p.height) +
         "\n255\n" + std::string(p.bytes.begin(), p.bytes.end());
}

}  // namespace vision
