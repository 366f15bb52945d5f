#include "frontend/io/safetensors.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "aten/ops/copy.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

using Names = std::vector<std::string>;

TEST(Safetensors, ReadsEveryDtypeOfAnothersFile) {
  const SafetensorsFile file(testdata("all.safetensors"));
  const std::pair<const char*, ScalarType> kNames[] = {
      {"i16", kShort},     {"i32", kInt},   {"i64", kLong},
      {"f16", kHalf},      {"f32", kFloat}, {"f64", kDouble},
      {"bf16", kBFloat16}, {"u8", kByte},   {"i8", kChar}};
  for (const auto& [name, dtype] : kNames) {
    expect_data(file.get(name), dtype, {2, 3});
  }
  expect_data(file.get("bool"), kBool, {5});
  expect_data(file.get("scalar"), kByte, {});
  expect_data(file.get("empty"), kFloat, {0, 4});
  EXPECT_EQ(file.names().size(), 12u);
  EXPECT_EQ(file.names()[0], "i16");
  EXPECT_EQ(file.dtype("bf16"), "BF16");
  EXPECT_EQ(file.sizes("empty"), IntArrayRef({0, 4}));
  EXPECT_EQ(file.metadata(),
            (FileMetadata{{"format", "pt"}, {"\xc3\xa4", "\"\\\n"}}));
  EXPECT_FALSE(file.contains("f3"));
  SY_EXPECT_ERROR(file.get("f3"), IndexError, "12 names, got 'f3'");
}

TEST(Safetensors, TensorsThatAreNotAlignedAreCopied) {
  const SafetensorsFile file(testdata("unaligned.safetensors"));
  expect_data(file.get("first"), kByte, {3});
  expect_data(file.get("second"), kFloat, {2, 2});
}

TEST(Safetensors, DtypesThatThereAreNotFailWhenTheyAreRead) {
  const SafetensorsFile file(testdata("f8.safetensors"));
  EXPECT_EQ(file.dtype("f8"), "F8_E4M3");
  expect_data(file.get("f32"), kFloat, {2});
  SY_EXPECT_ERROR(file.get("f8"), FileError,
                  "'f8': dtype: F8_E4M3 is not supported");
  SY_EXPECT_ERROR(
      load_safetensors(testdata("f8.safetensors")), FileError,
      "[load_safetensors] test/frontend/io/testdata/f8.safetensors: 'f8'");
}

TEST(Safetensors, WritesWhatItReads) {
  std::vector<NamedTensors::Entry> entries;
  for (const ScalarType t : kAllDtypes) {
    entries.emplace_back(dtype_name(t), expected(t, {3, 5}).to(t));
  }
  entries.emplace_back("scalar", tensor(2.5f));
  entries.emplace_back("none", zeros({4, 0, 2}));
  entries.emplace_back("columns", expected(kFloat, {4, 3}).t());
  entries.emplace_back("gradient", ones({2}).requires_grad_());
  entries.emplace_back("\xf0\x9f\x98\x80 \"\n", ones({1}));
  const NamedTensors saved(entries);
  const std::string path = scratch("all.safetensors");
  save_safetensors(path, saved, {{"a", "1"}, {"", "\t"}});

  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), (FileMetadata{{"a", "1"}, {"", "\t"}}));
  const NamedTensors loaded = file.get_all();
  ASSERT_EQ(loaded.size(), saved.size());
  auto at = loaded.begin();
  for (const auto& [name, t] : saved) {
    EXPECT_EQ(at->first, name);
    EXPECT_EQ(at->second.scalar_type(), t.scalar_type());
    EXPECT_EQ(at->second.sizes(), t.sizes());
    EXPECT_EQ(values(at->second), values(t)) << name;
    EXPECT_FALSE(at->second.requires_grad());
    const auto address = reinterpret_cast<uintptr_t>(at->second.data_ptr());
    EXPECT_EQ(address % element_size(t.scalar_type()), 0u);
    ++at;
  }
}

