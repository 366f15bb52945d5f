#include <cstring>

#include "frontend/io/safetensors.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

// Files that are not safetensors files, and what the error says of each.

namespace sy {
namespace {

std::string file_of(const std::string& header, size_t data = 0) {
  std::string out(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(out.data(), &length, 8);
  return out + header + std::string(data, '\0');
}

std::string tensor_of(const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

// The error of load_safetensors for a file, behind "[op] path: ".
std::string problem(const std::string& bytes, const char* name = "bad.bin") {
  const std::string path = write_file(scratch(name), bytes);
  try {
    load_safetensors(path);
  } catch (const FileError& e) {
    const std::string start = "[load_safetensors] " + path + ": ";
    EXPECT_EQ(e.message().substr(0, start.size()), start);
    return e.message().substr(start.size());
  }
  return "(read)";
}

std::string of_header(const std::string& header, size_t data = 0) {
  return problem(file_of(header, data));
}
std::string of_tensor(const std::string& dtype, const std::string& shape,
                      const std::string& offsets, size_t data) {
  return of_header("{\"w\":" + tensor_of(dtype, shape, offsets) + "}", data);
}

TEST(SafetensorsErrors, WhatIsReadToShowThatTheRestIsNot) {
  EXPECT_EQ(of_header("{}"), "(read)");
  EXPECT_EQ(of_header("{}   \n"), "(read)");
  EXPECT_EQ(of_tensor("F32", "[2,3]", "[0,24]", 24), "(read)");
  EXPECT_EQ(of_tensor("F32", "[]", "[0,4]", 4), "(read)");
  EXPECT_EQ(of_tensor("F32", "[0,9223372036854775807]", "[0,0]", 0), "(read)");
}

TEST(SafetensorsErrors, Length) {
  EXPECT_EQ(problem(""),
            "byte 0: expected 8 bytes (the length of the header), the file "
            "has 0 bytes");
  EXPECT_EQ(problem("1234567").substr(0, 25), "byte 0: expected 8 bytes ");
  EXPECT_EQ(problem(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
            "byte 8: expected 3 bytes (the header), the file has 10 bytes");
  EXPECT_EQ(problem(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)),
            "byte 0: expected a header of at most 100000000 bytes, got "
            "100000001");
  EXPECT_EQ(problem(std::string(16, '\xff')).substr(0, 25),
            "byte 0: expected a header");
}

TEST(SafetensorsErrors, Json) {
  EXPECT_EQ(of_header(""),
            "byte 8: expected a header that starts with {, "
            "got none");
  EXPECT_EQ(of_header(" {}"),
            "byte 8: expected a header that starts with {, "
            "got ' '");
  EXPECT_EQ(of_header("[]"),
            "byte 8: expected a header that starts with {, "
            "got '['");
  EXPECT_EQ(of_header("{\"w\":"), "byte 13: not valid JSON, after '{\"w\":'");
  EXPECT_EQ(of_header("{}}"), "byte 11: not valid JSON, after '{}}'");
  EXPECT_EQ(of_header("{\"\xff\":1}").substr(0, 25),
            "byte 11: not valid JSON, ");
  EXPECT_EQ(of_header("{\"w\":1e999}").substr(0, 24),
            "byte 19: not valid JSON,");
  EXPECT_EQ(of_header("{\"w\":7}"),
            "byte 15: 'w': expected an object, got a number");
  EXPECT_EQ(of_header("{\"w\":[[[["),
            "byte 14: 'w': expected an object, got a list");
  EXPECT_EQ(of_header("{\"w\":null}"),
            "byte 17: 'w': expected an object, got null");
  EXPECT_EQ(of_header("{" + std::string(100000, '[')).substr(0, 25),
            "byte 10: not valid JSON, ");
}

TEST(SafetensorsErrors, Metadata) {
  const auto metadata = [](const std::string& value) {
    return of_header("{\"__metadata__\":" + value + "}");
  };
  EXPECT_EQ(metadata("{}"), "(read)");
  EXPECT_EQ(metadata("{\"k\":1}").substr(9),
            "'__metadata__': 'k': expected a string, got a number");
  EXPECT_EQ(metadata("{\"k\":{}}").substr(9),
            "'__metadata__': 'k': expected a string, got an object");
  EXPECT_EQ(metadata("{\"k\":\"\",\"k\":\"\"}"),
            "'k': expected once, got twice");
  EXPECT_EQ(metadata("{},\"__metadata__\":{}"),
            "'__metadata__': expected once, got twice");
}

TEST(SafetensorsErrors, Fields) {
  EXPECT_EQ(of_header("{\"w\":{}}"), "'w': expected dtype, got none");
  EXPECT_EQ(of_header("{\"w\":{\"dtype\":\"U8\",\"shape\":[]}}"),
            "'w': expected data_offsets, got none");
  EXPECT_EQ(of_header("{\"w\":{\"kind\":1}}").substr(9),
            "'w': expected dtype, shape and data_offsets, got 'kind'");
  EXPECT_EQ(of_header("{\"w\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}").substr(9),
            "'w': dtype: expected once, got twice");
  EXPECT_EQ(of_header("{\"w\":{\"dtype\":8}}").substr(9),
            "'w': dtype: expected a string, got a number");
  EXPECT_EQ(of_tensor("F31", "[]", "[0,4]", 4).substr(9),
            "'w': dtype: expected one of safetensors', got 'F31'");
  EXPECT_EQ(of_tensor("F32", "3", "[0,4]", 4).substr(9),
            "'w': shape: expected a list of whole numbers, got a number");
  EXPECT_EQ(of_tensor("F32", "[-1]", "[0,4]", 4).substr(9),
            "'w': shape: expected a list of whole numbers, got -1");
  EXPECT_EQ(of_tensor("F32", "[1.0]", "[0,4]", 4).substr(9),
            "'w': shape: expected a list of whole numbers, got 1.0");
  EXPECT_EQ(of_tensor("F32", "[[1]]", "[0,4]", 4).substr(9),
            "'w': shape: expected a list of whole numbers, got a list");
  EXPECT_EQ(of_tensor("F32", "[1]", "[0]", 4).substr(9),
            "'w': data_offsets: expected 2 numbers, got 1");
  EXPECT_EQ(of_tensor("F32", "[1]", "[0,4,4]", 4).substr(9),
            "'w': data_offsets: expected 2 numbers, got 3");
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  EXPECT_EQ(of_tensor("F32", ones + "]", "[0,4]", 4).substr(10),
            "'w': shape: expected at most 64 dims, got more");
}

TEST(SafetensorsErrors, Places) {
  EXPECT_EQ(of_tensor("F32", "[2]", "[0,4]", 4),
            "'w': data_offsets: expected 8 bytes for [2] of F32, got [0, 4]");
  EXPECT_EQ(of_tensor("F32", "[2]", "[0,8]", 4),
            "'w': data_offsets: expected an end between 0 and 4, got [0, 8]");
  EXPECT_EQ(of_tensor("F32", "[1]", "[4,8]", 8),
            "'w': data_offsets: expected a start at 0, where the tensor "
            "before ends, got [4, 8]");
  EXPECT_EQ(
      of_tensor("F32", "[1]", "[0,18446744073709551615]", 8).substr(0, 44),
      "'w': data_offsets: expected an end between 0");
  EXPECT_EQ(of_tensor("F32", "[4294967296,4294967296]", "[0,0]", 0),
            "'w': shape: expected fewer than 2^63 bits, got [4294967296, "
            "4294967296] of F32");
  EXPECT_EQ(of_tensor("F4", "[3]", "[0,1]", 1),
            "'w': shape: expected whole bytes, got 12 bits");
  EXPECT_EQ(of_tensor("F32", "[1]", "[0,4]", 7),
            "byte 66: expected the end of the file, got 3 bytes that belong "
            "to no tensor");
  const auto two = [](const std::string& a, const std::string& b, size_t n) {
    return of_header("{\"a\":" + tensor_of("U8", "[4]", a) +
                         ",\"b\":" + tensor_of("U8", "[4]", b) + "}",
                     n);
  };
  EXPECT_EQ(two("[4,8]", "[0,4]", 8), "(read)");
  EXPECT_EQ(two("[0,4]", "[0,4]", 4),
            "'b': data_offsets: expected a start at 4, where the tensor "
            "before ends, got [0, 4]");
  EXPECT_EQ(two("[0,4]", "[5,9]", 9).substr(0, 40),
            "'b': data_offsets: expected a start at 4");
  const std::string w = "\"w\":" + tensor_of("U8", "[0]", "[0,0]");
  EXPECT_EQ(of_header("{" + w + "," + w + "}"),
            "'w': expected once, got twice");
}

TEST(SafetensorsErrors, BoolsOfOtherValues) {
  std::string bytes =
      file_of("{\"w\":" + tensor_of("BOOL", "[4]", "[0,4]") + "}", 4);
  EXPECT_EQ(problem(bytes), "(read)");
  bytes[bytes.size() - 2] = 2;
  EXPECT_EQ(problem(bytes),
            str("byte {}: expected a bool of 0 or 1, got 2", bytes.size() - 2));
}

TEST(SafetensorsErrors, NamesInMessagesAreShortAndPlain) {
  EXPECT_EQ(of_header("{\"a\\n\\u001b'\":7}").substr(9),
            "'a\\x0a\\x1b\\x27': expected an object, got a number");
  const std::string name(100000, 'n');
  EXPECT_EQ(of_header("{\"" + name + "\":7}").substr(13),
            "'" + name.substr(0, 60) +
                "...': expected an object, got a "
                "number");
}

TEST(SafetensorsErrors, Index) {
  write_file(scratch("part.bin"), file_of("{}"));
  const auto index = [](const std::string& text) {
    return problem(text, "bad.json");
  };
  const auto map = [&](const std::string& file) {
    return index("{\"weight_map\":{\"w\":" + file + "}}");
  };
  EXPECT_EQ(index("{\"weight_map\":{}}"), "(read)");
  EXPECT_EQ(index(""), "byte 0: not valid JSON, after ''");
  EXPECT_EQ(index("{}"), "'weight_map': expected once, got none");
  EXPECT_EQ(index("[]"), "byte 1: expected an object, got a list");
  EXPECT_EQ(index("{\"weight_map\":[]}"),
            "byte 15: 'weight_map': expected an object, got a list");
  EXPECT_EQ(index("{\"map\":{}}"),
            "byte 6: expected metadata and weight_map, got 'map'");
  EXPECT_EQ(index("{\"weight_map\":{},\"weight_map\":{}}"),
            "byte 31: 'weight_map': expected once, got twice");
  EXPECT_EQ(index("{\"metadata\":{\"a\":{}}}"),
            "byte 18: 'a': expected a string or a number, got an object");
  EXPECT_EQ(map("1").substr(9), "'w': expected the name of a file, got 1");
  EXPECT_EQ(map("\"part.bin\""),
            "'w': weight_map: expected a tensor of 'part.bin', which has "
            "none of that name");
  EXPECT_EQ(index("{\"weight_map\":{\"w\":\"part.bin\",\"w\":\"part.bin\"}}"),
            "'w': expected once, got twice");
  for (const char* outside :
       {"", "/part.bin", "../part.bin", "a/../part.bin", "./part.bin",
        "a//part.bin", "part.bin/", "part.bin\\u0000"}) {
    EXPECT_NE(map("\"" + std::string(outside) + "\"")
                  .find("'w': expected a file in the folder of the index"),
              std::string::npos)
        << outside;
  }
  SY_EXPECT_ERROR(
      load_safetensors(write_file(scratch("bad.json"),
                                  "{\"weight_map\":{\"w\":\"none.bin\"}}")),
      FileError, "none.bin: cannot open");
}

}  // namespace
}  // namespace sy
