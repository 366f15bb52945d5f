#include "frontend/io/torch_archive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "aten/tensor_new.h"
#include "frontend/io/torch_state_dict.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

using serialize::InputArchive;
using serialize::OutputArchive;

std::string torch_file(const std::string& name) {
  return testdata("torch/" + name);
}

Tensor data(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return expected(dtype, sizes).to(dtype);
}

template <class T>
T read(InputArchive& archive, const char* key) {
  T value{};
  archive.read(key, value);
  return value;
}

// Writes what make_torch_archives.cpp writes to archive.cpp.pt.
void fill(OutputArchive& archive) {
  archive.write("int", int64_t{-5000000000});
  archive.write("double", 0.5);
  archive.write("bool", true);
  archive.write("string", "a \xc3\xa4 b");
  archive.write("ints", IntArrayRef({1, -2, 300}));
  archive.write("doubles", ArrayRef<double>({0.25, -1e300}));
  archive.write("tensors", Value::tensor_list({data({2}), data({1, 1})}));
  archive.write("none", Value());
  archive.write("weight", data({2, 2}, kDouble));
  archive.write("buffer", data({3}, kInt), /*is_buffer=*/true);
  OutputArchive child, grandchild;
  grandchild.write("t", data({}, kHalf));
  archive.write("child", child);  // shared: what follows is saved as well
  child.write("deep", grandchild);
  child.write("x", 7);
}

void expect_filled(InputArchive& archive) {
  EXPECT_EQ(read<int64_t>(archive, "int"), -5000000000);
  EXPECT_EQ(read<double>(archive, "double"), 0.5);
  EXPECT_TRUE(read<bool>(archive, "bool"));
  EXPECT_EQ(read<std::string>(archive, "string"), "a \xc3\xa4 b");
  EXPECT_EQ(read<Value>(archive, "ints").to_int_list(),
            IntArrayRef({1, -2, 300}));
  EXPECT_EQ(read<Value>(archive, "doubles").to_double_list(),
            ArrayRef<double>({0.25, -1e300}));
  EXPECT_EQ(read<Value>(archive, "bool").to_bool(), true);
  EXPECT_TRUE(read<Value>(archive, "none").is_none());
  const Value tensors = read<Value>(archive, "tensors");
  ASSERT_EQ(tensors.to_tensor_list().size(), 2u);
  expect_data(Tensor(tensors.to_tensor_list()[1]), kFloat, {1, 1});
  expect_data(read<Tensor>(archive, "weight"), kDouble, {2, 2});
  Tensor buffer;
  archive.read("buffer", buffer, /*is_buffer=*/true);
  expect_data(buffer, kInt, {3});
  InputArchive child, deep;
  archive.read("child", child);
  EXPECT_EQ(read<int64_t>(child, "x"), 7);
  EXPECT_EQ(child.keys(), (std::vector<std::string>{"deep", "x"}));
  child.read("deep", deep);
  expect_data(read<Tensor>(deep, "t"), kHalf, {});
  SY_EXPECT_ERROR(read<Tensor>(deep, "u"), ValueError,
                  "[InputArchive] 'child.deep.u': expected such a key");
}

TEST(TorchArchive, ReadsLibtorchs) {
  InputArchive archive;
  archive.load_from(torch_file("archive.cpp.pt"));
  expect_filled(archive);
  EXPECT_EQ(archive.keys().size(), 11u);
}

TEST(TorchArchive, ReadsWhatItWrites) {
  OutputArchive out;
  fill(out);
  const std::string path = scratch("archive.pt");
  out.save_to(path);
  InputArchive from_path;
  from_path.load_from(path);
  expect_filled(from_path);

  std::ostringstream stream;
  out.save_to(stream);
  const std::string bytes = stream.str();
  EXPECT_EQ(bytes, read_file(path));
  std::istringstream in(bytes);
  InputArchive from_stream, from_memory;
  from_stream.load_from(in);
  expect_filled(from_stream);
  from_memory.load_from(bytes.data(), bytes.size(), Device(kCPU));
  expect_filled(from_memory);

  OutputArchive none;
  none.save_to(path);
  from_path.load_from(path);
  EXPECT_TRUE(from_path.keys().empty());
}

