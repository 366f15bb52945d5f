#include <sy/distributed.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "examples/common/model.h"
#include "examples/convnet/convnet.h"
#include "examples/transformer/transformer.h"

// The times of collectives, and of steps of training on several ranks.
// compare.py runs it beside peers/torch_peer.py, which measures the same. Rank
// 0 prints lines "figure NAME NANOSECONDS", and each rank "note …".
//
// distributed_bench all_reduce BYTES WARMUP COUNT
//                   fingerprint BYTES WARMUP COUNT
//                   ddp|local convnet|transformer WARMUP COUNT [BUCKET]
//                     BUCKET: bytes; without it the defaults
//                   mismatch dtype|sizes|operator
//                   dead FILE   where the rank that dies writes when

namespace {

namespace dist = sy::distributed;
using Ddp = dist::DistributedDataParallel<>;
using Clock = std::chrono::steady_clock;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             Clock::now().time_since_epoch())
      .count();
}

// Prints a line in one write: ranks share the terminal.
void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void figure(const std::string& name, double ns) {
  say("figure " + name + " " + std::to_string(static_cast<int64_t>(ns)));
}

// The slower rank's time of each call, in nanoseconds.
template <class Before, class Call>
std::vector<double> times_of(int warmup, int count, const Before& before,
                             const Call& call) {
  sy::Tensor times = sy::zeros({count}, sy::kDouble);
  double* const ns = times.mutable_data_ptr<double>();
  for (int i = 0; i < warmup + count; ++i) {
    before();
    const int64_t begin = now_ns();
    call();
    if (i >= warmup) ns[i - warmup] = static_cast<double>(now_ns() - begin);
  }
  dist::world()->allreduce(times, dist::ReduceOp::MAX);
  return {ns, ns + count};
}

void report(const std::string& name, std::vector<double> times) {
  if (dist::get_rank() != 0) return;
  const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  figure(name, *middle);
}

void all_reduce(int64_t bytes, int warmup, int count) {
  const auto world = dist::world();
  const sy::Tensor t = sy::zeros({bytes / 4});
  report("all_reduce_" + std::to_string(bytes),
         times_of(
             warmup, count, [&] { world->barrier(); },
             [&] { world->allreduce(t); }));
  t.fill_(world->rank() + 1);
  world->allreduce(t);
  const int sum = world->size() * (world->size() + 1) / 2;
  if (!t.eq(sum).all().item<bool>()) {
    throw std::runtime_error("all_reduce: the sum is wrong");
  }
}

// all_reduce, with the check of calls or, where
// SWITCHYARD_DISTRIBUTED_UNCHECKED is set, without. Then makes sure of it:
// ranks name one call differently.
void fingerprint(int64_t bytes, int warmup, int count) {
  all_reduce(bytes, warmup, count);
  const bool expected =
      std::getenv("SWITCHYARD_DISTRIBUTED_UNCHECKED") == nullptr;
  bool checked = false;
  const sy::Tensor t = sy::zeros({4});
  try {
    const dist::CallLabel label("of rank " + std::to_string(dist::get_rank()));
    dist::world()->allreduce(t);
  } catch (const sy::Error&) {
    checked = true;
  }
  if (checked != expected) {
    throw std::runtime_error(checked ? "fingerprint: the check is on"
                                     : "fingerprint: the check is off");
  }
}

struct Case {
  sy::nn::AnyModule model;
  sy::Tensor x, y;
};

// The same model on all ranks; each rank's own input and targets. torch_peer.py
// has the same numbers.
Case case_of(const std::string& name) {
  models::Uniform random(2), mine(10 + static_cast<uint64_t>(dist::get_rank()));
  if (name == "convnet") {
    const models::Convnet model(32, 10);
    random.fill(*model);
    const sy::Tensor x = mine.tensor({32, 1, 32, 32}, 1);
    return {model, x, mine.integers({32}, 10)};
  }
  const models::Transformer model(models::TransformerShape{256, 64, 128, 4, 4});
  random.fill(*model);
  const sy::Tensor x = mine.integers({8, 64}, 256);
  return {model, x, mine.integers({8, 64}, 256)};
}

