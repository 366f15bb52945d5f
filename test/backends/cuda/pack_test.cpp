#include "backends/cuda/compile/pack.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "backends/cuda/compile/pack_format.h"
#include "test/c10/expect_error.h"

namespace sy::cuda {
namespace {

const Hash kAdd = hash_of("add"), kMul = hash_of("mul"), kSub = hash_of("sub");
constexpr Target k80 = {80}, k86 = {86}, k90 = {90}, kPtx90 = {90, true};

std::string fresh_path() {
  static int n = 0;
  return testing::TempDir() + "/pack" + std::to_string(getpid()) + "_" +
         std::to_string(++n) + ".pack";
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string write(const std::vector<PackItem>& items) {
  const std::string path = fresh_path();
  write_pack(path, items);
  return path;
}

std::unique_ptr<Pack> open_pack(const std::string& path) {
  std::string why;
  auto pack = Pack::open(path, &why);
  EXPECT_NE(pack, nullptr) << why;
  return pack;
}

std::string why_refused(const std::string& path) {
  std::string why;
  EXPECT_EQ(Pack::open(path, &why), nullptr);
  return why;
}

std::string found(const Pack& pack, const Hash& key, int architecture) {
  Image image;
  std::string why;
  if (!pack.find(key, architecture, &image, &why)) {
    return why.empty() ? "nothing" : why;
  }
  EXPECT_EQ(hash_of(image.bytes), image.id);
  return std::string(image.bytes);
}

TEST(CudaPack, GivesTheImageOfAKey) {
  const auto pack = open_pack(
      write({{{kAdd, kMul}, {k80}, "two kernels"}, {{kSub}, {k80}, "one"}}));
  EXPECT_EQ(pack->size(), 3u);
  EXPECT_EQ(pack->targets(), "sm_80");
  EXPECT_EQ(found(*pack, kAdd, 80), "two kernels");
  EXPECT_EQ(found(*pack, kMul, 80), "two kernels");
  EXPECT_EQ(found(*pack, kSub, 80), "one");
  EXPECT_EQ(found(*pack, hash_of("div"), 80), "nothing");
}

TEST(CudaPack, PrefersTheNewestCubinThatRunsAndThenPtx) {
  const auto pack = open_pack(write({{{kAdd}, {k80}, "80"},
                                     {{kAdd}, {k86}, "86"},
                                     {{kAdd}, {k90}, "90"},
                                     {{kAdd}, {kPtx90}, "ptx"}}));
  EXPECT_EQ(pack->targets(), "sm_80, sm_86, sm_90, compute_90");
  EXPECT_EQ(found(*pack, kAdd, 75), "nothing");
  EXPECT_EQ(found(*pack, kAdd, 80), "80");
  EXPECT_EQ(found(*pack, kAdd, 86), "86");
  EXPECT_EQ(found(*pack, kAdd, 89), "86");
  EXPECT_EQ(found(*pack, kAdd, 90), "90");
  // A cubin of 9.0 runs on no device of 10.0.
  EXPECT_EQ(found(*pack, kAdd, 100), "ptx");
  EXPECT_FALSE(pack->serves(75));
  EXPECT_TRUE(pack->serves(89));
  EXPECT_TRUE(pack->serves(120));
}

TEST(CudaPack, HasOneImageForSeveralTargets) {
  const std::string image(5000, 'f');
  const std::string path =
      write({{{kAdd, kMul, kSub}, {k80, k90, kPtx90}, image}});
  // Deflated, too.
  EXPECT_LT(read_text(path).size(), 700u);
  const auto pack = open_pack(path);
  for (const int a : {80, 90, 120}) EXPECT_EQ(found(*pack, kMul, a), image);
}

TEST(CudaPack, MayBeEmpty) {
  const auto pack = open_pack(write({}));
  EXPECT_EQ(pack->size(), 0u);
  EXPECT_EQ(found(*pack, kAdd, 80), "nothing");
}

TEST(CudaPack, RefusesWhatIsNoPack) {
  const std::string path = fresh_path();
  EXPECT_NE(why_refused(path).find("No such file"), std::string::npos);
  write_text(path, "");
  EXPECT_NE(why_refused(path).find("is no pack"), std::string::npos);
  write_text(path, std::string(1000, 'x'));
  EXPECT_NE(why_refused(path).find("is no pack"), std::string::npos);
  EXPECT_NE(why_refused(testing::TempDir()).find("is no file"),
            std::string::npos);
}

TEST(CudaPack, RefusesAnotherVersion) {
  const std::string path = write({{{kAdd}, {k80}, "image"}});
  std::string text = read_text(path);
  text[8] = 9;
  write_text(path, text);
  EXPECT_NE(why_refused(path).find("expected version 1 of packs, got 9"),
            std::string::npos);
}

TEST(CudaPack, RefusesWhatIsCutOff) {
  const std::string path = write({{{kAdd}, {k80}, std::string(100, 'x')}});
  const std::string text = read_text(path);
  for (size_t left = 0; left < text.size(); left += 8) {
    write_text(path, text.substr(0, left));
    EXPECT_NE(why_refused(path), "") << left;
  }
}

TEST(CudaPack, RefusesAPackThatOthersCanWrite) {
  const std::string path = write({{{kAdd}, {k80}, "image"}});
  chmod(path.c_str(), 0666);
  EXPECT_NE(why_refused(path).find("every user may write it"),
            std::string::npos);
}

TEST(CudaPack, WrittenAgainKeepsItsMode) {
  const auto mode_of = [](const std::string& path) {
    struct stat s {};
    return stat(path.c_str(), &s) == 0 ? s.st_mode & 0777 : 0;
  };
  const std::string path = write({{{kAdd}, {k80}, "image"}});
  chmod(path.c_str(), 0600);
  write_pack(path, {{{kAdd}, {k80}, "another"}});
  EXPECT_EQ(mode_of(path), 0600u);
}

// A bit of each byte is flipped in turn: no wrong image ever comes out.
TEST(CudaPack, AFlippedBitIsNoticed) {
  const std::string path =
      write({{{kAdd}, {k80}, "the image"}, {{kMul}, {k90}, "another"}});
  const std::string text = read_text(path);
  size_t refused = 0, damaged = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << at % 8);
    write_text(path, flipped);
    std::string why;
    const auto pack = Pack::open(path, &why);
    if (pack == nullptr) {
      EXPECT_NE(why, "");
      ++refused;
      continue;
    }
    for (const auto& [key, architecture, image] :
         {std::tuple(kAdd, 80, "the image"), std::tuple(kMul, 90, "another")}) {
      const std::string got = found(*pack, key, architecture);
      if (got == image) continue;
      EXPECT_EQ(got, path + ": is damaged: an image");
      ++damaged;
    }
  }
  // The rest beside the head and the index is images and zeros.
  EXPECT_GE(refused, sizeof(PackHead) - 8 + 2 * sizeof(PackEntry));
  EXPECT_GE(damaged, 16u);
}

TEST(CudaPack, IsWrittenWholeOrNotAtAll) {
  const std::string path = write({{{kAdd}, {k80}, "image"}});
  SY_EXPECT_ERROR(
      write_pack(path, {{{kAdd}, {k80}, "x"}, {{kAdd}, {k80}, "y"}}), Error,
      "two images for key " + hex(kAdd) + " and sm_80");
  SY_EXPECT_ERROR(write_pack(path, {{{kAdd}, {k80}, ""}}), Error, "is empty");
  SY_EXPECT_ERROR(write_pack("/nowhere/x.pack", {}), Error,
                  "cannot write /nowhere/x.pack");
  EXPECT_EQ(found(*open_pack(path), kAdd, 80), "image");
}

// The list of the process is read once, so this is one test.
TEST(CudaPack, PacksOfTheEnvironmentAreSearchedInOrder) {
  const std::string first = write({{{kAdd}, {k90}, "first"}});
  const std::string foreign = write({{{kMul}, {k80}, "of another device"}});
  const std::string damaged = write({{{kSub}, {k90}, "damaged"}});
  const std::string last =
      write({{{kAdd}, {k90}, "last"}, {{kSub}, {k90}, "last"}});
  std::string text = read_text(damaged);
  text[sizeof(PackHead) + sizeof(PackEntry) + 6] ^= 1;
  write_text(damaged, text);
  const std::string missing = fresh_path();
  setenv("SWITCHYARD_CUDA_PACK",
         (first + ":" + missing + ":" + foreign + "::" + damaged + ":" + last)
             .c_str(),
         1);

  testing::internal::CaptureStderr();
  Image image;
  EXPECT_TRUE(find_in_packs(kAdd, 90, &image));
  EXPECT_EQ(image.bytes, "first");
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(find_in_packs(kSub, 90, &image));
    EXPECT_EQ(image.bytes, "last");
    EXPECT_FALSE(find_in_packs(kMul, 90, &image));
  }
  const std::string said = testing::internal::GetCapturedStderr();
  const auto times = [&](const std::string& line) {
    size_t n = 0;
    for (size_t at = said.find(line); at != said.npos;
         at = said.find(line, at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(times("not used: " + missing), 1u) << said;
  EXPECT_EQ(times(foreign + ": is for sm_80, the device is sm_90"), 1u) << said;
  EXPECT_EQ(times("compiled anew: " + damaged + ": is damaged: an image"), 1u)
      << said;
  EXPECT_EQ(times("\n"), 3u) << said;

  const auto lines = describe_packs();
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], first + ": 1 kernels for sm_90");
}

}  // namespace
}  // namespace sy::cuda