TEST(TorchArchive, Optimizers) {
  InputArchive adam, state, one, groups, group, options;
  adam.load_from(torch_file("adam.cpp.pt"));
  adam.read("state", state);
  ASSERT_EQ(state.keys().size(), 2u);
  int64_t numel = 0;  // in the order of their addresses there
  for (const std::string& key : state.keys()) {
    state.read(key, one);
    EXPECT_EQ(read<int64_t>(one, "step"), 1);
    numel += read<Tensor>(one, "exp_avg").numel();
  }
  EXPECT_EQ(numel, 2 * 3 + 4);
  adam.read("param_groups", groups);
  groups.read("param_groups/0", group);
  group.read("options", options);
  EXPECT_EQ(read<double>(options, "lr"), 0.01);
  EXPECT_EQ(read<Value>(options, "betas").to_double_list(),
            ArrayRef<double>({0.9, 0.999}));
  EXPECT_EQ(load_state_dict(torch_file("sgd.cpp.pt")).size(), 4u);
}

TEST(TorchArchive, Tensors) {
  Tensor t;
  load(t, torch_file("tensor.cpp.pt"));
  expect_data(t, kFloat, {2, 3});
  const std::string path = scratch("tensor.pt");
  save(t, path);
  Tensor again;
  load(again, path);
  expect_data(again, kFloat, {2, 3});
  std::stringstream stream;
  save(data({4}, kLong), stream);
  Tensor numbers;
  load(numbers, stream);
  expect_data(numbers, kLong, {4});
}

TEST(TorchArchive, VectorsShareStorages) {
  std::vector<Tensor> v;
  load(v, torch_file("vector.cpp.pt"));
  const auto check = [&] {
    ASSERT_EQ(v.size(), 5u);
    expect_data(v[0], kFloat, {4, 3});
    EXPECT_EQ(values(v[1]), values(v[0].t()));
    EXPECT_EQ(values(v[2]), values(v[0][1]));
    EXPECT_TRUE(v[1].is_alias_of(v[0]));
    EXPECT_TRUE(v[2].is_alias_of(v[0]));
    expect_data(v[3], kBool, {5});
    expect_data(v[4], kBFloat16, {0, 2});
  };
  check();
  const std::string path = scratch("vector.pt");
  save(v, path);
  v.clear();
  load(v, path);
  check();
  load(v, path);
  EXPECT_EQ(v.size(), 10u);
}

// Other holders of a tensor see what is read into it.
TEST(TorchArchive, DefinedTensorsKeepTheirIdentity) {
  const std::string path = torch_file("tensor.cpp.pt");
  Tensor same = zeros({2, 3}).requires_grad_();
  const Tensor holder = same;
  const void* const memory = same.const_data_ptr();
  load(same, path);
  EXPECT_EQ(same.const_data_ptr(), memory);
  EXPECT_TRUE(holder.is_same(same));
  EXPECT_TRUE(same.is_leaf() && same.requires_grad());
  expect_data(holder.detach(), kFloat, {2, 3});
  Tensor other = zeros({7});
  const Tensor other_holder = other;
  load(other, path);
  expect_data(other_holder, kFloat, {2, 3});
}

struct Scaled {
  Tensor weight = data({2, 2});
  double scale = 2;

  void save(OutputArchive& archive) const {
    archive.write("weight", weight);
    archive.write("scale", scale);
  }
  void load(InputArchive& archive) {
    archive.read("weight", weight);
    archive.read("scale", scale);
  }
};

TEST(TorchArchive, ClassesWithSaveAndLoad) {
  const std::string path = scratch("scaled.pt");
  Scaled saved;
  saved.scale = 3;
  save(saved, path);
  const auto read = std::make_shared<Scaled>();
  read->weight.zero_();
  load(read, path);
  EXPECT_EQ(read->scale, 3);
  expect_data(read->weight, kFloat, {2, 2});
  save(read, path);
  load(saved, path);
}

TEST(TorchArchive, TryRead) {
  InputArchive archive;
  archive.load_from(torch_file("archive.cpp.pt"));
  Tensor t;
  int64_t i = 1;
  double d = 2;
  InputArchive child;
  EXPECT_FALSE(archive.try_read("absent", t));
  EXPECT_FALSE(archive.try_read("int", t));
  EXPECT_FALSE(archive.try_read("int", d));
  EXPECT_FALSE(archive.try_read("double", i));
  EXPECT_FALSE(archive.try_read("weight", child));
  EXPECT_FALSE(t.defined());
  EXPECT_EQ(i, 1);
  EXPECT_EQ(d, 2);
  SY_EXPECT_ERROR(archive.read("int", t), ValueError,
                  "[InputArchive] 'int': expected another kind of value, got "
                  "an int");
  const InputArchive empty{};
  EXPECT_TRUE(empty.keys().empty());
  EXPECT_FALSE(child.try_read("a", t));
}

