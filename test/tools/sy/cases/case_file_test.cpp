#include "tools/sy/cases/case_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "c10/process/error.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {
namespace {

TEST(ElementIndices, FollowStrides) {
  EXPECT_EQ(element_indices({2, 2}, {1, 3}, 5),
            (std::vector<int64_t>{5, 8, 6, 9}));
  EXPECT_EQ(element_indices({}, {}, 4), std::vector<int64_t>{4});
  EXPECT_EQ(element_indices({2, 0}, {1, 1}, 0), std::vector<int64_t>{});
  EXPECT_EQ(element_indices({3}, {0}, 1), (std::vector<int64_t>{1, 1, 1}));
}

TEST(ElementPosition, CountsInRowMajorOrder) {
  EXPECT_EQ(element_position({2, 3}, 4), "[1, 1]");
  EXPECT_EQ(element_position({}, 0), "[]");
}

// Storages k (float32 1, 2) and b (bool 0), and `repeated`.
CaseFile with_repeated(const std::string& repeated) {
  const std::string header =
      R"({"k":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  const float elements[] = {1, 2};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(elements), 8);
  bytes += '\0';
  return CaseFile::parse(
      parse_json(R"({"op":"aten::f","schema":"","cases":[{"id":"a","args":[],)"
                 R"("kwargs":{},"error":""}],"repeated":{)" +
                     repeated + "}}",
                 "x"),
      Safetensors(bytes, "x"), "x");
}

std::string repeated_error(const std::string& repeated) {
  try {
    with_repeated(repeated);
    return "";
  } catch (const ValueError& e) {
    return e.what();
  }
}

template <class T>
std::vector<T> elements_of(const CaseFile& file, const char* key) {
  const std::string_view bytes = file.storages.at(key).bytes;
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  EXPECT_EQ(file.storages.at(key).shape,
            std::vector<int64_t>{static_cast<int64_t>(out.size())});
  return out;
}

TEST(Repeated, StoragesAreMadeOfPieces) {
  const CaseFile f = with_repeated(
      R"("r":{"dtype":"float32","pieces":[{"of":"k","count":5},)"
      R"({"of":"k","count":1}]},)"
      R"("i":{"dtype":"int16","pieces":[{"from":3,"step":-2,"count":4}]},)"
      R"("none":{"dtype":"bool","pieces":[]})");
  EXPECT_EQ(elements_of<float>(f, "r"), (std::vector<float>{1, 2, 1, 2, 1, 1}));
  EXPECT_EQ(elements_of<int16_t>(f, "i"), (std::vector<int16_t>{3, 1, -1, -3}));
  EXPECT_EQ(elements_of<uint8_t>(f, "none").size(), 0u);
}

TEST(Repeated, RefusesWhatMakesNoStorage) {
  const auto says = [](const char* repeated, const char* part) {
    const std::string text = repeated_error(repeated);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(R"("k":{"dtype":"float32","pieces":[]})", "one already");
  says(R"("r":{"dtype":"int8","pieces":[{"of":"k","count":2}]})", "among");
  says(R"("r":{"dtype":"float32","pieces":[{"of":"z","count":2}]})",
       "no entry");
  says(R"("r":{"dtype":"float32","pieces":[{"of":"k","count":-1}]})",
       "-1 elements");
  says(R"("r":{"dtype":"float32","pieces":[{"of":"k","count":1e4}]})",
       "whole number");
  says(R"("r":{"dtype":"float32","pieces":[{"of":"k","count":999999999999}]})",
       "elements");
  says(R"("r":{"dtype":"float32","pieces":[{"from":0,"step":1,"count":2}]})",
       "steps of");
  says(R"("r":{"dtype":"number","pieces":[]})", "unknown dtype");
  says(R"("r":{"dtype":"int8"})", "pieces");
  says(R"("r":{"dtype":"int8","pieces":[{"times":2}]})", "unknown field");
}

}  // namespace
}  // namespace sy::tools
