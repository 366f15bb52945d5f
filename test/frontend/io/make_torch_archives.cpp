#include <torch/torch.h>

#include <fstream>
#include <iostream>
#include <iterator>

// Makes the archives of testdata/torch/ that C++ writes, with libtorch itself,
// and checks files that Switchyard wrote. Built by hand:
//
//   T=.../site-packages/torch
//   g++ -std=c++20 -O1 -I$T/include -I$T/include/torch/csrc/api/include
//     make_torch_archives.cpp -o make_torch_archives
//     -L$T/lib -Wl,-rpath,$T/lib -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10
//   make_torch_archives make FOLDER
//   make_torch_archives check module|tensor|vector|archive|dict FILE
//
// Element i of every tensor is (7 * i) % 11, less 3 for signed and floating
// dtypes, i % 2 for bools.

namespace {

using torch::Tensor;

Tensor data(torch::IntArrayRef sizes, torch::ScalarType dtype = torch::kFloat) {
  const int64_t n = c10::multiply_integers(sizes);
  Tensor t = torch::arange(n, torch::kLong);
  if (dtype == torch::kBool) {
    t = t % 2;
  } else {
    t = 7 * t % 11;
    if (dtype != torch::kByte) t = t - 3;
  }
  return t.to(dtype).reshape(sizes).clone();
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("fc", fc);
    register_module("layers", layers);
    register_buffer("steps", data({}, torch::kLong));
    register_parameter("frozen", torch::zeros({2}), false);
  }
  torch::nn::Linear fc{3, 2};
  torch::nn::Sequential layers{torch::nn::BatchNorm1d(2), torch::nn::ReLU(),
                               torch::nn::Linear(2, 4)};
};
TORCH_MODULE(Net);

Net net() {
  Net n;
  const torch::NoGradGuard no_grad;
  for (Tensor& t : n->parameters()) t.copy_(data(t.sizes()));
  for (Tensor& t : n->buffers()) t.copy_(data(t.sizes(), t.scalar_type()));
  return n;
}

template <class Optimizer, class Options>
void save_optimizer(const std::string& path, const Options& options) {
  std::vector<Tensor> weights = {data({2, 3}).requires_grad_(),
                                 data({4}).requires_grad_()};
  Optimizer optimizer(weights, options);
  for (Tensor& w : weights) w.mutable_grad() = data(w.sizes());
  optimizer.step();
  torch::save(optimizer, path);
}

void write_file(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
}

void make(const std::string& folder) {
  const auto path = [&](const char* name) { return folder + "/" + name; };
  torch::save(net(), path("module.cpp.pt"));
  torch::save(data({2, 3}), path("tensor.cpp.pt"));
  const Tensor base = data({4, 3});
  torch::save(std::vector<Tensor>{base, base.t(), base.select(0, 1),
                                  data({5}, torch::kBool),
                                  data({0, 2}, torch::kBFloat16)},
              path("vector.cpp.pt"));
  save_optimizer<torch::optim::Adam>(path("adam.cpp.pt"),
                                     torch::optim::AdamOptions(0.01));
  save_optimizer<torch::optim::SGD>(
      path("sgd.cpp.pt"), torch::optim::SGDOptions(0.1).momentum(0.9));

  torch::serialize::OutputArchive archive, child, grandchild;
  archive.write("int", torch::IValue(int64_t{-5000000000}));
  archive.write("double", torch::IValue(0.5));
  archive.write("bool", torch::IValue(true));
  archive.write("string", torch::IValue("a \u00e4 b"));
  archive.write("ints", torch::IValue(std::vector<int64_t>{1, -2, 300}));
  archive.write("doubles", torch::IValue(std::vector<double>{0.25, -1e300}));
  archive.write("tensors",
                torch::IValue(std::vector<Tensor>{data({2}), data({1, 1})}));
  archive.write("none", torch::IValue());
  archive.write("weight", data({2, 2}, torch::kDouble));
  archive.write("buffer", data({3}, torch::kInt), /*is_buffer=*/true);
  grandchild.write("t", data({}, torch::kHalf));
  child.write("deep", grandchild);
  child.write("x", torch::IValue(int64_t{7}));
  archive.write("child", child);
  archive.save_to(path("archive.cpp.pt"));

  c10::Dict<std::string, Tensor> dict;
  dict.insert("a", data({2, 3}));
  dict.insert("b", data({4}, torch::kLong));
  write_file(path("pickle.cpp.pt"), torch::pickle_save(dict));
}