TEST(Safetensors, FileIsAsTheFormatSays) {
  const std::string path = scratch("two.safetensors");
  save_safetensors(path, {{"b", tensor({true})}, {"w", tensor({1.f, 2.f})}});
  std::string text =
      R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]},)"
      R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  text.resize(120, ' ');
  const std::string length = std::string(1, 120) + std::string(7, '\0');
  const float numbers[] = {1, 2};
  EXPECT_EQ(read_file(path),
            length + text +
                std::string(reinterpret_cast<const char*>(numbers), 8) + "\1");
}

TEST(Safetensors, WritingToATensorDoesNotChangeTheFile) {
  const std::string path = scratch("private.safetensors");
  save_safetensors(path, {{"w", ones({1000})}});
  const std::string before = read_file(path);
  const SafetensorsFile file(path);
  const Tensor w = file.get("w");
  w.fill_(3);
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(load_safetensors(path)["w"].amax().item<float>(), 1);
  EXPECT_EQ(file.get("w").amax().item<float>(), 3);
  EXPECT_EQ(file.get("w").storage()->version(), w.storage()->version());
}

TEST(Safetensors, TensorsOutliveTheFile) {
  const std::string path = scratch("gone.safetensors");
  save_safetensors(path, {{"w", ones({1000})}, {"v", zeros({1000})}});
  Tensor w = load_safetensors(path)["w"];
  // Its own file may be written over too.
  save_safetensors(path, {{"w", w.add(1)}});
  EXPECT_EQ(load_safetensors(path)["w"].sum().item<float>(), 2000);
  std::filesystem::remove(path);
  EXPECT_EQ(w.sum().item<float>(), 1000);
}

TEST(Safetensors, ReadsShards) {
  const SafetensorsFile file(testdata("model.safetensors.index.json"));
  EXPECT_EQ(file.names(), (Names{"z", "x", "y"}));
  expect_data(file.get("x"), kFloat, {2, 2});
  expect_data(file.get("y"), kLong, {3});
  expect_data(file.get("z"), kBFloat16, {4});
  EXPECT_EQ(file.metadata(),
            (FileMetadata{{"total_size", "48"}, {"note", "two parts"}}));
}

TEST(Safetensors, WritesShards) {
  const NamedTensors saved = {{"a", ones({10})},
                              {"b", zeros({5}, kDouble)},
                              {"c", arange(100)},
                              {"d", tensor({true})}};
  const std::string path = scratch("m.safetensors.index.json");
  save_sharded_safetensors(path, saved, 80, {{"by", "test"}});
  for (const int i : {1, 2, 3}) {
    const SafetensorsFile part(
        scratch("m-0000" + std::to_string(i) + "-of-00003.safetensors"));
    EXPECT_EQ(part.names(), i == 1   ? (Names{"a", "b"})
                            : i == 2 ? Names{"c"}
                                     : Names{"d"});
  }
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(),
            (FileMetadata{{"by", "test"}, {"total_size", "881"}}));
  for (const auto& [name, t] : file.get_all()) {
    EXPECT_EQ(values(t), values(saved[name])) << name;
  }
  // Tensors that were read can be written.
  save_sharded_safetensors(path, file.get_all(), 1, file.metadata());
  EXPECT_EQ(SafetensorsFile(path).metadata(), file.metadata());
  save_sharded_safetensors(path, {});
  EXPECT_EQ(SafetensorsFile(path).names(), Names{});
}

