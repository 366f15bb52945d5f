#include "frontend/io/npy.h"

#include <cstring>

#include "aten/ops/copy.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "test/aten/late_tensor.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

TEST(Npy, ReadsEveryDtypeOfAnothersFiles) {
  const std::pair<const char*, ScalarType> kCodes[] = {
      {"b1", kBool},  {"u1", kByte},  {"i1", kChar},
      {"i2", kShort}, {"i4", kInt},   {"i8", kLong},
      {"f2", kHalf},  {"f4", kFloat}, {"f8", kDouble}};
  for (const auto& [code, dtype] : kCodes) {
    expect_data(load_npy(testdata(str("{}.npy", code))), dtype, {2, 3});
  }
}

TEST(Npy, ReadsOrdersVersionsAndShapes) {
  const auto load = [](const char* name) { return load_npy(testdata(name)); };
  const Tensor fortran = load("fortran.npy");
  expect_data(fortran, kShort, {2, 3});
  EXPECT_EQ(fortran.strides(), IntArrayRef({1, 2}));
  expect_data(load("big_i2.npy"), kShort, {2, 3});
  expect_data(load("big_f4.npy"), kFloat, {2, 3});
  expect_data(load("big_f8.npy"), kDouble, {2, 3});
  expect_data(load("big_fortran.npy"), kHalf, {2, 3});
  expect_data(load("scalar.npy"), kDouble, {});
  expect_data(load("vector.npy"), kFloat, {5});
  expect_data(load("empty.npy"), kFloat, {3, 0});
  expect_data(load("v2.npy"), kFloat, {2, 3});
  expect_data(load("v3.npy"), kFloat, {2, 3});
  expect_data(load("python2.npy"), kFloat, {2, 3});
}

