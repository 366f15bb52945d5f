#include <cstring>
#include <filesystem>

#include "aten/tensor_new.h"
#include "frontend/io/npy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

TEST(Npz, ReadsAnothersArchives) {
  for (const char* name : {"stored", "deflated", "stored64", "deflated64",
                           "stored_stream", "deflated_stream", "end64"}) {
    SCOPED_TRACE(name);
    const NamedTensors all = load_npz(testdata(str("{}.npz", name)));
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all.begin()->first, "a");
    expect_data(all["a"], kFloat, {3, 4});
    expect_data(all["b/\xc3\xa4"], kLong, {5});
    expect_data(all["empty"], kDouble, {0, 2});
  }
}

TEST(Npz, WritesWhatItReads) {
  std::vector<NamedTensors::Entry> entries;
  for (const ScalarType dtype : kAllDtypes) {
    if (dtype == kBFloat16) continue;
    entries.emplace_back(dtype_name(dtype), expected(dtype, {3, 5}).to(dtype));
  }
  entries.emplace_back("large", ones({256, 256}));
  entries.emplace_back("", tensor(1.5));
  entries.emplace_back("\xc3\xa4", zeros({0}));
  const NamedTensors saved(entries);
  const std::string path = scratch("all.npz");
  save_npz(path, saved);
  const NamedTensors loaded = load_npz(path);
  ASSERT_EQ(loaded.size(), saved.size());
  auto at = loaded.begin();
  for (const auto& [name, t] : saved) {
    EXPECT_EQ(at->first, name);
    EXPECT_EQ(at->second.scalar_type(), t.scalar_type());
    EXPECT_EQ(at->second.sizes(), t.sizes());
    EXPECT_EQ(values(at->second), values(t));
    ++at;
  }
  // Mapped: its data are aligned in the archive.
  EXPECT_FALSE(loaded["large"].storage()->resizable());
  save_npz(path, {});
  EXPECT_TRUE(load_npz(path).empty());
}

TEST(Npz, OtherProgramsReadWhatItWrites) {
  const std::string path = scratch("check.npz");
  save_npz(path, {{"a", ones({3})}, {"b/\xc3\xa4", ones({256, 256})}});
  const std::string script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
      "sys.exit(z.testzip() is not None or "
      "z.namelist() != ['a.npy', 'b/\\u00e4.npy'])";
  EXPECT_EQ(
      std::system(("python3 -c \"" + script + "\" '" + path + "'").c_str()), 0);
}

// More than 16 bits count: the directory's end has 64-bit records.
TEST(Npz, ManyMembers) {
  std::vector<NamedTensors::Entry> entries;
  const Tensor one = tensor(int8_t{1});
  for (int i = 0; i < 66000; ++i) entries.emplace_back(std::to_string(i), one);
  const std::string path = scratch("many.npz");
  save_npz(path, NamedTensors(std::move(entries)));
  const std::string script =
      "import sys, zipfile; "
      "sys.exit(len(zipfile.ZipFile(sys.argv[1]).namelist()) != 66000)";
  EXPECT_EQ(
      std::system(("python3 -c \"" + script + "\" '" + path + "'").c_str()), 0);
  const NamedTensors loaded = load_npz(path);
  EXPECT_EQ(loaded.size(), 66000u);
  EXPECT_EQ(loaded["65999"].item<int>(), 1);
}

// The error of load_npz for an archive, behind "[load_npz] path: ".
std::string problem(const std::string& bytes) {
  const std::string path = write_file(scratch("bad.npz"), bytes);
  try {
    load_npz(path);
  } catch (const FileError& e) {
    const std::string start = "[load_npz] " + path + ": ";
    EXPECT_EQ(e.message().substr(0, start.size()), start);
    return e.message().substr(start.size());
  }
  return "(read)";
}

class NpzErrors : public testing::Test {
 protected:
  // The archive with `bytes` at a place counted from the nth record that has
  // the signature PK..; from the end of the file for n = -1.
  static std::string changed(std::string archive, const char* signature, int n,
                             size_t offset, const std::string& bytes) {
    size_t at = archive.find(signature);
    for (; n > 0; --n) at = archive.find(signature, at + 1);
    EXPECT_NE(at, std::string::npos);
    archive.replace(at + offset, bytes.size(), bytes);
    return problem(archive);
  }
  static constexpr const char* kLocal = "PK\3\4";
  static constexpr const char* kEntry = "PK\1\2";
  static constexpr const char* kEnd = "PK\5\6";
  const std::string stored_ = read_file(testdata("stored.npz"));
  const std::string deflated_ = read_file(testdata("deflated.npz"));
};

