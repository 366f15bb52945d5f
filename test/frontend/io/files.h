#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "aten/ops/factory.h"
#include "test/aten/tensor_values.h"

// Files of tests: their own, and those of testdata/, whose element i is
// (7 * i) % 11, less 3 for signed and floating dtypes, i % 2 for bools.

namespace sy {

inline std::string testdata(const std::string& name) {
  return "test/frontend/io/testdata/" + name;
}

// A path in a folder that each test program has for itself.
inline std::string scratch(const std::string& name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/" + name;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string write_file(const std::string& path,
                              const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline Tensor expected(ScalarType dtype, IntArrayRef sizes) {
  Tensor t = empty(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.data_ptr<double>()[i] =
        dtype == kBool ? double(i % 2)
                       : double(7 * i % 11) - (is_signed_type(dtype) ? 3 : 0);
  }
  return t;
}

// Sizes, dtype and elements are those of the test data.
inline void expect_data(const Tensor& t, ScalarType dtype, IntArrayRef sizes) {
  EXPECT_EQ(t.scalar_type(), dtype);
  ASSERT_EQ(t.sizes(), sizes);
  EXPECT_EQ(values(t), values(expected(dtype, sizes)));
}

constexpr ScalarType kAllDtypes[] = {kBool, kByte, kChar,     kShort, kInt,
                                     kLong, kHalf, kBFloat16, kFloat, kDouble};

}  // namespace sy
