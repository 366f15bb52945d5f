#include <gtest/gtest.h>

#include "frontend/io/format/output_file.h"
#include "frontend/io/format/pickle_writer.h"
#include "frontend/io/format/zip.h"
#include "frontend/io/torch_file.h"
#include "frontend/io/torch_state_dict.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

using io::PickleWriter;
using Members = std::vector<std::pair<std::string, std::string>>;

std::string write_zip(const Members& members) {
  const std::string path = scratch("bad.pt");
  io::OutputFile file("test", path);
  io::ZipWriter zip(file);
  for (const auto& [name, bytes] : members) {
    zip.member("test", name, bytes.size(),
               io::crc32(0, bytes.data(), bytes.size()));
    file.write(bytes);
  }
  zip.finish();
  file.commit();
  return path;
}

// An archive with two storages, of 6 floats and of 4 bools.
std::string write_pickle(const std::string& pickle) {
  return write_zip({{"f/data.pkl", pickle},
                    {"f/data/0", std::string(24, '\0')},
                    {"f/data/1", std::string("\0\1\0\2", 4)}});
}

// The error of reading a file, behind "[read_torch_file] path: ".
std::string problem_of(const std::string& path) {
  try {
    read_torch_file(path);
  } catch (const FileError& e) {
    const std::string start = "[read_torch_file] " + path + ": ";
    EXPECT_EQ(e.message().substr(0, start.size()), start);
    return e.message().substr(start.size());
  }
  return "(read)";
}

// The same of a pickle, behind the name of its member.
std::string problem(const std::string& pickle) {
  const std::string all = problem_of(write_pickle(pickle));
  const std::string start = "'f/data.pkl': ";
  return all.starts_with(start) ? all.substr(start.size()) : all;
}
// The error of opcodes between protocol and STOP.
template <size_t n>
std::string problem_in(const char (&opcodes)[n]) {
  return problem("\x80\x02" + std::string(opcodes, n - 1) + ".");
}

TEST(TorchErrors, NothingIsRun) {
  EXPECT_EQ(problem_in("cos\nsystem\nX\2\0\0\0ls\x85R"),
            "byte 2: global 'os'.'system' is not supported");
  EXPECT_EQ(problem_in("c__builtin__\neval\n"),
            "byte 2: global '__builtin__'.'eval' is not supported");
  EXPECT_EQ(problem_in("X\2\0\0\0osX\6\0\0\0system\x93"),
            "byte 20: global 'os'.'system' is not supported");
  EXPECT_EQ(problem_in("c__torch__evil\nf\n"),
            "byte 2: global '__torch__evil'.'f' is not supported");
  EXPECT_EQ(problem_in("(ios\nsystem\n"),
            "byte 3: opcode 0x69 (INST) is not supported");
  EXPECT_EQ(problem_in("\x92"),
            "byte 2: opcode 0x92 (NEWOBJ_EX) is not supported");
  EXPECT_EQ(problem_in("\x82\1"),
            "byte 2: opcode 0x82 (EXT1) is not supported");
  EXPECT_EQ(problem_in("Pa\n"),
            "byte 2: opcode 0x50 (PERSID) is not supported");
  EXPECT_EQ(problem_in("\xff"),
            "byte 2: opcode 0xff (none of pickle) is not supported");
  EXPECT_EQ(problem_in("ctorch\nFloatStorage\n)R"),
            "byte 23: REDUCE: expected a function, got torch.FloatStorage");
  EXPECT_EQ(problem_in("ctorch\nSize\n)\x81"),
            "byte 15: NEWOBJ: expected a module, got torch.Size");
  EXPECT_EQ(problem_in("c__torch__\nModule\nK\1\x85\x81"),
            "byte 23: NEWOBJ: expected no arguments, got a tuple");
  EXPECT_EQ(problem_in("K\1)R"),
            "byte 5: REDUCE: expected a class or function, got an int");
  EXPECT_EQ(problem_in("X\1\0\0\0aQ"),
            "byte 8: BINPERSID: expected a tuple, got a string");
}