TEST(TorchArchive, Errors) {
  OutputArchive out;
  out.write("a", 1);
  SY_EXPECT_ERROR(out.write("a", 2), ValueError,
                  "[OutputArchive] key: expected each once, got 'a' twice");
  for (const char* key : {"", "a\"b", "a\\b", "a\nb"}) {
    SY_EXPECT_ERROR(out.write(key, 1), ValueError, "[OutputArchive] key");
  }
  SY_EXPECT_ERROR(out.write("t", Tensor()), ValueError,
                  "'t': expected a tensor with elements");
  SY_EXPECT_ERROR(out.write("d", Value(Device(kCPU))), TypeError,
                  "[OutputArchive] 'd': expected None, a number");
  OutputArchive outer, inner;
  outer.write("inner", inner);
  SY_EXPECT_ERROR(out.write("itself", out), ValueError,
                  "[OutputArchive] 'itself': expected an archive that does not "
                  "hold this one");
  SY_EXPECT_ERROR(inner.write("outer", outer), ValueError, "'outer'");
  std::vector<OutputArchive> chain(201);
  for (size_t i = 1; i < chain.size(); ++i) {
    chain[i - 1].write("next", chain[i]);
  }
  const std::string path = scratch("deep_archive.pt");
  SY_EXPECT_ERROR(chain[0].save_to(path), ValueError,
                  "expected archives in archives to a depth of 200, got more");
  EXPECT_FALSE(std::ifstream(path));
  std::ostringstream bad;
  bad.setstate(std::ios::failbit);
  SY_EXPECT_ERROR(out.save_to(bad), FileError, "cannot write");
  InputArchive in;
  SY_EXPECT_ERROR(in.load_from("/no/such/file"), FileError, "cannot open");
  SY_EXPECT_ERROR(in.load_from("PK", 2), FileError, "[load_from] memory");
  Tensor t;
  SY_EXPECT_ERROR(load(t, torch_file("archive.cpp.pt")), ValueError,
                  "[InputArchive] '0': expected such a key");
}

// libtorch reads the same: SWITCHYARD_TORCH_ARCHIVES names the program that
// make_torch_archives.cpp says how to build.
TEST(TorchArchive, LibtorchReadsWhatItWrites) {
  const char* const program = std::getenv("SWITCHYARD_TORCH_ARCHIVES");
  if (program == nullptr) {
    GTEST_SKIP() << "SWITCHYARD_TORCH_ARCHIVES names no program with libtorch";
  }
  const auto check = [&](const char* kind, const std::string& path) {
    return std::system(
        (std::string(program) + " check " + kind + " '" + path + "'").c_str());
  };
  OutputArchive archive;
  fill(archive);
  archive.save_to(scratch("archive.pt"));
  EXPECT_EQ(check("archive", scratch("archive.pt")), 0);
  save(data({2, 3}), scratch("tensor.pt"));
  EXPECT_EQ(check("tensor", scratch("tensor.pt")), 0);
  const Tensor base = data({4, 3});
  save(std::vector<Tensor>{base, base.t(), base.select(0, 1), data({5}, kBool),
                           data({0, 2}, kBFloat16)},
       scratch("vector.pt"));
  EXPECT_EQ(check("vector", scratch("vector.pt")), 0);
  save_state_dict({{"a.b", data({2, 3})}, {"c", data({4}, kLong)}},
                  scratch("dict.pt"));
  EXPECT_EQ(check("dict", scratch("dict.pt")), 0);

  // A module of the same names.
  OutputArchive net, fc, layers, norm, relu, last;
  net.write("frozen", data({2}));
  net.write("steps", data({}, kLong), true);
  fc.write("weight", data({2, 3}).requires_grad_());
  fc.write("bias", data({2}).requires_grad_());
  norm.write("weight", data({2}).requires_grad_());
  norm.write("bias", data({2}).requires_grad_());
  norm.write("running_mean", data({2}), true);
  norm.write("running_var", data({2}), true);
  norm.write("num_batches_tracked", data({}, kLong), true);
  last.write("weight", data({4, 2}).requires_grad_());
  last.write("bias", data({4}).requires_grad_());
  layers.write("0", norm);
  layers.write("1", relu);
  layers.write("2", last);
  net.write("fc", fc);
  net.write("layers", layers);
  net.save_to(scratch("module.pt"));
  EXPECT_EQ(check("module", scratch("module.pt")), 0);
}

}  // namespace
}  // namespace sy