int failures = 0;
void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "not so: " << what << "\n";
  ++failures;
}
void expect_data(const Tensor& t, torch::IntArrayRef sizes,
                 torch::ScalarType dtype, const std::string& what) {
  expect(t.defined() && t.scalar_type() == dtype && t.sizes() == sizes &&
             t.equal(data(sizes, dtype)),
         what);
}

void check(const std::string& kind, const std::string& path) {
  if (kind == "module") {
    Net n;
    torch::load(n, path);
    for (const auto& p : n->named_parameters()) {
      expect_data(p.value(), p.value().sizes(), torch::kFloat, p.key());
    }
    for (const auto& p : n->named_buffers()) {
      expect_data(p.value(), p.value().sizes(), p.value().scalar_type(),
                  p.key());
    }
  } else if (kind == "tensor") {
    Tensor t;
    torch::load(t, path);
    expect_data(t, {2, 3}, torch::kFloat, "tensor");
  } else if (kind == "vector") {
    std::vector<Tensor> v;
    torch::load(v, path);
    expect(v.size() == 5, "five tensors");
    expect_data(v[0], {4, 3}, torch::kFloat, "0");
    expect(v[1].equal(v[0].t()) && v[2].equal(v[0][1]), "views");
    expect(v[1].is_alias_of(v[0]) && v[2].is_alias_of(v[0]), "one storage");
    expect_data(v[3], {5}, torch::kBool, "3");
    expect_data(v[4], {0, 2}, torch::kBFloat16, "4");
  } else if (kind == "archive") {
    torch::serialize::InputArchive archive, child, deep;
    archive.load_from(path);
    const auto read = [](torch::serialize::InputArchive& a, const char* key) {
      torch::IValue v;
      a.read(key, v);
      return v;
    };
    expect(read(archive, "int").toInt() == -5000000000, "int");
    expect(read(archive, "double").toDouble() == 0.5, "double");
    expect(read(archive, "bool").toBool(), "bool");
    expect(read(archive, "string").toStringRef() == "a \u00e4 b", "string");
    expect(
        read(archive, "ints").toIntVector() == std::vector<int64_t>{1, -2, 300},
        "ints");
    expect(read(archive, "doubles").toDoubleVector() ==
               std::vector<double>{0.25, -1e300},
           "doubles");
    expect(read(archive, "none").isNone(), "none");
    const std::vector<Tensor> tensors =
        read(archive, "tensors").toTensorVector();
    expect_data(tensors.at(0), {2}, torch::kFloat, "tensors[0]");
    expect_data(tensors.at(1), {1, 1}, torch::kFloat, "tensors[1]");
    Tensor weight, buffer, t;
    archive.read("weight", weight);
    expect_data(weight, {2, 2}, torch::kDouble, "weight");
    archive.read("buffer", buffer, /*is_buffer=*/true);
    expect_data(buffer, {3}, torch::kInt, "buffer");
    archive.read("child", child);
    expect(read(child, "x").toInt() == 7, "child.x");
    child.read("deep", deep);
    deep.read("t", t);
    expect_data(t, {}, torch::kHalf, "child.deep.t");
  } else if (kind == "dict") {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto dict = torch::pickle_load(bytes).toGenericDict();
    for (const auto& item : dict) {
      const Tensor t = item.value().toTensor();
      expect_data(t, t.sizes(), t.scalar_type(), item.key().toStringRef());
    }
    expect(!dict.empty(), "names");
  } else {
    expect(false, "known kind " + kind);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "make" && argc == 3) {
      make(argv[2]);
    } else if (mode == "check" && argc == 4) {
      check(argv[2], argv[3]);
    } else {
      std::cerr << "usage: make FOLDER | check KIND FILE\n";
      return 2;
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return failures != 0;
}
