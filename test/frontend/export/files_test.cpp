#include <gtest/gtest.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/sy.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/output_file.h"
#include "frontend/io/format/zip.h"
#include "test/c10/expect_error.h"

// Files that are damaged, hostile, or something else. All of them are made of
// nested.pt2: what is changed is one text, or bytes at random.

namespace sy {
namespace {

const std::string kNested = "test/frontend/export/testdata/nested.pt2";

std::string scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / name;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

using Members = std::map<std::string, std::string>;

Members members_of(const std::string& path) {
  const auto file = io::MappedFile::open("test", path);
  Members out;
  for (const io::ZipMember& m : io::read_zip(file->view("test"))) {
    out[m.name] = std::string(
        reinterpret_cast<const char*>(file->data()) + m.data, m.size);
  }
  return out;
}

std::string write_members(const std::string& name, const Members& members) {
  const std::string path = scratch(name);
  io::OutputFile file("test", path);
  io::ZipWriter zip(file);
  for (const auto& [member, bytes] : members) {
    zip.member("test", member, bytes.size(),
               io::crc32(0, bytes.data(), bytes.size()));
    file.write(bytes.data(), bytes.size());
  }
  zip.finish();
  file.commit();
  return path;
}

const std::string kModel = "nested/models/model.json";
const std::string kWeights = "nested/data/weights/model_weights_config.json";

// The file with the first `before` of a member written as `after`.
std::string changed(const std::string& member, const std::string& before,
                    const std::string& after) {
  Members members = members_of(kNested);
  std::string& text = members.at(member);
  const size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  text.replace(at, before.size(), after);
  return write_members("changed.pt2", members);
}

void expect_refused(const std::string& path, const std::string& text) {
  SY_EXPECT_ERROR(load_program(path), FileError, text);
}

TEST(ProgramFiles, OfOtherKinds) {
  expect_refused("test/frontend/export/testdata/nested.safetensors",
                 "got no archive");
  expect_refused("test/frontend/export/testdata/none.pt2", "none.pt2");
  Members members = members_of(kNested);
  const auto with = [&](const char* more, const char* without) {
    Members other = members;
    other.erase(without);
    other[more] = "x";
    return write_members("other.pt2", other);
  };
  expect_refused(with("nested/constants.pkl", kModel.c_str()), "TorchScript");
  expect_refused(with("nested/data.pkl", kModel.c_str()), "torch.save");
  expect_refused(with("nested/data/aotinductor/model/x.so", kModel.c_str()),
                 "AOTInductor");
  expect_refused(with("nested/readme", "nested/archive_format"), "another one");
  expect_refused(with("../outside", "nested/byteorder"),
                 "expected a member below");
  expect_refused(with("serialized_exported_program.json", ""), "below");
}

TEST(ProgramFiles, AreNoStateDicts) {
  SY_EXPECT_ERROR(load_state_dict(kNested), FileError,
                  "expected tensors, got an exported program");
}

TEST(ProgramFiles, OfOtherVersions) {
  expect_refused(changed(kModel, "\"schema_version\": {\"major\": 8",
                         "\"schema_version\": {\"major\": 7"),
                 "schema_version: expected 8.x, got 7.");
  Members members = members_of(kNested);
  members.at("nested/byteorder") = "big";
  expect_refused(write_members("big.pt2", members), "expected 'little'");
}

TEST(ProgramFiles, WhatIsMissing) {
  Members members = members_of(kNested);
  members.erase("nested/data/weights/weight_1");
  expect_refused(write_members("no_weight.pt2", members),
                 "expected a member 'data/weights/weight_1'");
  expect_refused(changed(kWeights, "\"linear.bias\"", "\"linear.bios\""),
                 "'linear.bias': expected a tensor in the file");
  expect_refused(changed(kModel, "\"nodes\"", "\"knots\""),
                 "expected a member 'nodes'");
}

TEST(ProgramFiles, OperatorsThatThereAreNot) {
  Members members = members_of(kNested);
  std::string& text = members.at(kModel);
  for (const auto& [before, after] :
       {std::pair("aten.embedding.default", "mine.frobnicate.default"),
        std::pair("aten.linear.default", "aten.lineal.default")}) {
    text.replace(text.find(before), std::strlen(before), after);
  }
  const std::string path = write_members("unknown.pt2", members);
  // All of them at once.
  expect_refused(path, "no operator mine::frobnicate (node 'embedding'");
  expect_refused(path, "no operator aten::lineal (node 'linear' of 'linear')");
  expect_refused(path, "did you mean 'aten::linear'?");
  EXPECT_FALSE(describe_program(path).nodes.empty());
}

TEST(ProgramFiles, ArgumentsThatDoNotFit) {
  expect_refused(changed(kModel, "{\"name\": \"dim\", \"arg\": {\"as_int\": 0}",
                         "{\"name\": \"dim\", \"arg\": {\"as_string\": \"0\"}"),
                 "dim: expected int, got a string");
  expect_refused(
      changed(kModel, "{\"name\": \"indices\"", "{\"name\": \"indexes\""),
      "has no argument 'indexes'");
  // A node before its input.
  expect_refused(
      changed(kModel, "\"arg\": {\"as_tensor\": {\"name\": \"embedding\"}}",
              "\"arg\": {\"as_tensor\": {\"name\": \"linear\"}}"),
      "got 'linear'");
}

TEST(ProgramFiles, SizesBeyondTheFile) {
  const auto sizes = [](const std::string& n) {
    return changed(kWeights, "\"sizes\": [{\"as_int\": 3}",
                   "\"sizes\": [{\"as_int\": " + n + "}");
  };
  expect_refused(sizes("4"), "expected a tensor within its 12 elements");
  expect_refused(sizes("9223372036854775807"), "expected a tensor within");
  expect_refused(sizes("-1"), "expected sizes that are numbers, got -1");
  expect_refused(changed(kWeights, "\"storage_offset\": {\"as_int\": 0}",
                         "\"storage_offset\": {\"as_int\": 7}"),
                 "from 7");
  expect_refused(
      changed(kWeights, "\"use_pickle\": false", "\"use_pickle\": true"),
      "got a Python object");
}

TEST(ProgramFiles, JsonThatIsDeep) {
  Members members = members_of(kNested);
  members.at(kModel) = std::string(100000, '[');
  expect_refused(write_members("deep.pt2", members),
                 "expected at most 500 values in one another");
  members.at(kModel) = "{\"schema_version\": 3}";
  expect_refused(write_members("small.pt2", members), "expected an object");
  members.at(kModel) = "{";
  expect_refused(write_members("cut.pt2", members), "not valid JSON");
}

TEST(ProgramFiles, CutAnywhere) {
  const std::string bytes = bytes_of(kNested);
  const std::string path = scratch("cut.pt2");
  for (size_t n = 0; n < bytes.size(); n += 997) {
    write(path, bytes.substr(0, n));
    EXPECT_THROW(load_program(path), FileError) << n;
  }
}

// A file that ends wherever the last byte was written; skip() leaves a hole.
class SparseFile final : public io::Output {
 public:
  explicit SparseFile(const std::string& path) : out_(path, std::ios::binary) {}
  using io::Output::write;
  void write(const void* data, uint64_t size) override {
    out_.write(static_cast<const char*>(data),
               static_cast<std::streamsize>(size));
    size_ += size;
  }
  void skip(uint64_t size) {
    size_ += size;
    out_.seekp(static_cast<std::streamoff>(size_));
  }
  uint64_t size() const override { return size_; }

