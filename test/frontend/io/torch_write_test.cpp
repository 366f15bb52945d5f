#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "aten/tensor_new.h"
#include "frontend/io/torch_file.h"
#include "frontend/io/torch_state_dict.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

Tensor data(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return expected(dtype, sizes).to(dtype);
}

void expect_same(const NamedTensors& got, const NamedTensors& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  auto at = got.begin();
  for (const auto& [name, t] : wanted) {
    EXPECT_EQ(at->first, name);
    EXPECT_EQ(at->second.scalar_type(), t.scalar_type()) << name;
    EXPECT_EQ(at->second.sizes(), t.sizes()) << name;
    EXPECT_EQ(values(at->second), values(t)) << name;
    ++at;
  }
}

NamedTensors all_kinds() {
  NamedTensors all;
  for (const ScalarType dtype : kAllDtypes) {
    all.insert(dtype_name(dtype), data({3, 5}, dtype));
  }
  all.insert("scalar", data({}));
  all.insert("empty", data({0, 3}, kBFloat16));
  all.insert("\xc3\xa4.b", data({1, 2, 1}));
  return all;
}

ArchiveValue checkpoint() {
  return ArchiveValue::dict(
      {{"none", {}},
       {"yes", true},
       {"no", false},
       {"epoch", 3},
       {"large", int64_t{1} << 40},
       {"negative", INT64_MIN},
       {"loss", 0.125},
       {"name", "\xc3\xa4"},
       {"list", ArchiveValue::list({1, "x", ArchiveValue::list({})})},
       {"tuple", ArchiveValue::tuple({1, 2, 3})},
       {"long", ArchiveValue::tuple({1, 2, 3, 4})},
       {7, "seven"},
       {-1, ArchiveValue::tuple({})},
       {"w", data({2, 3}).requires_grad_()},
       {"inner", ArchiveValue::dict({{"t", data({4}, kLong)}})}});
}

TEST(TorchWrite, ReadsWhatItWrites) {
  const std::string path = scratch("all.pt");
  const NamedTensors all = all_kinds();
  save_state_dict(all, path);
  expect_same(load_state_dict(path), all);
  save_state_dict({}, path);
  EXPECT_TRUE(load_state_dict(path).empty());
  NamedTensors many;
  for (int i = 0; i < 300; ++i) {
    many.insert(std::to_string(i), data({i % 3}));
  }
  save_state_dict(many, path);
  expect_same(load_state_dict(path), many);
}

TEST(TorchWrite, EndingsTellTheFormat) {
  const NamedTensors some = {{"a", data({2, 3})}, {"b", data({2}, kInt)}};
  for (const char* name : {"some.safetensors", "some.pth", "some.npz"}) {
    SCOPED_TRACE(name);
    save_state_dict(some, scratch(name));
    expect_same(load_state_dict(scratch(name)), some);
  }
  EXPECT_EQ(read_file(scratch("some.pth")).substr(0, 4), "PK\3\4");
  EXPECT_EQ(read_file(scratch("some.safetensors"))[8], '{');
  SY_EXPECT_ERROR(save_state_dict(some, scratch("some.bin")), ValueError,
                  "[save_state_dict] path: expected a name that ends in "
                  ".safetensors, .pt, .pth or .npz");
}

TEST(TorchWrite, SharedStoragesStayShared) {
  const std::string path = scratch("shared.pt");
  const Tensor base = data({4, 6});
  const NamedTensors saved = {{"row", base[2]},
                              {"base", base},
                              {"t", base.t()},
                              {"again", base},
                              {"other", data({4, 6})}};
  save_state_dict(saved, path);
  const NamedTensors read = load_state_dict(path);
  expect_same(read, saved);
  for (const char* name : {"row", "t", "again"}) {
    EXPECT_TRUE(read[name].is_alias_of(read["base"])) << name;
  }
  EXPECT_FALSE(read["other"].is_alias_of(read["base"]));
  EXPECT_EQ(read["t"].strides(), IntArrayRef({1, 6}));
}

// The file has no more of a large storage than the one tensor needs.
TEST(TorchWrite, PartsAreWrittenAlone) {
  const std::string path = scratch("part.pt");
  const Tensor base = zeros({1000, 1000});
  const Tensor column = base.select(1, 3);
  save_state_dict({{"column", column}, {"same", column}}, path);
  EXPECT_LT(read_file(path).size(), 6000u);
  const NamedTensors read = load_state_dict(path);
  EXPECT_EQ(read["column"].strides(), IntArrayRef({1}));
  EXPECT_TRUE(read["same"].is_alias_of(read["column"]));
  // One that is all of its storage keeps its strides.
  const Tensor turned = data({2, 3}).t();
  save_state_dict({{"turned", turned}}, path);
  EXPECT_EQ(load_state_dict(path)["turned"].strides(), turned.strides());
}

