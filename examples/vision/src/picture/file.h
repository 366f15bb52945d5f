#pragma once

#include <sy/sy.h>

#include <string>

// Files of pictures, which are uint8 [3, height, width] in memory.

namespace vision {

using sy::Tensor;

// Reads PPM (P6, 8 bits), and PNG and JPEG if libpng and libjpeg were there
// when this was built. Throws FileError.
Tensor read_picture(const std::string& path);

// Writes PNG or PPM, as the name ends. Throws FileError.
void write_picture(const std::string& path, const Tensor& picture);

}  // namespace vision