 private:
  std::ofstream out_;
  uint64_t size_ = 0;
};

// nested.pt2 with a table of so many rows, all of them zeros, that takes no
// room on the disk.
std::string write_big_table(int64_t rows) {
  Members members = members_of(kNested);
  const auto enlarge = [&](const std::string& member, const std::string& key) {
    const std::string before = "{\"as_int\": 5}";
    std::string& text = members.at(member);
    const size_t at = text.find(before, text.find(key));
    ASSERT_NE(at, std::string::npos);
    text.replace(at, before.size(),
                 "{\"as_int\": " + std::to_string(rows) + "}");
  };
  enlarge(kWeights, "\"table.weight\"");
  enlarge(kModel, "\"p_table_weight\": ");
  const std::string table = "nested/data/weights/weight_2";
  EXPECT_EQ(members.at(table).size(), 5u * 4 * sizeof(float));
  members.erase(table);
  const std::string path = scratch("big.pt2");
  SparseFile file(path);
  io::ZipWriter zip(file);
  const uint64_t size = static_cast<uint64_t>(rows) * 4 * sizeof(float);
  zip.member("test", table, size, 0);
  file.skip(size);
  for (const auto& [member, bytes] : members) {
    zip.member("test", member, bytes.size(),
               io::crc32(0, bytes.data(), bytes.size()));
    file.write(bytes);
  }
  zip.finish();
  return path;
}

// Bytes of memory of this process, pages of mapped files among them.
uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes << 10;
  }
  ADD_FAILURE() << "no VmRSS in /proc/self/status";
  return 0;
}

TEST(ProgramFiles, FiveGigabytesAreMapped) {
  constexpr int64_t kRows = 340'000'000;
  const std::string path = write_big_table(kRows);
  EXPECT_GT(std::filesystem::file_size(path), uint64_t{5} << 30);
  const Program small = load_program(kNested);
  const uint64_t before = resident_bytes();
  const Program big = load_program(path);
  const Tensor table = big->state_dict()["table.weight"];
  EXPECT_EQ(table.size(0), kRows);
  const NoGradGuard no_grad;
  small->state_dict()["table.weight"].zero_();
  const Tensor x = rand({3, 4}), q = ones({2});
  const auto rows = [](int64_t row) { return full({3}, row, kLong); };
  const auto got = big->tensors({x, rows(kRows - 1), q});
  const auto expected = small->tensors({x, rows(4), q});
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].equal(expected[i])) << i;
  }
  EXPECT_LT(resident_bytes(), before + (uint64_t{64} << 20));
  std::filesystem::remove(path);
}

// Names, sizes and numbers in descriptions are changed. Files are loaded and,
// where that works, run: each gives a result or an Error.
TEST(ProgramFiles, DamagedAtRandom) {
  const char* const given = std::getenv("SY_MUTATIONS");
  const int count = given == nullptr ? 1500 : std::atoi(given);
  const Members whole = members_of(kNested);
  std::mt19937 random(1);
  const std::string digits = "0123456789-\"[]{},:xtfn";
  int loaded = 0, ran = 0;
  for (int i = 0; i < count; ++i) {
    Members members = whole;
    std::string& text = members.at(random() % 4 == 0 ? kWeights : kModel);
    for (unsigned k = 0; k <= random() % 3; ++k) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, random() % 40);
      } else {
        text[at] = digits[random() % digits.size()];
      }
    }
    const std::string path = write_members("damaged.pt2", members);
    try {
      const Program program = load_program(path);
      ++loaded;
      program->tensors({rand({3, 4}), zeros({3}, kLong), ones({2})});
      ++ran;
    } catch (const Error&) {
    }
  }
  std::printf("%d files, %d loaded, %d ran\n", count, loaded, ran);
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, count);
}

}  // namespace
}  // namespace sy
