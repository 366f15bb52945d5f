#include <sy/distributed.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// A short run of a rank, in which one rank has a fault at one of its calls:
//
//   process_faults_main FOLDER FAULT RANK CALL
//
// FAULT: none, kill, stop, throw, exit (without a word), return (from main),
// short and long (delays), other (a call that the others do not make), survive:
// killed, and of the others the first saves. CALL: 0 is init, and the end of
// main is the last. kill_at, exit_at and stop_at: so many microseconds after
// the beginning of main, in place of a call. Each rank says one line:
//
//   right CALLS
//   error MS: TEXT     MS: milliseconds since the fault
//   wrong TEXT
//   saved MS: TEXT     or "ended", if another one saved
//
// and has exit code 0, 3 or 9; 4 for the rank that throws. Time-out: 2 s.

namespace sy::distributed {
namespace {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Leave {};
struct Own : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string folder, fault;
int victim = -1, at = -1, calls = 0;
std::shared_ptr<ProcessGroup> alone;  // of this rank

// The clock of the machine, the same for all processes.
double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) +
         1e-6 * static_cast<double>(t.tv_nsec);
}

void note_time() {
  std::FILE* const f = std::fopen((folder + "/fault").c_str(), "w");
  std::fprintf(f, "%.3f", now());
  std::fclose(f);
}

double since_fault() {
  double then = 0;
  std::FILE* const f = std::fopen((folder + "/fault").c_str(), "r");
  if (f == nullptr) return -1;
  if (std::fscanf(f, "%lf", &then) != 1) then = now();
  std::fclose(f);
  return now() - then;
}

int own_rank() {
  const char* const text = std::getenv("OMPI_COMM_WORLD_RANK");
  return text == nullptr ? 0 : std::atoi(text);
}

// Stands before each call of the run.
void call() {
  if (calls++ != at || own_rank() != victim || fault.ends_with("_at")) return;
  note_time();
  if (fault == "kill" || fault == "survive") raise(SIGKILL);
  if (fault == "stop") {
    // The others end well without it: then somebody has to wake it.
    if (calls > 21 && std::system("(sleep 12; kill -CONT $PPID) "
                                  ">/dev/null 2>&1 &") != 0) {
      throw Own("no shell");
    }
    raise(SIGSTOP);
  }
  if (fault == "throw") throw Own("no such file");
  if (fault == "exit") _exit(0);
  if (fault == "return") throw Leave();
  const int delay = fault == "short" ? 300 : fault == "long" ? 3500 : 0;
  std::this_thread::sleep_for(Milliseconds(delay));
  if (fault == "other") {
    const CallLabel label("not of this run");
    world()->allreduce(sy::ones({7}, TensorOptions().dtype(kInt)));
  }
}

void check(const Tensor& t, double value, const char* what) {
  if (t.numel() > 0 && !t.eq(value).all().item<bool>()) {
    throw Wrong(std::string(what) + " after call " + std::to_string(calls - 1));
  }
}

