#include "tools/sy/cases/safetensors.h"

#include <gtest/gtest.h>

#include "c10/process/error.h"

namespace sy::tools {
namespace {

std::string file(std::string header, std::string_view data) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[i] = char(uint64_t(header.size()) >> 8 * i);
  return out + header + std::string(data);
}

std::string entry(const char* dtype, const char* shape, const char* at) {
  return str(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape,
             at);
}

// The error of reading those bytes; "" if there is none.
std::string error_of(const std::string& bytes) {
  try {
    Safetensors(bytes, "x");
    return "";
  } catch (const ValueError& e) {
    return e.what();
  }
}

std::string header_error(const std::string& header, std::string_view data) {
  return error_of(file(header, data));
}

#define EXPECT_SAYS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Safetensors, ReadsEveryDtypeAndShape) {
  const Safetensors f(file(R"({"__metadata__":{"format":"pt"},"b":)" +
                               entry("BOOL", "[2]", "[0,2]") + R"(,"h":)" +
                               entry("BF16", "[1,1]", "[2,4]") + R"(,"none":)" +
                               entry("I64", "[0,3]", "[4,4]") + R"(,"one":)" +
                               entry("U8", "[]", "[4,5]") + "}   ",
                           std::string("\0\1\2\3\4", 5)),
                      "x");
  EXPECT_EQ(f.entries().size(), 4u);
  EXPECT_EQ(f.at("b").dtype, kBool);
  EXPECT_EQ(f.at("b").bytes, std::string_view("\0\1", 2));
  EXPECT_EQ(f.at("h").shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(f.at("none").bytes.size(), 0u);
  EXPECT_EQ(f.at("one").bytes, "\4");
}

TEST(Safetensors, SurvivesBeingMoved) {
  Safetensors a(file("{\"k\":" + entry("U8", "[1]", "[0,1]") + "}", "z"), "x");
  const Safetensors b = std::move(a);
  EXPECT_EQ(b.at("k").bytes, "z");
}

TEST(Safetensors, NamesAMissingEntry) {
  const Safetensors f(file("{}", ""), "x");
  try {
    f.at("k");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "x: no entry \"k\"");
  }
}

TEST(Safetensors, RejectsBrokenHeaders) {
  EXPECT_SAYS(error_of(""), "too short");
  EXPECT_SAYS(error_of("1234567"), "too short");
  EXPECT_SAYS(error_of(std::string(8, '\0')), "does not begin with {");
  EXPECT_SAYS(error_of(std::string(8, '\xff') + "{}"), "a header of");
  EXPECT_SAYS(error_of(file("{}", "").substr(0, 9)), "a header of 2 bytes");
  EXPECT_SAYS(header_error("[]", ""), "does not begin with {");
  EXPECT_SAYS(header_error(" {}", ""), "does not begin with {");
  EXPECT_SAYS(header_error("{\"a\":}", ""), "parse error");
  EXPECT_SAYS(header_error("{\"\xff\":1}", ""), "invalid");
  const std::string e = entry("U8", "[1]", "[0,1]");
  EXPECT_SAYS(header_error("{\"a\":" + e + ",\"a\":" + e + "}", "z"),
              "key \"a\" twice");
}

TEST(Safetensors, RejectsBrokenEntries) {
  const auto one = [](const std::string& e, std::string_view data = "zzzz") {
    return header_error("{\"a\":" + e + "}", data);
  };
  EXPECT_EQ(one(entry("F32", "[1]", "[0,4]")), "");
  EXPECT_SAYS(one("3"), "expected dtype, shape and data_offsets");
  EXPECT_SAYS(one(R"({"dtype":"F32","shape":[1]})"), "expected dtype");
  EXPECT_SAYS(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})"),
              "expected dtype");
  EXPECT_SAYS(one(entry("F33", "[1]", "[0,4]")), "unknown dtype \"F33\"");
  EXPECT_SAYS(one(entry("F32", "[-1]", "[0,4]")), "negative size");
  EXPECT_SAYS(one(entry("F32", "[1.0]", "[0,4]")), "expected an integer");
  EXPECT_SAYS(one(entry("F32", "[18446744073709551615]", "[0,4]")),
              "expected an integer");
  EXPECT_SAYS(one(entry("F32", "[4611686018427387904,4]", "[0,4]")),
              "overflow");
  EXPECT_SAYS(one(entry("F32", "[1]", "[0]")), "do not lie in 4 bytes");
  EXPECT_SAYS(one(entry("F32", "[1]", "[4,0]")), "do not lie in");
  EXPECT_SAYS(one(entry("F32", "[1]", "[-4,0]")), "do not lie in");
  EXPECT_SAYS(one(entry("F32", "[1]", "[1,5]")), "do not lie in");
  EXPECT_SAYS(one(entry("F32", "[2]", "[0,4]")), "expected 8 bytes, got 4");
  EXPECT_SAYS(one(entry("BOOL", "[4]", "[0,4]")), "neither 0 nor 1");
  EXPECT_SAYS(header_error("{\"__metadata__\":3}", ""), "expected an object");
  EXPECT_SAYS(header_error("{\"__metadata__\":{\"a\":3}}", ""),
              "expected a string");
}

TEST(Safetensors, RejectsHolesAndOverlaps) {
  const auto two = [](const char* first, const char* second) {
    return header_error("{\"a\":" + entry("U8", "[2]", first) +
                            ",\"b\":" + entry("U8", "[2]", second) + "}",
                        "zzzz");
  };
  EXPECT_EQ(two("[2,4]", "[0,2]"), "");
  EXPECT_SAYS(two("[0,2]", "[1,3]"), "overlap at byte 1");
  EXPECT_SAYS(two("[0,2]", "[0,2]"), "overlap");
  EXPECT_SAYS(
      header_error("{\"a\":" + entry("U8", "[2]", "[1,3]") + "}", "zzz"),
      "bytes 0 to 1 belong to no entry");
  EXPECT_SAYS(
      header_error("{\"a\":" + entry("U8", "[2]", "[0,2]") + "}", "zzz"),
      "bytes 2 to 3 belong to no entry");
}

TEST(Safetensors, RejectsEveryTruncation) {
  const std::string whole =
      file("{\"a\":" + entry("F32", "[2]", "[0,8]") + "}", "12345678");
  EXPECT_EQ(error_of(whole), "");
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(error_of(whole.substr(0, n)), "") << n;
  }
  EXPECT_NE(error_of(whole + "9"), "");
}

// No byte may be changed so that the file crashes the reader.
TEST(Safetensors, SurvivesEveryChangedByte) {
  const std::string whole =
      file("{\"a\":" + entry("F32", "[2]", "[0,8]") + "}", "12345678");
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = char(changed[i] ^ (1 << bit));
      error_of(changed);
    }
  }
}

}  // namespace
}  // namespace sy::tools