TEST_F(NpzErrors, Ends) {
  EXPECT_EQ(problem(stored_), "(read)");
  EXPECT_EQ(problem(""),
            "expected a zip archive, found no end of its directory");
  EXPECT_EQ(problem(stored_ + "x"),
            "expected a zip archive, found no end of its directory");
  EXPECT_EQ(problem(stored_.substr(1)).substr(0, 31),
            "byte 743: expected a directory ");
  std::string commented = stored_ + "why";
  commented[stored_.size() - 2] = 3;
  EXPECT_EQ(problem(commented), "(read)");
  EXPECT_NE(changed(stored_, kEnd, 0, 4, "\1").find("several parts"),
            std::string::npos);
  EXPECT_EQ(changed(stored_, kEnd, 0, 8, std::string("\2\0\2\0", 4)).substr(10),
            "expected 2 entries of the directory, got 3");
  const std::string end64 = read_file(testdata("end64.npz"));
  EXPECT_NE(changed(end64, "PK\6\7", 0, 8, "\1")
                .find("expected the place of the 64-bit end"),
            std::string::npos);
}

TEST_F(NpzErrors, Members) {
  EXPECT_NE(changed(stored_, kEntry, 0, 8, "\1").find("encrypted"),
            std::string::npos);
  EXPECT_NE(changed(stored_, kEntry, 0, 10, "\x0c")
                .find("'a.npy': expected method 0 (stored) or 8 (deflated), "
                      "got 12"),
            std::string::npos);
  EXPECT_NE(changed(stored_, kLocal, 0, 30, "b")
                .find("'a.npy': its name is not that of the directory"),
            std::string::npos);
  EXPECT_NE(changed(stored_, kLocal, 0, 18, "\1").find("its size is not"),
            std::string::npos);
  EXPECT_NE(changed(stored_, kLocal, 0, 0, "XX").find("expected the header"),
            std::string::npos);
  EXPECT_NE(changed(stored_, kEntry, 1, 8, std::string(2, '\0')).find("UTF-8"),
            std::string::npos);
  // The second entry becomes the first: the same name, place and size.
  std::string twice = stored_;
  const size_t first = twice.find(kEntry);
  const size_t second = twice.find(kEntry, first + 1);
  const size_t third = twice.find(kEntry, second + 1);
  twice.replace(second, third - second,
                twice.substr(first, second - first) +
                    std::string(third - second - (second - first), '\0'));
  EXPECT_NE(problem(twice), "(read)");
}

TEST_F(NpzErrors, Data) {
  const size_t data = stored_.find("\x93NUMPY");
  std::string changed_data = stored_;
  changed_data[data + 130] ^= 1;
  EXPECT_EQ(problem(changed_data),
            str("byte {}: 'a.npy': its check sum does not agree", data));
  EXPECT_NE(changed(deflated_, kEntry, 0, 24, "\1").find("not that of"),
            std::string::npos);
  int read = 0, inflated = 0;
  // Not the last byte, some of whose bits are unused.
  const size_t begin = 35, end = deflated_.find(kLocal, 1) - 1;
  for (size_t at = begin; at < end; ++at) {
    std::string bad = deflated_;
    bad[at] ^= 0x10;
    const std::string what = problem(bad);
    read += what == "(read)";
    inflated += what.find("cannot be inflated") != std::string::npos ||
                what.find("not as long as") != std::string::npos ||
                what.find("check sum") != std::string::npos;
  }
  EXPECT_EQ(read, 0);
  EXPECT_EQ(inflated, int(end - begin));
}

TEST_F(NpzErrors, SizesThatDataCannotHaveAreNotAllocated) {
  // Both records of the first member: 2 GB from 100 bytes.
  std::string bomb = deflated_;
  for (const size_t at : {bomb.find(kLocal) + 22, bomb.find(kEntry) + 24}) {
    bomb.replace(at, 4, std::string("\0\0\0\x7f", 4));
  }
  reset_peak_memory_stats();
  const int64_t before = memory_stats().peak;
  EXPECT_NE(problem(bomb).find("bytes cannot become 2130706432"),
            std::string::npos);
  EXPECT_LT(memory_stats().peak, before + (1 << 20));
}

TEST_F(NpzErrors, MembersOfOtherKinds) {
  std::string text = stored_;
  for (size_t at = 0; (at = text.find("a.npy", at)) != text.npos;) {
    text.replace(at, 5, "a.txt");
  }
  EXPECT_EQ(problem(text), "'a.txt': expected a name that ends in .npy");
  SY_EXPECT_ERROR(load_npz(testdata("f4.npy")), FileError, "zip archive");
  SY_EXPECT_ERROR(save_npz(scratch("x.npz"), {{"a", ones({1}, kBFloat16)}}),
                  TypeError, "[save_npz] tensor: expected a dtype");
  EXPECT_FALSE(std::filesystem::exists(scratch("x.npz")));
  SY_EXPECT_ERROR(
      save_npz(scratch("x.npz"), {{std::string(70000, 'n'), ones({1})}}),
      ValueError, "at most 65535 bytes");
}

}  // namespace
}  // namespace sy
