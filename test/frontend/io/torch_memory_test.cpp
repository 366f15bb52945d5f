#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <functional>

#include "aten/ops/all.h"
#include "frontend/io/format/output_file.h"
#include "frontend/io/format/pickle_writer.h"
#include "frontend/io/format/zip.h"
#include "frontend/io/torch_file.h"
#include "frontend/io/torch_state_dict.h"
#include "test/frontend/io/files.h"

// Archives that name very much in few bytes take a small multiple of their
// size. Varied: what is named (tensors of one tuple, of 64 dims, with
// gradients, values in values, lists of what was kept), stored or deflated.
// Never varied: the reader is read_torch_file or load_state_dict, in a process
// of its own.

namespace sy {
namespace {

std::string number(uint64_t v, int bytes) {
  return {reinterpret_cast<const char*>(&v), static_cast<size_t>(bytes)};
}

std::string deflated(const std::string& bytes) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()), '\0');
  z.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // not written
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// An archive whose pickle is deflated, and nothing else.
std::string deflated_archive(const std::string& pickle) {
  const std::string name = "f/data.pkl", data = deflated(pickle);
  const std::string facts =
      number(io::crc32(0, pickle.data(), pickle.size()), 4) +
      number(data.size(), 4) + number(pickle.size(), 4) +
      number(name.size(), 2) + number(0, 2);
  const std::string method =
      number(20, 2) + number(0, 2) + number(8, 2) + number(0, 4);
  std::string out = "PK\3\4" + method + facts + name + data;
  const size_t directory = out.size();
  out += "PK\1\2" + number(20, 2) + method + facts + number(0, 2 + 2 + 2) +
         number(0, 4) + number(0, 4) + name;
  const size_t size = out.size() - directory;
  out += "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) +
         number(size, 4) + number(directory, 4) + number(0, 2);
  return write_file(scratch("deflated.pt"), out);
}

std::string archive(const std::string& pickle) {
  const std::string path = scratch("stored.pt");
  io::OutputFile file("test", path);
  io::ZipWriter zip(file);
  const std::string storage(24, '\0');
  for (const auto& [name, bytes] :
       {std::pair<std::string, const std::string&>{"f/data.pkl", pickle},
        {"f/data/0", storage}}) {
    zip.member("test", name, bytes.size(),
               io::crc32(0, bytes.data(), bytes.size()));
    file.write(bytes);
  }
  zip.finish();
  file.commit();
  return path;
}

std::string repeated(const std::string& what, size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += what;
  return out;
}

// The storage of 6 floats at 0; a tensor of as many dims, all 1, whose
// arguments are kept at 1 and whose function is at 2.
std::string tensor_arguments(int dims) {
  std::string ones = "(";
  for (int i = 0; i < dims; ++i) ones += "K\1";
  ones += "t";
  return "ctorch._utils\n_rebuild_tensor_v2\nq\2"
         "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" +
         std::string("0X\3\0\0\0cpuK\6tQq\0K\0", 18) + ones + ones +
         "\x89"
         "ccollections\nOrderedDict\n)Rtq\1R";
}

const std::string kStart("\x80\x02", 2);

uint64_t peak_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    uint64_t kib = 0;
    if (word == "VmHWM:" && in >> kib) return kib << 10;
  }
  return 0;
}

// Bytes of memory that reading takes beyond what the process had; the reader
// may refuse the file, with FileError alone.
uint64_t memory_of(const std::function<void()>& read) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::ofstream("/proc/self/clear_refs") << "5";
    const uint64_t before = peak_bytes();
    try {
      read();
    } catch (const FileError&) {
    } catch (...) {
      _exit(1);
    }
    const uint64_t took = peak_bytes() - before;
    _exit(write(ends[1], &took, sizeof took) == sizeof took ? 0 : 2);
  }
  close(ends[1]);
  uint64_t took = UINT64_MAX;
  if (::read(ends[0], &took, sizeof took) != sizeof took) took = UINT64_MAX;
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return took;
}

void expect_small(const char* what, const std::string& path) {
  const uint64_t size = read_file(path).size();
  const uint64_t most = 160 * size + (uint64_t{64} << 20);
  EXPECT_LT(memory_of([&] { read_torch_file(path); }), most)
      << what << " " << size;
  EXPECT_LT(memory_of([&] { load_state_dict(path); }), most)
      << what << " " << size;
}

