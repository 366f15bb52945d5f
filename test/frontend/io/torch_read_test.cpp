#include <gtest/gtest.h>

#include "aten/tensor_new.h"
#include "frontend/io/safetensors.h"
#include "frontend/io/torch_archive.h"
#include "frontend/io/torch_file.h"
#include "frontend/io/torch_state_dict.h"
#include "test/c10/expect_error.h"
#include "test/frontend/io/files.h"

namespace sy {
namespace {

std::string torch_file(const std::string& name) {
  return testdata("torch/" + name);
}

std::vector<std::string> names(const NamedTensors& tensors) {
  std::vector<std::string> out;
  for (const auto& [name, t] : tensors) out.push_back(name);
  return out;
}

const std::vector<std::string> kNetNames = {"fc.weight",
                                            "fc.bias",
                                            "layers.0.weight",
                                            "layers.0.bias",
                                            "layers.0.running_mean",
                                            "layers.0.running_var",
                                            "layers.0.num_batches_tracked",
                                            "layers.2.weight",
                                            "layers.2.bias"};

void expect_net(const NamedTensors& net) {
  expect_data(net["fc.weight"], kFloat, {2, 3});
  expect_data(net["fc.bias"], kFloat, {2});
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    expect_data(net[str("layers.0.{}", name)], kFloat, {2});
  }
  expect_data(net["layers.0.num_batches_tracked"], kLong, {});
  expect_data(net["layers.2.weight"], kFloat, {4, 2});
  expect_data(net["layers.2.bias"], kFloat, {4});
}

TEST(TorchRead, AllDtypes) {
  const NamedTensors all = load_state_dict(torch_file("dtypes.pt"));
  ASSERT_EQ(all.size(), std::size(kAllDtypes));
  for (const ScalarType dtype : kAllDtypes) {
    expect_data(all[dtype_name(dtype)], dtype, {3, 5});
  }
}

TEST(TorchRead, StateDictOfPython) {
  const NamedTensors net = load_state_dict(torch_file("state_dict.pt"));
  EXPECT_EQ(names(net), kNetNames);
  expect_net(net);
}

TEST(TorchRead, ModuleOfCpp) {
  const NamedTensors net = load_state_dict(torch_file("module.cpp.pt"));
  EXPECT_EQ(net.size(), kNetNames.size() + 2);
  expect_net(net);
  expect_data(net["steps"], kLong, {});
  expect_data(net["frozen"], kFloat, {2});
}

// A file as torch.serialization.set_crc32_options(False) has it written: 0 in
// the places of check sums.
std::string without_check_sums(const std::string& name) {
  std::string bytes = read_file(torch_file(name));
  const auto clear = [&](const char* record, size_t place) {
    for (size_t at = bytes.find(record); at != bytes.npos;
         at = bytes.find(record, at + 4)) {
      bytes.replace(at + place, 4, std::string(4, '\0'));
    }
  };
  clear("PK\3\4", 14);
  clear("PK\7\x08", 4);
  clear("PK\1\2", 16);
  return write_file(scratch("no_sums_" + name), bytes);
}

TEST(TorchRead, FilesWithoutCheckSums) {
  const NamedTensors net = load_state_dict(without_check_sums("state_dict.pt"));
  EXPECT_EQ(names(net), kNetNames);
  expect_net(net);
  expect_net(load_state_dict(without_check_sums("module.cpp.pt")));
  const std::string path = without_check_sums("tensor.pt");
  EXPECT_TRUE(read_torch_file(path).to_tensor().defined());
  const std::string bytes = read_file(path);
  EXPECT_TRUE(
      read_torch_bytes(bytes.data(), bytes.size()).to_tensor().defined());
}

TEST(TorchRead, Shapes) {
  const NamedTensors all = load_state_dict(torch_file("shapes.pt"));
  expect_data(all["scalar"], kFloat, {});
  expect_data(all["empty"], kFloat, {0, 3});
  expect_data(all["none"], kFloat, {0});
  expect_data(all["many"], kFloat, {1, 1, 1, 1, 1, 1, 1, 1});
}

TEST(TorchRead, ViewsShareTheirStorage) {
  const NamedTensors all = load_state_dict(torch_file("views.pt"));
  const Tensor base = all["base"];
  expect_data(base, kFloat, {4, 6});
  EXPECT_EQ(all["transposed"].strides(), IntArrayRef({1, 6}));
  EXPECT_EQ(values(all["transposed"]), values(base.t()));
  EXPECT_EQ(values(all["row"]), values(base[2]));
  EXPECT_EQ(all["part"].strides(), IntArrayRef({6, 2}));
  EXPECT_EQ(values(all["part"]), values(base.slice(0, 1, 3).slice(1, 1, 6, 2)));
  EXPECT_EQ(all["expanded"].strides(), IntArrayRef({1, 0}));
  for (const char* name : {"transposed", "row", "part", "same"}) {
    EXPECT_TRUE(all[name].is_alias_of(base)) << name;
  }
  EXPECT_FALSE(all["expanded"].is_alias_of(base));
  base.zero_();
  EXPECT_EQ(values(all["row"]), std::vector<double>(6, 0));
  // The file is as it was.
  expect_data(load_state_dict(torch_file("views.pt"))["base"], kFloat, {4, 6});
}

TEST(TorchRead, Parameters) {
  const ArchiveValue all = read_torch_file(torch_file("parameters.pt"));
  const auto tensor = [&](const char* name) { return all[name].to_tensor(); };
  EXPECT_TRUE(tensor("trained").requires_grad());
  EXPECT_TRUE(tensor("tied").is_same(tensor("trained")));
  EXPECT_FALSE(tensor("frozen").requires_grad());
  EXPECT_FALSE(tensor("buffer").requires_grad());
  EXPECT_TRUE(tensor("leaf").requires_grad());
  expect_data(tensor("trained").detach(), kFloat, {2, 2});
  expect_data(tensor("frozen"), kFloat, {3});
  expect_data(tensor("buffer"), kFloat, {2});
  for (const auto& [name, t] : load_state_dict(torch_file("parameters.pt"))) {
    EXPECT_FALSE(t.requires_grad()) << name;
  }
}

TEST(TorchRead, Protocols) {
  for (const int protocol : {3, 4, 5}) {
    SCOPED_TRACE(protocol);
    const ArchiveValue v =
        read_torch_file(torch_file(str("protocol{}.pt", protocol)));
    expect_data(v["a"].to_tensor(), kFloat, {2, 3});
    EXPECT_EQ(v["n"].to_int(), 256);
    EXPECT_EQ(v["s"].to_string().size(), 320u);
    EXPECT_TRUE(v["l"].items()[0].to_bool());
    EXPECT_TRUE(v["l"].items()[1].is_none());
    expect_data(v["d"]["x"].to_tensor(), kFloat, {1});
  }
}

TEST(TorchRead, TreeOfACheckpoint) {
  const ArchiveValue v = read_torch_file(torch_file("checkpoint.pt"));
  EXPECT_EQ(v["epoch"].to_int(), 3);
  EXPECT_EQ(v["loss"].to_double(), 0.125);
  EXPECT_FALSE(v["done"].to_bool());
  EXPECT_EQ(v["note"].to_string(), "\xc3\xa4");
  EXPECT_TRUE(v["nothing"].is_none());
  EXPECT_EQ(v["large"].to_int(), int64_t{1} << 40);
  EXPECT_EQ(v["negative"].to_int(), INT64_MIN);
  const auto& list = v["list"].items();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1].kind(), ArchiveValue::Kind::List);
  EXPECT_EQ(list[1].items()[0].to_double(), 2.5);
  EXPECT_EQ(list[2].kind(), ArchiveValue::Kind::Tuple);
  EXPECT_TRUE(list[2].items().empty());
  EXPECT_EQ(v["sizes"].items()[1].to_int(), 3);
  EXPECT_EQ(v["dtype"].to_string(), "torch.float16");
  EXPECT_EQ(v["device"].to_string(), "cpu");
  const auto& by_number = v["by_number"].entries();
  EXPECT_EQ(by_number[0].key.to_int(), 7);
  expect_data(by_number[0].value.to_tensor(), kFloat, {2});
  EXPECT_EQ(by_number[1].key.to_int(), -1);
  const ArchiveValue adam = v["optimizer"];
  EXPECT_EQ(adam["param_groups"].items()[0]["lr"].to_double(), 0.01);
  EXPECT_EQ(adam["state"].entries()[0].value["step"].to_tensor().item<float>(),
            1);
  SY_EXPECT_ERROR(v["epochs"], IndexError, "'epochs'");
  SY_EXPECT_ERROR(v["epoch"].to_string(), TypeError,
                  "expected a string, got an int");
}

