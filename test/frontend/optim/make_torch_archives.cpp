#include <caffe2/serialize/inline_container.h>
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>

// Makes the archives of testdata/ with libtorch itself, and checks those that
// archive_test writes. Built by hand:
//
//   T=.../site-packages/torch
//   g++ -std=c++20 -O1 -I$T/include -I$T/include/torch/csrc/api/include
//     make_torch_archives.cpp -o make_torch_archives
//     -L$T/lib -Wl,-rpath,$T/lib -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10
//   make_torch_archives make FOLDER
//   make_torch_archives check FOLDER
//
// NAME.pt has an optimizer after three steps. "rows" in expected.pt is of sizes
// [6, 2, 11]: for each optimizer, in the order of makers(), all elements of its
// parameters then and three steps later.

namespace {

using namespace torch::optim;
using torch::Tensor;

constexpr int kSteps = 3;

// Element i is a * (i + k) % m, less m / 2, in eighths.
Tensor pattern(const Tensor& like, int64_t a, int64_t m, int64_t k) {
  const Tensor i = torch::arange(like.numel(), torch::kDouble);
  return ((a * (i + k)).fmod(m) - m / 2).div(8).view(like.sizes());
}

std::vector<Tensor> parameters() {
  std::vector<Tensor> all = {torch::zeros({2, 3}, torch::kDouble),
                             torch::zeros({3}, torch::kDouble),
                             torch::zeros({2}, torch::kDouble)};
  for (size_t k = 0; k < all.size(); ++k) {
    all[k].copy_(pattern(all[k], 7, 11, static_cast<int64_t>(k)));
    all[k].requires_grad_();
  }
  return all;
}

// The gradients of step s; LBFGS has the same ones in all steps, of a loss.
double set_gradients(const std::vector<Tensor>& all, int64_t s) {
  const torch::NoGradGuard no_grad;
  double loss = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    const Tensor& p = all[k];
    const auto scale = static_cast<double>(k + 1) / 2;
    const Tensor shift = pattern(p, 5, 7, static_cast<int64_t>(k) + s);
    all[k].mutable_grad() = p * scale + shift;
    loss += (p * p * scale / 2 + p * shift).sum().item<double>();
  }
  return loss;
}

void steps(Optimizer& optimizer, const std::vector<Tensor>& all, int first) {
  for (int s = first; s < first + kSteps; ++s) {
    if (dynamic_cast<LBFGS*>(&optimizer) != nullptr) {
      optimizer.step(
          [&] { return torch::tensor(set_gradients(all, 0), torch::kDouble); });
    } else {
      set_gradients(all, s);
      optimizer.step();
    }
  }
}

Tensor row(const std::vector<Tensor>& all) {
  std::vector<Tensor> rows;
  for (const Tensor& p : all) rows.push_back(p.detach().reshape(-1));
  return torch::cat(rows);
}

using Make =
    std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&, bool)>;

// An optimizer of two groups. Options that are not `set` are the usual ones.
template <class O, class Options>
Make grouped(const Options& first, const Options& second) {
  return [=](const std::vector<Tensor>& p, bool set) {
    std::vector<OptimizerParamGroup> groups;
    if (set) {
      groups.emplace_back(std::vector<Tensor>{p[0], p[1]},
                          std::make_unique<Options>(first));
      groups.emplace_back(std::vector<Tensor>{p[2]},
                          std::make_unique<Options>(second));
    } else {
      groups.emplace_back(std::vector<Tensor>{p[0], p[1]});
      groups.emplace_back(std::vector<Tensor>{p[2]});
    }
    return std::make_unique<O>(groups, Options(0.5));
  };
}

std::unique_ptr<Optimizer> make_lbfgs(const std::vector<Tensor>& p, bool set) {
  LBFGSOptions o(1);
  if (set) o.lr(0.5).max_iter(3).history_size(2).line_search_fn("strong_wolfe");
  return std::make_unique<LBFGS>(p, o);
}