TEST(Safetensors, RefusesToWriteWhatItCouldNotRead) {
  const std::string path = scratch("bad.safetensors");
  const Tensor t = ones({2});
  SY_EXPECT_ERROR(save_safetensors(path, {{"a", Tensor()}}), ValueError,
                  "[save_safetensors] a: expected a tensor with elements");
  const Tensor meta = empty({2}, TensorOptions().device(kMeta));
  SY_EXPECT_ERROR(save_safetensors(path, {{"a", meta}}), ValueError, "meta");
  SY_EXPECT_ERROR(save_safetensors(path, {{"\xff", t}}), ValueError, "UTF-8");
  SY_EXPECT_ERROR(save_safetensors(path, {{"__metadata__", t}}), ValueError,
                  "__metadata__");
  SY_EXPECT_ERROR(save_safetensors(path, {{"a", t}}, {{"k", "\xc0"}}),
                  ValueError, "metadata: expected UTF-8, got 'k'");
  SY_EXPECT_ERROR(save_safetensors(path, {{"a", t}}, {{"k", ""}, {"k", ""}}),
                  ValueError, "got 'k' twice");
  SY_EXPECT_ERROR(save_sharded_safetensors(path, {{"a", t}}), ValueError,
                  "index_path: expected a name that ends in");
  SY_EXPECT_ERROR(
      save_sharded_safetensors(scratch("x.safetensors.index.json"), {}, 0),
      ValueError, "max_shard_bytes");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(NamedTensors, KeepOrderAndFindByName) {
  NamedTensors all = {{"b", ones({1})}, {"a", ones({2})}};
  all.insert("0", ones({3}));
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(all.begin()->first, "b");
  EXPECT_EQ(all["a"].numel(), 2);
  EXPECT_EQ(all["0"].numel(), 3);
  EXPECT_EQ(all.find("c"), nullptr);
  SY_EXPECT_ERROR(all["c"], IndexError, "one of 3 names, got 'c'");
  SY_EXPECT_ERROR(all.insert("a", ones({1})), ValueError, "'a' twice");
  SY_EXPECT_ERROR((NamedTensors{{"x", ones({1})}, {"x", ones({1})}}),
                  ValueError, "'x' twice");
}

// A folder of its own, to see all that is written.
class Writing : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Names files() const {
    Names names;
    for (const auto& e : std::filesystem::directory_iterator(folder_)) {
      names.push_back(e.path().filename());
    }
    return names;
  }
  const std::string folder_ = scratch("folder");
  const std::string path_ = folder_ + "/x.safetensors";
};

TEST_F(Writing, LeavesOneFile) {
  save_safetensors(path_, {{"a", ones({2})}});
  save_safetensors(path_, {{"a", ones({3})}});
  EXPECT_EQ(files(), Names{"x.safetensors"});
  EXPECT_EQ(load_safetensors(path_)["a"].numel(), 3);
}

TEST_F(Writing, ThatFailsLeavesTheOldFile) {
  save_safetensors(path_, {{"a", ones({2})}});
  // The second tensor cannot be copied to be contiguous.
  const Tensor columns = ones({64, 64}).t();
  fail_allocation(1);
  EXPECT_THROW(save_safetensors(path_, {{"a", ones({2})}, {"b", columns}}),
               OutOfMemoryError);
  fail_allocation(0);
  EXPECT_EQ(files(), Names{"x.safetensors"});
  EXPECT_EQ(load_safetensors(path_).size(), 1u);
}

TEST_F(Writing, FollowsLinksAndRefusesOtherPlaces) {
  const std::string link = folder_ + "/link";
  save_safetensors(path_, {{"a", ones({2})}});
  std::filesystem::create_symlink("x.safetensors", link);
  save_safetensors(link, {{"a", ones({5})}});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(load_safetensors(path_)["a"].numel(), 5);
  SY_EXPECT_ERROR(save_safetensors(folder_, {}), FileError,
                  folder_ + ": expected a regular file");
  SY_EXPECT_ERROR(save_safetensors(folder_ + "/no/x", {}), FileError,
                  "cannot create: No such file");
  const std::string zero = path_ + std::string(1, '\0');
  SY_EXPECT_ERROR(save_safetensors(zero, {}), FileError, "zero bytes");
}

TEST_F(Writing, PlacesThatAreNoFilesAreNotRead) {
  SY_EXPECT_ERROR(load_safetensors(folder_), FileError, "regular file");
  SY_EXPECT_ERROR(load_safetensors(path_), FileError, "cannot open: No such");
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  SY_EXPECT_ERROR(load_safetensors(path_), FileError, "regular file");
  SY_EXPECT_ERROR(load_safetensors(path_ + std::string(1, '\0')), FileError,
                  "zero bytes");
}

}  // namespace
}  // namespace sy