TEST(TorchMemory, IsASmallMultipleOfTheFile) {
  constexpr size_t kBytes = 2 << 20;
  const std::string empty_lists = kStart + "(" + repeated("]", kBytes) + "t.";
  const std::string deep =
      kStart + "(" + repeated("N" + std::string(150, '\x85'), kBytes) + "t.";
  expect_small("empty lists", archive(empty_lists));
  expect_small("tuples of one", archive(deep));
  for (const int dims : {0, 64}) {
    const std::string many = kStart + "(" + tensor_arguments(dims) +
                             repeated("h\2h\1R", kBytes) + "t.";
    expect_small("tensors of one tuple", archive(many));
    const std::string parameters =
        kStart + "(" + tensor_arguments(dims) +
        "q\3ctorch._utils\n_rebuild_parameter\nq\4(h\3\x88"
        "ccollections\nOrderedDict\n)Rtq\5R" +
        repeated("h\4h\5R", kBytes) + "t.";
    expect_small("parameters", archive(parameters));
  }
  const std::string kept = kStart + "(]q" + std::string(1, '\0') +
                           repeated(std::string("h\0", 2), kBytes) + "t.";
  expect_small("one list many times", archive(kept));
  const std::string texts = kStart + "(" + repeated("U\1a", kBytes) + "t.";
  expect_small("texts", archive(texts));
  std::string dicts = kStart + "(" + repeated("}K\1K\2s", kBytes) + "t.";
  expect_small("dicts", archive(dicts));
}

TEST(TorchMemory, OfDeflatedPicklesToo) {
  for (const size_t bytes : {size_t{3} << 20, size_t{300} << 20}) {
    const std::string lists = kStart + "(" + repeated("]", bytes) + "t.";
    expect_small("deflated lists", deflated_archive(lists));
    const std::string texts = kStart + "(" + repeated("U\1a", bytes) + "t.";
    expect_small("deflated texts", deflated_archive(texts));
  }
}

// The reader does not refuse what people have.
TEST(TorchMemory, OrdinaryFilesAreRead) {
  std::vector<ArchiveValue> numbers, flags, names;
  for (int i = 0; i < 300000; ++i) {
    numbers.emplace_back(i % 200);
    flags.emplace_back();
    names.emplace_back("n" + std::to_string(i));
  }
  std::vector<ArchiveEntry> entries;
  const Tensor base = zeros({3000});
  for (int i = 0; i < 3000; ++i) {
    entries.push_back({"layer." + std::to_string(i), base.slice(0, i, i + 1)});
  }
  const ArchiveValue all =
      ArchiveValue::dict({{"numbers", ArchiveValue::list(numbers)},
                          {"flags", ArchiveValue::tuple(flags)},
                          {"names", ArchiveValue::list(names)},
                          {"tensors", ArchiveValue::dict(entries)}});
  const std::string path = scratch("ordinary.pt");
  write_torch_file(path, all);
  const ArchiveValue read = read_torch_file(path);
  EXPECT_EQ(read["numbers"].items().size(), numbers.size());
  EXPECT_EQ(read["names"].items()[299999].to_string(), "n299999");
  EXPECT_EQ(read["tensors"].entries().size(), 3000u);
  EXPECT_EQ(read["tensors"]["layer.7"].to_tensor().numel(), 1);
}

// 2^150 values by their paths, 150 by what they are.
TEST(TorchMemory, SharedValuesAreWrittenOnce) {
  const Tensor t = ones({2});
  for (const int kind : {0, 1, 2}) {
    ArchiveValue v = t;
    for (int i = 0; i < 150; ++i) {
      v = kind == 0   ? ArchiveValue::list({v, v})
          : kind == 1 ? ArchiveValue::tuple({v, 7, v})
                      : ArchiveValue::dict({{"a", v}, {"b", v}});
    }
    const std::string path = scratch("shared.pt");
    write_torch_file(path, v);
    EXPECT_LT(read_file(path).size(), 20000u);
    ArchiveValue got = read_torch_file(path);
    for (int i = 0; i < 150; ++i) {
      ASSERT_EQ(got.kind(), v.kind());
      const ArchiveValue first =
          kind == 2 ? got["a"] : ArchiveValue(got.items().front());
      got = kind == 2 ? got["b"] : ArchiveValue(got.items().back());
      if (i < 149) {  // the tensors themselves are two
        EXPECT_EQ(first.identity(), got.identity());
      }
      v = kind == 2 ? ArchiveValue(v["a"]) : ArchiveValue(v.items()[0]);
    }
    EXPECT_TRUE(equal(got.to_tensor(), t));
  }
}

}  // namespace
}  // namespace sy