template <class Options>
Options adam(double lr, bool amsgrad) {
  return Options(lr)
      .betas({0.8, 0.95})
      .eps(1e-6)
      .weight_decay(0.1)
      .amsgrad(amsgrad);
}

const std::vector<std::pair<std::string, Make>>& makers() {
  static const std::vector<std::pair<std::string, Make>> all = {
      {"SGD",
       grouped<SGD>(
           SGDOptions(0.1).momentum(0.9).dampening(0.2).weight_decay(0.1),
           SGDOptions(0.05).momentum(0.8).nesterov(true))},
      {"Adam", grouped<Adam>(adam<AdamOptions>(0.1, true),
                             adam<AdamOptions>(0.05, false))},
      {"AdamW", grouped<AdamW>(adam<AdamWOptions>(0.1, false),
                               adam<AdamWOptions>(0.05, false))},
      {"Adagrad",
       grouped<Adagrad>(AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.1),
                        AdagradOptions(0.05).eps(1e-6))},
      {"RMSprop",
       grouped<RMSprop>(
           RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(true),
           RMSpropOptions(0.05).weight_decay(0.1).eps(1e-6))},
      {"LBFGS", make_lbfgs},
  };
  return all;
}

// The same without what only debuggers read, deflated: a third of the size.
void pack(const std::string& from, const std::string& to) {
  caffe2::serialize::PyTorchStreamReader in(from);
  caffe2::serialize::PyTorchStreamWriter out(to);
  for (const std::string& name : in.getAllRecords()) {
    if (name.ends_with(".debug_pkl") || name.starts_with(".data/")) continue;
    if (name == "version" || name == "byteorder") continue;
    const auto [data, size] = in.getRecord(name);
    out.writeRecord(name, data.get(), size, /*compress=*/true);
  }
  out.writeRecord("byteorder", "little", 6);
  out.writeEndOfFile();
}

void make(const std::string& folder) {
  std::vector<Tensor> rows;
  for (const auto& [name, maker] : makers()) {
    const std::vector<Tensor> all = parameters();
    const auto optimizer = maker(all, true);
    steps(*optimizer, all, 0);
    rows.push_back(row(all));
    const std::string path = folder + "/" + name + ".pt";
    torch::save(*optimizer, path + ".whole");
    pack(path + ".whole", path);
    std::remove((path + ".whole").c_str());
    steps(*optimizer, all, kSteps);
    rows.push_back(row(all));
  }
  c10::Dict<std::string, Tensor> expected;
  expected.insert("rows", torch::stack(rows).view({-1, 2, rows[0].numel()}));
  const std::vector<char> bytes = torch::pickle_save(expected);
  std::ofstream(folder + "/expected.pt", std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool check(const std::string& folder) {
  std::ifstream in(folder + "/expected.pt", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const Tensor rows =
      torch::pickle_load(bytes).toGenericDict().at("rows").toTensor();
  bool good = true;
  for (size_t i = 0; i < makers().size(); ++i) {
    const auto& [name, maker] = makers()[i];
    const std::vector<Tensor> all = parameters();
    const auto optimizer = maker(all, false);
    torch::load(*optimizer, folder + "/" + name + ".pt");
    const Tensor start = rows[static_cast<int64_t>(i)][0],
                 end = rows[static_cast<int64_t>(i)][1];
    {
      const torch::NoGradGuard no_grad;
      int64_t at = 0;
      for (const Tensor& p : all) {
        p.copy_(start.narrow(0, at, p.numel()).view(p.sizes()));
        at += p.numel();
      }
    }
    steps(*optimizer, all, kSteps);
    const auto off = (row(all) - end).abs().max().item<double>();
    std::cout << name << ": off by " << off << ", steps went "
              << (end - start).abs().max().item<double>() << "\n";
    good &= off < 1e-12;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "make" && argc == 3) {
      make(argv[2]);
    } else if (mode == "check" && argc == 3) {
      return check(argv[2]) ? 0 : 1;
    } else {
      std::cerr << "usage: make FOLDER | check FOLDER\n";
      return 2;
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
