#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "c10/process/error.h"
#include "frontend/distributed/engine.h"
#include "test/frontend/distributed/engine_checks.h"

// The checks of engines, for the ranks that mpirun starts, or for a process by
// itself. Exit code 0: all is well. Arguments:
//   checks      all checks, and 64 MB
//   errors      what must throw
//   unclean     leaves with a transfer under way and without telling MPI, so
//               that mpirun's exit code is 1
//   theirs      the program has begun MPI itself, and ends it
//   single      the same without threads, which must throw
//   ended       the same after MPI's end

namespace sy::distributed {
namespace {

int failures = 0;

void expect(bool ok, const std::string& what) {
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

template <class F>
void expect_error(const char* text, F&& f) {
  try {
    f();
    expect(false, std::string("no error: ") + text);
  } catch (const Error& e) {
    expect(e.message().find(text) != std::string::npos,
           std::string("expected '") + text + "' in: " + e.message());
  }
}

void checks(Communicator& world) {
  for (const std::string& f : check_engine(world)) expect(false, f);
  for (const std::string& f : check_large(world, 64 << 20)) expect(false, f);
}

void errors(Communicator& world) {
  Transfer t;
  t.what = Collective::kAllReduce;
  t.dtype = kFloat;
  t.count = int64_t{1} << 31;
  expect_error(
      "[mpi] all_reduce: expected at most 2147483647 elements in one "
      "transfer, got 2147483648",
      [&] { world.begin(t); });
  const std::vector<int64_t> counts(static_cast<size_t>(world.size()),
                                    int64_t{1} << 31);
  t.what = Collective::kAllToAll;
  t.count = 0;
  t.in_counts = t.out_counts = counts.data();
  expect_error("[mpi] all_to_all: expected at most", [&] { world.begin(t); });
  // MPI's own words.
  float x = 0;
  t = Transfer();
  t.what = Collective::kSend;
  t.dtype = kFloat;
  t.in = &x;
  t.count = 1;
  t.peer = world.size();
  expect_error("[mpi] send: MPI_ERR_RANK", [&] { world.begin(t); });
  std::vector<char> in(100), out(50);
  const int other = (world.rank() + 1) % world.size();
  // A message that is too long. Open MPI cuts those to oneself without a word.
  if (other != world.rank()) {
    t.what = Collective::kRecv;
    t.dtype = kByte;
    t.peer = (world.rank() + world.size() - 1) % world.size();
    t.out = out.data();
    t.count = 50;
    void* const recv = world.begin(t);
    t.what = Collective::kSend;
    t.peer = other;
    t.in = in.data();
    t.count = 100;
    void* const send = world.begin(t);
    expect_error("[mpi] recv: MPI_ERR_TRUNCATE", [&] { finish(world, recv); });
    finish(world, send);
    world.abandon(recv);
    expect_error("[mpi] connect: expected rank",
                 [&] { engine_of("mpi").connect(other, world.size()); });
  }
}

void never_done(Communicator& world, std::vector<char>& data) {
  Transfer t;
  t.what = Collective::kRecv;
  t.out = data.data();
  t.count = static_cast<int64_t>(data.size());
  t.peer = (world.rank() + 1) % world.size();
  void* const request = world.begin(t);
  expect(!world.test(request, nullptr), "what never came is not done");
  world.abandon(request);
}

// MPI's own functions, as a program that uses MPI has them.
template <class F>
F* function(const char* name) {
  static void* const library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  void* const f = library == nullptr ? nullptr : dlsym(library, name);
  SY_CHECK(f != nullptr, Error, "no MPI: {}", dlerror());
  return reinterpret_cast<F*>(f);
}

bool finalized() {
  int done = 0;
  function<int(int*)>("MPI_Finalized")(&done);
  return done != 0;
}

int with_theirs(const std::string& what) {
  constexpr int kMultiple = 3;
  int level = 0, rank = 0, size = 1;
  if (what == "single") {
    function<int(int*, char***)>("MPI_Init")(nullptr, nullptr);
  } else {
    function<int(int*, char***, int, int*)>("MPI_Init_thread")(
        nullptr, nullptr, kMultiple, &level);
  }
  Engine& engine = engine_of("mpi");
  engine.launched(&rank, &size);
  const auto end = function<int()>("MPI_Finalize");
  if (what == "theirs") {
    const std::unique_ptr<Communicator> world(engine.connect(rank, size));
    checks(*world);
  } else if (what == "single") {
    expect_error(
        "[mpi] connect: expected MPI with MPI_THREAD_SERIALIZED or "
        "more, got MPI_THREAD_SINGLE",
        [&] { engine.connect(rank, size); });
  }
  engine.shutdown(true);
  expect(!finalized(), "MPI goes on until the program ends it");
  end();
  if (what == "ended") {
    expect_error("[mpi] connect: MPI_Finalize was called in this process",
                 [&] { engine.connect(rank, size); });
  }
  return failures == 0 ? 0 : 1;
}

int run(const std::string& what) {
  if (what == "theirs" || what == "single" || what == "ended") {
    return with_theirs(what);
  }
  Engine& engine = engine_of("mpi");
  int rank = 0, size = 1;
  const bool launched = engine.launched(&rank, &size);
  const std::unique_ptr<Communicator> world(engine.connect(rank, size));
  if (rank == 0) {
    std::printf("%s, %s, %d of %d\n", engine.version(),
                launched ? "launched" : "alone", rank, size);
  }
  expect(world->rank() == rank && world->size() == size, "rank and size");
  expect(std::strcmp(engine.name(), "mpi") == 0, "name");
  if (what == "errors") {
    errors(*world);
  } else if (what == "unclean") {
    static std::vector<char> data(50);
    never_done(*world, data);
  } else {
    checks(*world);
  }
  engine.shutdown(what != "unclean");
  expect(finalized() == (what != "unclean"), "MPI is ended if all is well");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sy::distributed

int main(int argc, char** argv) {
  try {
    return sy::distributed::run(argc > 1 ? argv[1] : "checks");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED: %s\n", e.what());
    return 1;
  }
}
