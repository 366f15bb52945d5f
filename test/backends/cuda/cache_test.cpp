#include "backends/cuda/compile/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace sy::cuda {
namespace {

const Hash kKey = hash_of("a kernel"), kOther = hash_of("another");

std::string fresh_folder() {
  static int n = 0;
  return testing::TempDir() + "/cache" + std::to_string(getpid()) + "_" +
         std::to_string(++n);
}

std::vector<std::string> files(const std::string& folder,
                               const std::string& suffix = "") {
  std::vector<std::string> out;
  DIR* const d = opendir(folder.c_str());
  while (const dirent* const e = readdir(d)) {
    const std::string name = e->d_name;
    if (name[0] != '.' && name.ends_with(suffix)) {
      out.push_back(folder + "/" + name);
    }
  }
  closedir(d);
  return out;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string bytes_for(const Cache& cache, const Hash& key) {
  Image image;
  return cache.read(key, &image) ? std::string(image.bytes) : "nothing";
}

Image image_of(size_t bytes, char fill) {
  return Image::make(std::string(bytes, fill));
}

TEST(CudaCache, GivesBackWhatItKeeps) {
  Cache cache(fresh_folder());
  ASSERT_EQ(cache.why_off(), "");
  EXPECT_EQ(bytes_for(cache, kKey), "nothing");
  cache.write({kKey}, Image::make("cubin"));
  EXPECT_EQ(bytes_for(cache, kKey), "cubin");
  EXPECT_EQ(bytes_for(cache, kOther), "nothing");
  // Another process.
  EXPECT_EQ(bytes_for(Cache(cache.path()), kKey), "cubin");
}

TEST(CudaCache, KeepsAnImageOfSeveralKeysOnce) {
  Cache cache(fresh_folder());
  cache.write({kKey, kOther}, Image::make("both"));
  EXPECT_EQ(files(cache.path(), ".image").size(), 1u);
  EXPECT_EQ(bytes_for(cache, kKey), "both");
  EXPECT_EQ(bytes_for(cache, kOther), "both");
}

TEST(CudaCache, RemovesWhatHasAFlippedBit) {
  for (const char* const suffix : {".key", ".image"}) {
    const std::string folder = fresh_folder();
    size_t size = 1;
    for (size_t at = 0; at < size; ++at) {
      Cache cache(folder);
      cache.write({kKey}, Image::make("cubin"));
      const auto names = files(folder, suffix);
      ASSERT_EQ(names.size(), 1u);
      std::string text = read_text(names[0]);
      size = text.size();
      text[at] = static_cast<char>(text[at] ^ 1 << at % 8);
      write_text(names[0], text);
      EXPECT_EQ(bytes_for(cache, kKey), "nothing") << suffix << ' ' << at;
      EXPECT_NE(access(names[0].c_str(), F_OK), 0) << suffix << ' ' << at;
      cache.write({kKey}, Image::make("cubin"));
      EXPECT_EQ(bytes_for(cache, kKey), "cubin");
    }
    EXPECT_GT(size, 32u);
  }
}

TEST(CudaCache, RemovesWhatIsCutOff) {
  for (const char* const suffix : {".key", ".image"}) {
    for (const size_t left : {size_t{0}, size_t{7}, size_t{40}}) {
      Cache cache(fresh_folder());
      cache.write({kKey}, image_of(100, 'x'));
      const std::string name = files(cache.path(), suffix)[0];
      write_text(name, read_text(name).substr(0, left));
      EXPECT_EQ(bytes_for(cache, kKey), "nothing");
      EXPECT_NE(access(name.c_str(), F_OK), 0);
    }
  }
}

TEST(CudaCache, DoesNotTakeAFileUnderAnotherName) {
  Cache cache(fresh_folder());
  cache.write({kKey}, Image::make("cubin"));
  const std::string name = files(cache.path(), ".key")[0];
  rename(name.c_str(), (cache.path() + "/" + hex(kOther) + ".key").c_str());
  EXPECT_EQ(bytes_for(cache, kOther), "nothing");
}

TEST(CudaCache, AKeyWithoutItsImageIsMissing) {
  Cache cache(fresh_folder());
  cache.write({kKey}, Image::make("cubin"));
  unlink(files(cache.path(), ".image")[0].c_str());
  EXPECT_EQ(bytes_for(cache, kKey), "nothing");
  EXPECT_EQ(files(cache.path()).size(), 0u);
}

TEST(CudaCache, IsOffInAFolderThatOthersCanWrite) {
  const std::string folder = fresh_folder();
  {
    Cache cache(folder);
    cache.write({kKey}, Image::make("cubin"));
  }
  chmod(folder.c_str(), 0777);
  Cache cache(folder);
  EXPECT_NE(cache.why_off().find("could be written by others"),
            std::string::npos);
  EXPECT_EQ(bytes_for(cache, kKey), "nothing");
  cache.write({kOther}, Image::make("other"));
  EXPECT_EQ(files(folder).size(), 2u);
}

TEST(CudaCache, DoesNotReadAFileThatOthersCanWrite) {
  Cache cache(fresh_folder());
  cache.write({kKey}, Image::make("cubin"));
  chmod(files(cache.path(), ".image")[0].c_str(), 0666);
  EXPECT_EQ(bytes_for(cache, kKey), "nothing");
}

TEST(CudaCache, IsOffWhereNoFolderCanBe) {
  const std::string file = fresh_folder();
  write_text(file, "a file");
  EXPECT_NE(Cache(file).why_off().find("is no folder"), std::string::npos);
  EXPECT_NE(Cache(file + "/below").why_off(), "");
  EXPECT_EQ(Cache("").why_off(), "none is set");
}

TEST(CudaCache, ReadsAFolderThatItCannotWrite) {
  const std::string folder = fresh_folder();
  {
    Cache cache(folder);
    cache.write({kKey}, Image::make("cubin"));
  }
  chmod(folder.c_str(), 0500);
  testing::internal::CaptureStderr();
  // root may write everywhere.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 &&
        (chown(folder.c_str(), 65534, 65534) != 0 ||
         chown(files(folder, ".key")[0].c_str(), 65534, 65534) != 0 ||
         chown(files(folder, ".image")[0].c_str(), 65534, 65534) != 0 ||
         setgid(65534) != 0 || setuid(65534) != 0)) {
      _exit(2);
    }
    Cache cache(folder);
    cache.write({kOther}, Image::make("other"));
    const bool good = bytes_for(cache, kKey) == "cubin" &&
                      bytes_for(cache, kOther) == "nothing";
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  // TEST_TMPDIR may lie where another user cannot go.
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && geteuid() == 0) {
    GTEST_SKIP() << "the folder is not open to another user";
  }
  EXPECT_EQ(status, 0);
  chmod(folder.c_str(), 0700);
}