TEST(TorchRead, NamesAndNumbersOfACheckpoint) {
  const std::string path = torch_file("checkpoint.pt");
  const NamedTensors tensors = load_state_dict(path);
  expect_data(tensors["model.layers.2.weight"], kFloat, {4, 2});
  expect_data(tensors["by_number.7"], kFloat, {2});
  expect_data(tensors["path.2.deep.0"], kFloat, {1});
  EXPECT_TRUE(tensors.contains("optimizer.state.0.exp_avg"));
  EXPECT_FALSE(tensors.contains("epoch"));
  const NamedTensors all = load_state_dict(path, /*numbers=*/true);
  EXPECT_EQ(all["epoch"].scalar_type(), kLong);
  EXPECT_EQ(all["epoch"].item<int>(), 3);
  EXPECT_EQ(all["loss"].scalar_type(), kDouble);
  EXPECT_EQ(all["loss"].item<double>(), 0.125);
  EXPECT_EQ(all["done"].scalar_type(), kBool);
  EXPECT_EQ(all["list.1.0"].item<double>(), 2.5);
  EXPECT_FALSE(all.contains("note"));
}

TEST(TorchRead, ListsAndTensors) {
  const NamedTensors list = load_state_dict(torch_file("list.pt"));
  expect_data(list["0"], kFloat, {2});
  expect_data(list["1"], kLong, {3});
  expect_data(read_torch_file(torch_file("tensor.pt")).to_tensor(), kFloat,
              {2, 3});
  SY_EXPECT_ERROR(load_state_dict(torch_file("tensor.pt")), FileError,
                  "read_torch_file reads it");
  const NamedTensors pickled = load_state_dict(torch_file("pickle.cpp.pt"));
  expect_data(pickled["a"], kFloat, {2, 3});
  expect_data(pickled["b"], kLong, {4});
  const NamedTensors many = load_state_dict(torch_file("many.pt"));
  ASSERT_EQ(many.size(), 60u);
  for (int64_t i = 0; i < 60; ++i) {
    expect_data(many[str("0{}{}", i / 10, i % 10)], kFloat, {i % 3});
  }
}