TEST(TorchWrite, Trees) {
  const std::string path = scratch("tree.pt");
  write_torch_file(path, checkpoint());
  const ArchiveValue v = read_torch_file(path);
  const ArchiveValue wanted = checkpoint();
  ASSERT_EQ(v.entries().size(), wanted.entries().size());
  EXPECT_TRUE(v["none"].is_none());
  EXPECT_TRUE(v["yes"].to_bool());
  EXPECT_FALSE(v["no"].to_bool());
  EXPECT_EQ(v["large"].to_int(), int64_t{1} << 40);
  EXPECT_EQ(v["negative"].to_int(), INT64_MIN);
  EXPECT_EQ(v["loss"].to_double(), 0.125);
  EXPECT_EQ(v["name"].to_string(), "\xc3\xa4");
  EXPECT_EQ(v["list"].items()[1].to_string(), "x");
  EXPECT_EQ(v["long"].items().size(), 4u);
  EXPECT_EQ(v.entries()[11].key.to_int(), 7);
  EXPECT_EQ(v.entries()[12].key.to_int(), -1);
  EXPECT_TRUE(v["w"].to_tensor().requires_grad());
  expect_data(v["w"].to_tensor().detach(), kFloat, {2, 3});
  expect_data(v["inner"]["t"].to_tensor(), kLong, {4});
  write_torch_file(path, 5);
  EXPECT_EQ(read_torch_file(path).to_int(), 5);
}

TEST(TorchWrite, Errors) {
  const std::string path = scratch("not_written.pt");
  const auto write = [&](ArchiveValue v) { write_torch_file(path, v); };
  SY_EXPECT_ERROR(save_state_dict({{"w", Tensor()}}, path), ValueError,
                  "[save_state_dict] w: expected a tensor with elements");
  SY_EXPECT_ERROR(write(ArchiveValue::dict(
                      {{"a", ArchiveValue::list({empty({2}, kMeta)})}})),
                  ValueError,
                  "[write_torch_file] a.0: expected a tensor with elements, "
                  "got one on meta");
  SY_EXPECT_ERROR(save_state_dict({{"\xff", data({1})}}, path), ValueError,
                  "name: expected UTF-8");
  SY_EXPECT_ERROR(ArchiveValue::dict({{"a", 1}, {2, 1}, {"a", 2}}), ValueError,
                  "expected each once, got 'a' twice");
  SY_EXPECT_ERROR(ArchiveValue::dict({{2.5, 1}}), ValueError,
                  "expected a string or an int, got a float");
  ArchiveValue deep;
  for (int i = 0; i < 200; ++i) deep = ArchiveValue::list({deep});
  SY_EXPECT_ERROR(write(deep), ValueError, "to a depth of 200");
  EXPECT_FALSE(std::ifstream(path));
  const std::string written = scratch("deep.pt");
  write_torch_file(written, deep.items()[0]);
  EXPECT_EQ(read_torch_file(written).items().size(), 1u);
  SY_EXPECT_ERROR(write_torch_file("/no/such/folder/f.pt", 1), FileError,
                  "cannot create");
}

// A Python with PyTorch reads the same: SWITCHYARD_TORCH_PYTHON names it.
TEST(TorchWrite, PythonReadsWhatItWrites) {
  const char* const python = std::getenv("SWITCHYARD_TORCH_PYTHON");
  if (python == nullptr) {
    GTEST_SKIP() << "SWITCHYARD_TORCH_PYTHON names no Python with PyTorch";
  }
  const auto check = [&](const char* option, const std::string& path) {
    return std::system((std::string(python) +
                        " test/frontend/io/make_torch_testdata.py " + option +
                        " '" + path + "'")
                           .c_str());
  };
  save_state_dict(all_kinds(), scratch("python.pt"));
  EXPECT_EQ(check("--check", scratch("python.pt")), 0);
  write_torch_file(scratch("python_tree.pt"), checkpoint());
  EXPECT_EQ(check("--check-tree", scratch("python_tree.pt")), 0);
}

}  // namespace
}  // namespace sy