void whole_world(ProcessGroup& g) {
  const int n = g.size(), rank = g.rank();
  const double sum = n * (n + 1) / 2.0;
  Tensor t = sy::full({5}, rank + 1.0);
  call();
  g.allreduce(t);
  check(t, sum, "all_reduce");
  Tensor large = sy::full({400'000}, rank + 1.0);
  call();
  const Work work = g.allreduce(large, ReduceOp::MAX, kAsync);
  Tensor b = sy::full({3}, double(rank));
  call();
  g.broadcast(b, 1);
  check(b, 1, "broadcast");
  call();
  work.wait();
  check(large, n, "all_reduce, asynchronous");
  Tensor all = sy::empty({n * 4000});
  call();
  g.allgather_into_tensor(all, sy::full({4000}, double(rank)));
  for (int r = 0; r < n; ++r) {
    check(all.narrow(0, r * 4000, 4000), r, "all_gather");
  }
  Tensor part = sy::empty({2});
  call();
  g.reduce_scatter_tensor(part, sy::full({2 * n}, rank + 1.0));
  check(part, sum, "reduce_scatter");
  Tensor got = sy::empty({n * 3000});
  call();
  g.alltoall_base(got, sy::full({n * 3000}, double(rank)));
  for (int r = 0; r < n; ++r) {
    check(got.narrow(0, r * 3000, 3000), r, "all_to_all");
  }
  std::vector<Tensor> parts;
  for (int r = 0; r < n && rank == 0; ++r) parts.push_back(sy::empty({4}));
  call();
  g.gather(parts, sy::full({4}, double(rank)), 0);
  for (int r = 0; r < n && rank == 0; ++r) check(parts[size_t(r)], r, "gather");
  for (Tensor& p : parts) p.add_(5);
  Tensor mine = sy::empty({4});
  call();
  g.scatter(mine, parts, 0);
  check(mine, rank + 5, "scatter");
  Tensor r = sy::full({300'000}, rank + 1.0);
  call();
  g.reduce(r, 1);
  check(r, rank == 1 ? sum : rank + 1, "reduce");
  // From each rank to the next.
  Tensor from = sy::empty({20'000});
  call();
  const Work sent =
      g.send(sy::full({20'000}, double(rank)), (rank + 1) % n, 3, kAsync);
  g.recv(from, (rank + n - 1) % n, 3);
  sent.wait();
  check(from, (rank + n - 1) % n, "recv");
}

void some_ranks(ProcessGroup* first, ProcessGroup* ends) {
  Tensor t = sy::full({6}, 2.0);
  call();
  if (first != nullptr) {
    first->allreduce(t, ReduceOp::PRODUCT);
    check(t, 4, "all_reduce of a group");
  }
  Tensor large = sy::full({200'000}, double(get_rank()));
  call();
  if (ends != nullptr) {
    ends->broadcast(large, 1);
    check(large, get_world_size() - 1, "broadcast of a group");
  }
}

void train() {
  const int n = get_world_size();
  nn::Linear model(3, 2);
  {
    NoGradGuard none;
    for (Tensor& p : model->parameters()) p.fill_(get_rank() + 1.0);
  }
  call();
  DistributedDataParallel ddp(model);
  optim::SGD sgd(model->parameters(), optim::SGDOptions(1));
  const Tensor loss = ddp(sy::full({2, 3}, get_rank() + 1.0)).sum();
  call();
  loss.backward();
  check(model->weight.grad(), n + 1, "gradient");
  check(model->bias.grad(), 2, "gradient of the bias");
  sgd.step();
  check(model->weight.detach(), -n, "weight");
  CheckpointState state;
  state.add("model", model->state_dict());
  call();
  save_checkpoint(folder + "/checkpoints", state);
  call();
  const CheckpointState back = load_checkpoint(folder + "/checkpoints");
  model->load_state_dict(back.get("model"));
  check(model->weight.detach(), -n, "weight of the checkpoint");
}

// Starts "kill_at", "exit_at" and "stop_at", which come wherever the run is
// then.
void start_timed_fault() {
  if (!fault.ends_with("_at") || own_rank() != victim) return;
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::microseconds(at));
    note_time();
    if (fault == "kill_at") raise(SIGKILL);
    if (fault == "exit_at") _exit(0);
    kill(getpid(), SIGSTOP);
  }).detach();
}

void run() {
  start_timed_fault();
  call();
  InitOptions options;
  options.timeout = Milliseconds(2000);
  init(options);
  const int n = get_world_size();
  for (int r = 0; r < n && fault == "survive"; ++r) {
    const auto group = new_group({r});
    if (group != nullptr) alone = group;
  }
  call();
  const auto first = new_group({0, 1});
  call();
  const auto ends = new_group({0, n - 1});
  whole_world(*world());
  some_ranks(first.get(), ends.get());
  train();
  call();
  barrier();
  call();
  destroy_process_group();
  call();
}

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

// The ranks that are left know who they are, and one of them saves by itself.
int survive(const std::string& error, double after) {
  std::set<int> gone;
  for (const Departure& d : store().departed()) {
    if (!d.clean) gone.insert(d.rank);  // others may have saved already
  }
  int first = 0;
  while (gone.contains(first)) ++first;
  const int rank = get_rank();
  if (rank == first) {
    CheckpointState state;
    state.set("calls", calls);
    save_checkpoint(folder + "/last", state, {.group = alone});
    const CheckpointState back = load_checkpoint(folder + "/last", alone);
    if (back.integer("calls") != calls) throw Wrong("checkpoint");
  }
  say((rank == first ? "saved " : "ended ") +
      std::to_string(std::lround(after)) + ": " + error);
  return 0;
}

int safe_run() {
  try {
    run();
    say("right " + std::to_string(calls));
    return 0;
  } catch (const Leave&) {
    return 0;
  } catch (const Own&) {
    return 4;
  } catch (const Wrong& e) {
    say(std::string("wrong ") + e.what());
    return 9;
  } catch (const std::exception& e) {
    const double after = since_fault();
    std::string text = e.what();
    for (char& c : text) c = c == '\n' ? ' ' : c;
    if (fault == "survive") return survive(text, after);
    say("error " + std::to_string(std::lround(after)) + ": " + text);
    return 3;
  }
}

}  // namespace
}  // namespace sy::distributed

int main(int argc, char** argv) {
  using namespace sy::distributed;
  if (argc != 5) return 2;
  folder = argv[1];
  fault = argv[2];
  victim = std::atoi(argv[3]);
  at = std::atoi(argv[4]);
  return safe_run();
}