TEST(CudaCache, SaysOnceThatTheDiskIsFull) {
  Cache cache(fresh_folder());
  cache.write({kKey}, Image::make("cubin"));
  testing::internal::CaptureStderr();
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {600, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  cache.write({kOther}, image_of(1000, 'x'));
  cache.write({kOther}, image_of(2000, 'y'));
  setrlimit(RLIMIT_FSIZE, &before);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("compiled kernels are not kept: " + cache.path()),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  EXPECT_EQ(bytes_for(cache, kOther), "nothing");
  EXPECT_EQ(bytes_for(cache, kKey), "cubin");
  EXPECT_EQ(files(cache.path()).size(), 2u);
}

TEST(CudaCache, RemovesTheOldestBeyondItsBound) {
  constexpr uint64_t kBound = 1 << 20;
  Cache cache(fresh_folder(), kBound);
  const auto key = [](int i) { return hash_of(std::to_string(i)); };
  const auto age = [](const std::string& name, int hours) {
    const timespec then = {time(nullptr) - hours * 3600, 0};
    const timespec times[] = {then, then};
    utimensat(AT_FDCWD, name.c_str(), times, 0);
  };
  for (int i = 0; i < 12; ++i) {
    const Image image = image_of(100000, static_cast<char>('a' + i));
    cache.write({key(i)}, image);
    age(cache.path() + "/" + hex(key(i)) + ".key", 100 - i);
    age(cache.path() + "/" + hex(image.id) + ".image", 100 - i);
  }
  // A read makes an entry new.
  EXPECT_NE(bytes_for(cache, key(0)), "nothing");
  cache.trim();
  EXPECT_NE(bytes_for(cache, key(0)), "nothing");
  EXPECT_EQ(bytes_for(cache, key(1)), "nothing");
  EXPECT_NE(bytes_for(cache, key(11)), "nothing");
  uint64_t bytes = 0;
  for (const std::string& f : files(cache.path())) {
    bytes += read_text(f).size();
  }
  EXPECT_LE(bytes, kBound);
  EXPECT_GE(bytes, kBound / 2);
}

TEST(CudaCache, RemovesWhatAKilledProcessLeft) {
  Cache cache(fresh_folder(), 1 << 20);
  const std::string old = cache.path() + "/fresh-abcdef";
  const std::string foreign = cache.path() + "/notes.txt";
  write_text(old, "half a file");
  write_text(foreign, "mine");
  const timespec then = {time(nullptr) - 7200, 0};
  const timespec times[] = {then, then};
  utimensat(AT_FDCWD, old.c_str(), times, 0);
  write_text(cache.path() + "/fresh-ghijkl", "being written");
  cache.trim();
  EXPECT_EQ(files(cache.path()).size(), 2u);
  EXPECT_EQ(read_text(foreign), "mine");
}

TEST(CudaCache, ManyThreadsAndProcessesShareAFolder) {
  const std::string folder = fresh_folder();
  const auto use = [&] {
    Cache cache(folder, 1 << 20);
    bool good = true;
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 8; ++i) {
        const std::string text(static_cast<size_t>(1000 * i + 10),
                               static_cast<char>('a' + i));
        const Hash key = hash_of(std::to_string(i));
        cache.write({key}, Image::make(text));
        const std::string read = bytes_for(cache, key);
        good = good && (read == text || read == "nothing");
      }
    }
    return good;
  };
  const pid_t child = fork();
  if (child == 0) _exit(use() ? 0 : 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(use()); });
  }
  for (std::thread& t : threads) t.join();
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(CudaCache, LiesWhereTheEnvironmentSays) {
  setenv("HOME", "/home/x", 1);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("SWITCHYARD_CUDA_CACHE");
  EXPECT_EQ(Cache::default_path(), "/home/x/.cache/switchyard/cuda");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(Cache::default_path(), "/cache/switchyard/cuda");
  setenv("SWITCHYARD_CUDA_CACHE", "/own", 1);
  EXPECT_EQ(Cache::default_path(), "/own");
  setenv("SWITCHYARD_CUDA_CACHE", "", 1);
  EXPECT_EQ(Cache::default_path(), "");
}

TEST(CudaHash, DependsOnEveryByteAndOnTheParts) {
  EXPECT_EQ(hex(hash_of("")).size(), 32u);
  EXPECT_NE(hash_of("abc"), hash_of(std::string_view("abc\0", 4)));
  EXPECT_NE(Hasher().add("a").add("b").end(), Hasher().add("ab").end());
  std::string text(40, 'x');
  const Hash h = hash_of(text);
  for (char& c : text) {
    for (int bit = 0; bit < 8; ++bit) {
      c = static_cast<char>(c ^ 1 << bit);
      EXPECT_NE(hash_of(text).a, h.a);
      EXPECT_NE(hash_of(text).b, h.b);
      c = static_cast<char>(c ^ 1 << bit);
    }
  }
  // Names of files are made of this hash: it must never be another one.
  EXPECT_EQ(hex(hash_of("kernel")), "d30cfba7f16dc463dbd419f800e49c1c");
}

}  // namespace
}  // namespace sy::cuda