TEST(TorchErrors, Stack) {
  EXPECT_EQ(problem(""), "byte 0: expected a pickle of protocol 2 to 5");
  EXPECT_EQ(problem("(lp0\n."), "byte 0: expected a pickle of protocol 2 to 5");
  EXPECT_EQ(problem("\x80\6N."), "byte 1: expected protocol 2 to 5, got 6");
  EXPECT_EQ(problem_in(""), "byte 2: STOP: expected one value, got 0");
  EXPECT_EQ(problem_in("NN"), "byte 4: STOP: expected one value, got 2");
  EXPECT_EQ(problem_in("(N"), "byte 4: STOP: expected one value, got 1");
  EXPECT_EQ(problem_in("N.N"),
            "byte 4: expected the end of the pickle, got 2 "
            "more bytes");
  EXPECT_EQ(problem_in("N\x86"), "byte 3: expected 2 values, got 1");
  EXPECT_EQ(problem_in("N(N\x86"), "byte 5: expected 2 values, got 1");
  EXPECT_EQ(problem_in("t"), "byte 2: expected a mark, got none");
  EXPECT_EQ(problem_in("]}a"), "(read)");
  EXPECT_EQ(problem_in("}Na"), "byte 4: APPEND: expected a list, got a dict");
  EXPECT_EQ(problem_in("]NNs"), "byte 5: SETITEM: expected a dict, got a list");
  EXPECT_EQ(problem_in(")Na"), "byte 4: APPEND: expected a list, got a tuple");
  EXPECT_EQ(problem_in("}(Nu"),
            "byte 5: SETITEMS: expected keys and values, got 1 values");
  EXPECT_EQ(problem_in("h\0"),
            "byte 2: expected a value that was kept before, got number 0");
  EXPECT_EQ(problem_in("Nr\xff\xff\xff\xff"),
            "byte 3: expected to keep fewer than 9 values, got number "
            "4294967295");
  EXPECT_EQ(problem_in("X\xff\xff\xff\x7f"
                       "a"),
            "byte 7: expected 2147483647 bytes (a string), the file has 9 "
            "bytes");
  EXPECT_EQ(problem_in("ca\nb"), "byte 2: GLOBAL: expected two lines");
  EXPECT_EQ(problem_in("]}b"), "byte 4: BUILD: expected an object, got a list");
}

TEST(TorchErrors, Values) {
  EXPECT_EQ(problem_in("]q\0h\0a"), "a value holds itself");
  EXPECT_EQ(problem_in("}q\0K\1h\0s"), "a value holds itself");
  EXPECT_EQ(problem_in("}NK\1s"),
            "a key: expected a string or an int, got None");
  EXPECT_EQ(problem_in("}(K\1NK\1Nu"),
            "[ArchiveValue] key: expected each once, got 1 twice");
  EXPECT_EQ(problem_in("ctorch\nSize\n"),
            "a class or function is not supported");
  EXPECT_EQ(problem_in("c__torch__\nModule\n)\x81"),
            "expected a module with its state, got none");
  const std::string deep(100000, ']');
  EXPECT_EQ(problem("\x80\x02" + deep + std::string(99999, 'a') + "."),
            "expected values in values to a depth of 200, got more");
}

// [inner, inner], to a depth: 2^depth values, written in a few bytes each.
void write_doubled(PickleWriter& out, int depth) {
  out.empty_list();
  if (depth == 0) return;
  out.mark();
  write_doubled(out, depth - 1);
  out.kept(out.keep());
  out.end_list();
}

TEST(TorchErrors, SharedValuesAreNotCopied) {
  PickleWriter out;
  write_doubled(out, 150);
  const std::string path = write_pickle(out.finish());
  ArchiveValue v = read_torch_file(path);
  for (int i = 0; i < 150; ++i) v = ArchiveValue(v.items()[i % 2]);
  EXPECT_TRUE(v.items().empty());
  SY_EXPECT_ERROR(load_state_dict(path), FileError,
                  "expected values and names of at most");
}

struct TensorArguments {
  const char* type = "FloatStorage";
  const char* key = "0";
  int64_t length = 6;
  int64_t offset = 0;
  std::vector<int64_t> sizes = {2, 3};
  std::vector<int64_t> strides = {3, 1};
  bool requires_grad = false;
};

void write_tensor(PickleWriter& out, const TensorArguments& a) {
  out.global("torch._utils", "_rebuild_tensor_v2");
  out.mark();
  out.mark();
  out.text("storage");
  out.global("torch", a.type);
  out.text(a.key);
  out.text("cuda:7");
  out.integer(a.length);
  out.end_tuple();
  out.outside();
  out.integer(a.offset);
  for (const auto* dims : {&a.sizes, &a.strides}) {
    out.mark();
    for (const int64_t d : *dims) out.integer(d);
    out.end_tuple();
  }
  out.boolean(a.requires_grad);
  out.none();
  out.end_tuple();
  out.call();
}

std::string tensor_problem(const TensorArguments& a) {
  PickleWriter out;
  write_tensor(out, a);
  const std::string all = problem(out.finish());
  return all.starts_with("byte ") ? all.substr(all.find(':') + 2) : all;
}