TEST(TorchRead, OtherFormatsByContent) {
  EXPECT_EQ(load_state_dict(testdata("stored.npz")).size(), 3u);
  EXPECT_EQ(names(load_state_dict(testdata("all.safetensors"))),
            names(load_safetensors(testdata("all.safetensors"))));
  EXPECT_EQ(names(load_state_dict(testdata("model.safetensors.index.json"))),
            names(load_safetensors(testdata("model.safetensors.index.json"))));
}

TEST(TorchRead, Memory) {
  const std::string bytes = read_file(torch_file("state_dict.pt"));
  expect_net(load_state_dict_bytes(bytes.data(), bytes.size()));
  const std::string tensor = read_file(torch_file("tensor.pt"));
  ArchiveValue kept;
  {
    const std::string gone = tensor;
    kept = read_torch_bytes(gone.data(), gone.size());
  }
  expect_data(kept.to_tensor(), kFloat, {2, 3});
  SY_EXPECT_ERROR(read_torch_bytes(tensor.data(), 100), FileError,
                  "[read_torch_bytes] memory: expected a zip archive");
  SY_EXPECT_ERROR(read_torch_bytes(nullptr, 0), FileError, "memory");
}

// Others' values beyond ours do not keep tensors from being read.
TEST(TorchRead, ValuesWithoutAKind) {
  const std::string path = torch_file("long.pt");
  const NamedTensors all = load_state_dict(path, /*numbers=*/true);
  EXPECT_EQ(names(all), std::vector<std::string>{"w"});
  SY_EXPECT_ERROR(read_torch_file(path), FileError,
                  "an int of more than 64 bits is not supported");
}

TEST(TorchRead, RefusesOtherKindsByName) {
  const auto expect_refused = [](const char* name, const char* what) {
    SY_EXPECT_ERROR(read_torch_file(torch_file(name)), FileError, what);
    SY_EXPECT_ERROR(load_state_dict(torch_file(name)), FileError, what);
  };
  expect_refused(
      "complex.pt",
      "'complex/data.pkl': byte 64: global "
      "torch.ComplexFloatStorage: complex tensors are not supported");
  expect_refused("quantized.pt", "_rebuild_qtensor: quantized tensors");
  expect_refused("sparse.pt", "_rebuild_sparse_tensor: sparse tensors");
  expect_refused("meta.pt", "tensors without elements");
  expect_refused("uint16.pt", "global 'torch'.'uint16' is not supported");
  expect_refused("object.pt",
                 "global 'torch.nn.modules.linear'.'Linear' is not supported");
  expect_refused("legacy.pt", "before 1.6");
}

}  // namespace
}  // namespace sy