// The buckets' all_reduces, while nothing computes.
void alone(const std::string& name, const Ddp& ddp,
           const sy::nn::Module& model) {
  std::vector<sy::Tensor> buckets;
  std::string sizes = "note bytes of buckets:";
  const auto parameters = model.named_parameters();
  for (const std::vector<std::string>& names : ddp.buckets()) {
    int64_t elements = 0;
    for (const auto& [of, p] : parameters) {
      if (std::find(names.begin(), names.end(), of) != names.end()) {
        elements += p.numel();
      }
    }
    buckets.push_back(sy::zeros({elements}));
    sizes += " " + std::to_string(4 * elements);
  }
  const auto world = dist::world();
  const auto call = [&] {
    std::vector<dist::Work> works;
    for (const sy::Tensor& b : buckets) {
      works.push_back(world->allreduce(b, dist::ReduceOp::SUM, dist::kAsync));
    }
    for (const dist::Work& w : works) w.wait();
  };
  report("alone_" + name, times_of(
                              10, 100, [&] { world->barrier(); }, call));
  if (world->rank() == 0) say(sizes);
}

// `how` "local": every rank trains its own model.
void steps(const std::string& how, const std::string& name, int warmup,
           int count, size_t bucket_bytes) {
  const Case c = case_of(name);
  std::unique_ptr<Ddp> ddp;
  if (how == "ddp") {
    dist::DataParallelOptions options;
    if (bucket_bytes > 0) {
      options.bucket_bytes = options.first_bucket_bytes = bucket_bytes;
    }
    ddp = std::make_unique<Ddp>(c.model.ptr(), options);
  }
  sy::optim::SGD sgd(
      c.model.ptr()->parameters(),
      sy::optim::SGDOptions(models::kRate).momentum(models::kMomentum));
  std::vector<float> losses;
  const auto step = [&] {
    const sy::Tensor loss = models::train_step(c.model, sgd, c.x, c.y);
    if (losses.size() < 5) losses.push_back(loss.item<float>());
  };
  report(how + "_" + name, times_of(
                               warmup, count, [] {}, step));
  if (ddp != nullptr) alone(name, *ddp, *c.model.ptr());
  if (dist::get_rank() != 0) return;
  std::string line = "losses";
  for (const float loss : losses) line += " " + std::to_string(loss);
  say(line);
}

// Says what the call does. Returns the time of its error; 0 if it returns.
template <class Call>
int64_t attempt(const Call& call) {
  int64_t when = 0;
  std::string said = "returned";
  try {
    call();
  } catch (const std::exception& e) {
    when = now_ns();
    said = e.what();
  }
  std::replace(said.begin(), said.end(), '\n', ' ');
  say("note rank " + std::to_string(dist::get_rank()) + ": " + said);
  return when;
}

void mismatch(const std::string& kind) {
  const auto world = dist::world();
  const bool odd = world->rank() == 1;
  const sy::Tensor t = sy::ones({kind == "sizes" && odd ? 6 : 4},
                                kind == "dtype" && odd ? sy::kInt : sy::kFloat);
  world->barrier();
  const int64_t begin = now_ns();
  const int64_t end = attempt([&] {
    if (kind == "operator" && odd) {
      world->broadcast(t);
    } else {
      world->allreduce(t);
    }
  });
  if (end != 0) {
    figure("mismatch_" + kind + "_rank" + std::to_string(world->rank()),
           static_cast<double>(end - begin));
  }
}

void dead(const char* file) {
  const auto world = dist::world();
  const sy::Tensor t = sy::ones({4});
  for (int i = 0; i < 10; ++i) world->allreduce(t);
  if (world->rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::ofstream(file) << now_ns();
    std::raise(SIGKILL);
  }
  const int64_t end = attempt([&] { world->allreduce(t); });
  int64_t killed = 0;
  if (end != 0 && std::ifstream(file) >> killed) {
    figure("dead", static_cast<double>(end - killed));
  }
}

void run(const std::vector<std::string>& args) {
  const std::string& what = args.at(0);
  const auto number = [&](size_t i) { return std::stoi(args.at(i)); };
  if (what == "all_reduce") return all_reduce(number(1), number(2), number(3));
  if (what == "fingerprint") {
    return fingerprint(number(1), number(2), number(3));
  }
  if (what == "mismatch") return mismatch(args.at(1));
  if (what == "dead") return dead(args.at(1).c_str());
  if (what == "ddp" || what == "local") {
    return steps(what, args.at(1), number(2), number(3),
                 args.size() > 4 ? std::stoul(args[4]) : 0);
  }
  throw std::invalid_argument("distributed_bench: no " + what);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3)
    throw std::invalid_argument("distributed_bench: see its source");
  sy::set_num_threads(1);
  dist::init();
  run({argv + 1, argv + argc});
  dist::destroy_process_group();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
