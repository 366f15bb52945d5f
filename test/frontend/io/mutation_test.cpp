#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include "test/frontend/io/files.h"
#include "test/fuzz/file_targets.h"

// Files damaged at random, the same each time: no crash, and never more memory
// than in proportion to the file. SY_MUTATIONS files of each kind.

namespace {

std::atomic<size_t> held{0}, peak{0};
constexpr size_t kHead = 16;  // where a block's size stands, before the block

void* allocate(size_t n) {
  auto* const p = static_cast<char*>(std::malloc(n + kHead));
  if (p == nullptr) throw std::bad_alloc();
  *reinterpret_cast<size_t*>(p) = n;
  const size_t now = held += n;
  if (now > peak) peak = now;
  return p + kHead;
}

void release(void* p) {
  if (p == nullptr) return;
  char* const block = static_cast<char*>(p) - kHead;
  held -= *reinterpret_cast<size_t*>(block);
  std::free(block);
}

}  // namespace

void* operator new(size_t n) { return allocate(n); }
void* operator new[](size_t n) { return allocate(n); }
// std::stable_sort asks for memory so.
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  try {
    return allocate(n);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, size_t) noexcept { release(p); }
void operator delete[](void* p, size_t) noexcept { release(p); }

namespace sy::fuzz {
namespace {

struct Kind {
  const char* name;
  const char* folder;  // of testdata/
  const char* ending;
  void (*run)(std::string_view);
  // Bytes of memory for a byte of the file, and for any file.
  size_t per_byte;
};
constexpr size_t kAlways = 16 << 10;
// Larger ones take long and have no more to damage.
constexpr size_t kLargestSeed = 4000;

class Mutation : public testing::TestWithParam<Kind> {
 protected:
  static std::vector<std::string> seeds() {
    std::vector<std::filesystem::path> paths;
    for (const auto& e :
         std::filesystem::directory_iterator(testdata(GetParam().folder))) {
      if (e.path().string().ends_with(GetParam().ending) &&
          e.file_size() <= kLargestSeed) {
        paths.push_back(e.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> files;
    for (const auto& path : paths) files.push_back(read_file(path));
    return files;
  }

  size_t below(size_t n) { return random_() % std::max<size_t>(n, 1); }

  void change(std::string& file) {
    constexpr const char* kNumbers[] = {"0",
                                        "1",
                                        "-1",
                                        "255",
                                        "4294967295",
                                        "4294967296",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "1e9",
                                        "0.5"};
    // Tokens of JSON and .npy's header; opcodes of pickles.
    constexpr const char* kTokens[] = {
        "{", "}",    "[",    "]",    "(",    ")",    ",",      ":",
        "'", "\"",   "\\",   " ",    "N",    "R",    "Q",      "b",
        "t", "u",    "e",    "a",    "s",    "h\1",  "h\x10",  "q\1",
        "c", "\x81", "\x85", "\x86", "\x87", "\x93", "K\x10J", "j\xff\xff\xff"};
    constexpr uint64_t kFields[] = {
        0, 1, 7, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, ~uint64_t{0}, 64};
    const size_t at = below(file.size() + 1);
    switch (below(8)) {
      case 0: file.resize(at); return;
      case 1: file.erase(at, 1 + below(8)); return;
      case 2:
        file.insert(at, file.substr(below(file.size()), below(60)));
        return;
      case 3: file.insert(at, kTokens[below(std::size(kTokens))]); return;
      case 4: {  // a number in the text
        const size_t digit = file.find_first_of("0123456789", at);
        if (digit == file.npos) return;
        const size_t end = file.find_first_not_of("0123456789", digit);
        file.replace(digit, std::min(end, file.size()) - digit,
                     kNumbers[below(std::size(kNumbers))]);
        return;
      }
      case 5: {  // a field of 2, 4 or 8 bytes
        const size_t size = size_t{2} << below(3);
        if (file.size() < at + size) return;
        const uint64_t value = kFields[below(std::size(kFields))];
        file.replace(at, size, reinterpret_cast<const char*>(&value), size);
        return;
      }
      default:
        if (at < file.size()) file[at] = static_cast<char>(random_());
    }
  }

  std::mt19937 random_{20261121};
};

TEST_P(Mutation, NeitherCrashNorMemory) {
  const char* const count = std::getenv("SY_MUTATIONS");
  const int n = count != nullptr ? std::atoi(count) : 10000;
  const std::vector<std::string> files = seeds();
  ASSERT_FALSE(files.empty());
  for (int i = 0; i < n; ++i) {
    std::string file = files[below(files.size())];
    for (size_t k = 1 + below(4); k > 0; --k) change(file);
    const size_t before = held;
    peak = before;
    GetParam().run(file);
    ASSERT_LE(peak - before, GetParam().per_byte * file.size() + kAlways)
        << testing::PrintToString(file);
    ASSERT_EQ(held, before);
  }
}

// Claims of more than there is.
TEST_P(Mutation, ShortFilesThatClaimMuch) {
  for (const std::string& file : seeds()) {
    for (size_t at = 0; at + 8 <= file.size(); ++at) {
      for (const size_t size : {2, 4, 8}) {
        for (const uint64_t value :
             {~uint64_t{0}, uint64_t{1} << 40, uint64_t{0x7fffff00}}) {
          std::string bad = file;
          bad.replace(at, size, reinterpret_cast<const char*>(&value), size);
          const size_t before = held;
          peak = before;
          GetParam().run(bad);
          ASSERT_LE(peak - before, GetParam().per_byte * bad.size() + kAlways);
        }
      }
    }
  }
}

// Only deflated data grow, and only as much as deflate allows.
INSTANTIATE_TEST_SUITE_P(
    Files, Mutation,
    testing::Values(
        Kind{"safetensors", "", ".safetensors", &fuzz::safetensors, 16},
        Kind{"index", "", ".json", &fuzz::safetensors_index, 16},
        Kind{"npy", "", ".npy", &fuzz::npy, 16},
        Kind{"npz", "", ".npz", &fuzz::npz, 1032 + 16},
        Kind{"pickle", "torch", ".pkl", &fuzz::pickle, 64},
        Kind{"torch_archive", "torch", ".pt", &fuzz::torch_archive, 1032 + 64}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sy::fuzz