TEST(Npy, WritesWhatItReads) {
  const std::string path = scratch("x.npy");
  const auto expect_same = [&](const Tensor& t) {
    save_npy(path, t);
    const Tensor u = load_npy(path);
    EXPECT_EQ(u.scalar_type(), t.scalar_type());
    EXPECT_EQ(u.sizes(), t.sizes());
    EXPECT_EQ(values(u), values(t));
  };
  for (const ScalarType dtype : kAllDtypes) {
    if (dtype == kBFloat16) continue;
    const Tensor t = expected(dtype, {4, 5}).to(dtype);
    expect_same(t);
    expect_same(t.t());
    expect_same(t.slice(1, 1, 5, 2));
    expect_same(t.select(0, 1));
    expect_same(t.select(0, 1).select(0, 2));
  }
  expect_same(zeros({2, 0, 3}));
  expect_same(ones({3}).requires_grad_().add(1));
  expect_same(ones({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Npy, TensorsWithoutMemoryGetSome) {
  const std::string path = scratch("late.npy");
  const LateTensor late(tensor({1.0, 2.0, 3.0}), Device(kCPU));
  save_npy(path, late.tensor);
  EXPECT_TRUE(load_npy(path).equal(late.tensor));
  EXPECT_EQ(late.payload->runs, 1);
  EXPECT_FALSE(late.tensor.storage()->is_handed_out());
  const LateTensor fails(tensor({1.0}), Device(kCPU));
  fails.payload->fails = true;
  SY_EXPECT_ERROR(save_npy(path, fails.tensor), OutOfMemoryError,
                  "[save_npy] asked for a late value");
}

TEST(Npy, FileIsNumpysByteForByte) {
  const std::string path = scratch("same.npy");
  for (const char* name : {"f4", "i8", "f2"}) {
    save_npy(path, load_npy(testdata(str("{}.npy", name))));
    EXPECT_EQ(read_file(path), read_file(testdata(str("{}.npy", name))));
  }
}

TEST(Npy, LargeArraysAreMappedAndMayBeWritten) {
  const std::string path = scratch("large.npy");
  save_npy(path, ones({256, 256}));
  const Tensor t = load_npy(path);
  EXPECT_FALSE(t.storage()->resizable());  // not the library's own memory
  t.fill_(2);
  EXPECT_EQ(load_npy(path).amax().item<float>(), 1);
  EXPECT_EQ(t.mean().item<float>(), 2);
}

// The error of load_npy for a file, behind "[load_npy] path: ".
std::string problem(const std::string& bytes) {
  const std::string path = write_file(scratch("bad.npy"), bytes);
  try {
    load_npy(path);
  } catch (const FileError& e) {
    const std::string start = "[load_npy] " + path + ": ";
    EXPECT_EQ(e.message().substr(0, start.size()), start);
    return e.message().substr(start.size());
  }
  return "(read)";
}

std::string of_dict(const std::string& dict, size_t data = 8) {
  std::string out("\x93NUMPY\1\0", 8);
  out += static_cast<char>(dict.size() & 255);
  out += static_cast<char>(dict.size() >> 8);
  return problem(out + dict + std::string(data, '\0'));
}

std::string of_array(const std::string& descr, const std::string& shape,
                     size_t data) {
  return of_dict("{'descr': " + descr +
                     ", 'fortran_order': False, 'shape': " + shape + "}",
                 data);
}

TEST(NpyErrors, Start) {
  EXPECT_EQ(problem(""),
            "byte 0: expected \\x93NUMPY, which .npy files start "
            "with, got ''");
  EXPECT_EQ(problem("PK\3\4abcdefgh").substr(0, 27),
            "byte 0: expected \\x93NUMPY,");
  EXPECT_EQ(problem("\x93NUMPY"),
            "byte 6: expected 2 bytes (the version), the file has 6 bytes");
  EXPECT_EQ(problem("\x93NUMPY\4\1abcd"),
            "byte 6: expected version 1.0, 2.0 or 3.0, got 4.1");
  EXPECT_EQ(problem(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)),
            "byte 8: expected a header of at most 65536 bytes, got "
            "4294967295");
  EXPECT_EQ(problem(std::string("\x93NUMPY\1\0\5\0{}", 12)),
            "byte 10: expected 5 bytes (the header), the file has 12 bytes");
}

TEST(NpyErrors, Dict) {
  EXPECT_EQ(of_array("'<f8'", "()", 8), "(read)");
  EXPECT_EQ(of_array("\"<f8\"", "(1,)", 8), "(read)");
  EXPECT_EQ(of_dict("{'shape': (), 'descr': '=f8', 'fortran_order': True,}\n"),
            "(read)");
  EXPECT_EQ(of_dict(""), "byte 10: expected '{', got the end of the header");
  EXPECT_EQ(of_dict("[]"), "byte 10: expected '{', near '[]'");
  EXPECT_EQ(of_dict("{}"), "'descr': expected once, got none");
  EXPECT_EQ(of_dict("{'descr': '<f8'}"),
            "'fortran_order': expected once, got none");
  EXPECT_EQ(of_dict("{'size': 1}"),
            "byte 17: expected descr, fortran_order and shape, got 'size', "
            "near ': 1}'");
  EXPECT_EQ(of_dict("{'descr': '<f8', 'descr'"),
            "byte 34: expected 'descr' once, got it twice, got the end of the "
            "header");
  EXPECT_EQ(of_dict("{'descr"),
            "byte 11: expected a key of plain characters, near "
            "'\\x27descr'");
  EXPECT_EQ(of_dict("{'fortran_order': 1}"),
            "byte 28: expected fortran_order True or False, near '1}'");
  EXPECT_EQ(of_array("'<f8'", "()} 1, {", 8).substr(0, 48),
            "byte 64: expected spaces to the end of the heade");
}

TEST(NpyErrors, Descr) {
  constexpr const char* kExpected =
      "; expected b1, u1, i1, i2, i4, i8, f2, f4 or f8";
  for (const char* code :
       {"<u2", "<c8", "<f16", "|V2", "<U4", "|f4", "<M8[s]", "f4", "", "<"}) {
    EXPECT_EQ(of_array(str("'{}'", code), "()", 8),
              str("byte 20: descr: '{}' is not supported{}", code, kExpected));
  }
  EXPECT_EQ(of_array("'|O'", "()", 8),
            str("byte 20: descr: '|O' is not supported (objects of Python's){}",
                kExpected));
  EXPECT_EQ(of_array("[('x', '<f4')]", "()", 8),
            "byte 20: expected descr of plain numbers; structured dtypes are "
            "not supported, near '[(\\x27x\\x27, \\x27<f4\\x27)], \\x27for'");
}

TEST(NpyErrors, Shape) {
  const auto shape = [](const std::string& text, size_t data = 8) {
    return of_array("'<f8'", text, data);
  };
  EXPECT_EQ(shape("(2, 3)", 48), "(read)");
  EXPECT_EQ(shape("(0, 9223372036854775807,)", 0), "(read)");
  EXPECT_EQ(shape("[1]").substr(0, 22), "byte 60: expected '(',");
  EXPECT_EQ(shape("(1)"), "byte 63: expected a comma in shape, near '}'");
  for (const char* bad :
       {"(-1,)", "(01,)", "(9223372036854775808,)", "(,)", "('1',)"}) {
    EXPECT_EQ(shape(bad).substr(0, 8), "byte 61:") << bad;
  }
  std::string ones = "(1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  EXPECT_NE(shape(ones + ")").find("shape of at most 64 dims"),
            std::string::npos);
  EXPECT_EQ(shape("(4294967296, 4294967296)"),
            "'shape': expected fewer than 2^63 bytes, got [4294967296, "
            "4294967296] of float64");
  EXPECT_EQ(shape("(2,)", 8),
            "byte 65: expected 16 bytes for [2] of float64, got 8");
  EXPECT_EQ(shape("(1,)", 9),
            "byte 65: expected 8 bytes for [1] of float64, got 9");
}

TEST(NpyErrors, Saving) {
  const std::string path = scratch("no.npy");
  SY_EXPECT_ERROR(save_npy(path, ones({2}, kBFloat16)), TypeError,
                  "[save_npy] tensor: expected a dtype that .npy has, got "
                  "bfloat16");
  SY_EXPECT_ERROR(save_npy(path, Tensor()), ValueError, "undefined");
  SY_EXPECT_ERROR(save_npy("no/such/folder/x.npy", ones({2})), FileError,
                  "cannot create: No such file or directory");
  SY_EXPECT_ERROR(load_npy(path), FileError, "cannot open");
}

}  // namespace
}  // namespace sy
