#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The formats of file.h, each in a source of its own.

namespace vision {

// Rows of pixels, of which each is red, green, blue.
struct Pixels {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> bytes;
};

// Throws a FileError that names the file.
[[noreturn]] void bad_picture(const std::string& path, const std::string& what);

Pixels decode_ppm(const std::string& path, const std::string& bytes);
std::string encode_ppm(const Pixels& pixels);
Pixels decode_png(const std::string& path, const std::string& bytes);
std::string encode_png(const std::string& path, const Pixels& pixels);
Pixels decode_jpeg(const std::string& path, const std::string& bytes);

}  // namespace vision