TEST(TorchErrors, Tensors) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const auto from = [](int64_t offset) {
    return str(
        "_rebuild_tensor_v2: the elements from {} on do not lie in storage "
        "'0' of 6 elements",
        offset);
  };
  EXPECT_EQ(tensor_problem({}), "(read)");
  EXPECT_EQ(tensor_problem({.offset = 1}), from(1));
  EXPECT_EQ(tensor_problem({.offset = -1}), from(-1));
  EXPECT_EQ(tensor_problem({.offset = INT64_MAX}), from(INT64_MAX));
  EXPECT_EQ(tensor_problem({.strides = {4, 1}}), from(0));
  EXPECT_EQ(tensor_problem({.sizes = {kHuge, kHuge}, .strides = {0, 0}}),
            from(0));
  EXPECT_EQ(tensor_problem({.sizes = {kHuge}, .strides = {0}}), from(0));
  EXPECT_EQ(tensor_problem({.sizes = {3}, .strides = {kHuge}}), from(0));
  EXPECT_EQ(tensor_problem({.sizes = {0}, .strides = {kHuge}}), "(read)");
  EXPECT_EQ(tensor_problem({.offset = 7, .sizes = {0}, .strides = {1}}),
            from(7));
  EXPECT_EQ(tensor_problem({.sizes = {-2, 3}}),
            "_rebuild_tensor_v2: dim 0: expected a size and a stride of at "
            "least 0, got -2 and 3");
  EXPECT_EQ(tensor_problem({.strides = {3, -1}}),
            "_rebuild_tensor_v2: dim 1: expected a size and a stride of at "
            "least 0, got 3 and -1");
  EXPECT_EQ(tensor_problem({.strides = {1}}),
            "_rebuild_tensor_v2: expected as many strides as sizes, at most "
            "64, got 2 and 1");
  const std::vector<int64_t> many(65, 1);
  EXPECT_EQ(tensor_problem({.sizes = many, .strides = many}),
            "_rebuild_tensor_v2: expected as many strides as sizes, at most "
            "64, got 65 and 65");
  EXPECT_EQ(tensor_problem({.key = "7"}),
            "storage '7': expected its bytes in the archive, found none");
  EXPECT_EQ(tensor_problem({.length = 5}),
            "storage '0': expected 5 elements of 4 bytes, got 24 bytes");
  EXPECT_EQ(tensor_problem({.length = -1}),
            "storage '0': expected -1 elements of 4 bytes, got 24 bytes");
  EXPECT_EQ(tensor_problem({.type = "DoubleStorage"}),
            "storage '0': expected 6 elements of 8 bytes, got 24 bytes");
  EXPECT_EQ(tensor_problem({.type = "IntStorage", .requires_grad = true}),
            "_rebuild_tensor_v2: expected floating elements of a tensor with "
            "a gradient, got int32");
  EXPECT_EQ(tensor_problem({.type = "BoolStorage",
                            .key = "1",
                            .length = 4,
                            .sizes = {2},
                            .strides = {1}}),
            "'f/data/1': element 3: expected a bool of 0 or 1, got 2");
  EXPECT_NE(problem_in("ctorch._utils\n_rebuild_tensor_v2\n)R")
                .find("_rebuild_tensor_v2: expected 6 to 7 arguments, got 0"),
            std::string::npos);
}

TEST(TorchErrors, NamesThatMeet) {
  PickleWriter out;
  out.empty_dict();
  out.mark();
  out.text("a.b");
  write_tensor(out, {});
  out.text("a");
  out.empty_dict();
  out.mark();
  out.text("b");
  write_tensor(out, {});
  out.end_dict();
  out.end_dict();
  SY_EXPECT_ERROR(load_state_dict(write_pickle(out.finish())), FileError,
                  "'a.b': expected once, got twice");
}

TEST(TorchErrors, Archives) {
  const std::string none = "\x80\x02N.";
  EXPECT_EQ(problem_of(write_zip({{"f/data.pkl", none}})), "(read)");
  EXPECT_EQ(problem_of(write_zip({{"data.pkl", none}})),
            "expected an archive of PyTorch, with one member NAME/data.pkl");
  EXPECT_EQ(problem_of(write_zip({{"f/data.pkl", none}, {"g/data.pkl", none}})),
            "expected an archive of PyTorch, with one member NAME/data.pkl");
  EXPECT_EQ(
      problem_of(write_zip({{"f/data.pkl", none}, {"f/byteorder", "big"}})),
      "'f/byteorder': expected 'little', 'big' is not supported");
  EXPECT_EQ(problem_of(write_file(scratch("text.pt"), "a text")),
            "expected an archive of PyTorch, a zip");
  EXPECT_EQ(problem_of(write_file(scratch("empty.pt"), "")),
            "expected an archive of PyTorch, a zip");
  std::string bytes = read_file(testdata("torch/tensor.pt"));
  bytes[bytes.find("FloatStorage")] = 'f';
  EXPECT_NE(problem_of(write_file(scratch("changed.pt"), bytes))
                .find("'tensor/data.pkl': its check sum does not agree"),
            std::string::npos);
}

TEST(TorchErrors, CutAnywhere) {
  for (const char* name : {"torch/tensor.pt", "torch/vector.cpp.pt"}) {
    const std::string bytes = read_file(testdata(name));
    for (size_t n = 0; n < bytes.size(); ++n) {
      EXPECT_THROW(read_torch_bytes(bytes.data(), n), FileError) << n;
    }
  }
}

}  // namespace
}  // namespace sy
