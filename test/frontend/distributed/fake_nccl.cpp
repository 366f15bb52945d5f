#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "test/frontend/distributed/thread_engine.h"

// NCCL's and the CUDA runtime's functions that the engine uses, over host
// memory and ranks that are threads. As NCCL: what is enqueued in a stream runs
// one after another, joining and enqueuing go on after the call has returned,
// and calls in between are refused. FAKE_NCCL_FAIL=N: the N-th collective
// fails. FAKE_NCCL_NO_INIT=N: rank N cannot join.
// FAKE_NCCL_PROCESSES: ranks join without the others, which are in other
// processes, where nothing moves.

namespace {

using namespace sy::distributed;

enum { kOk = 0, kUsage = 5, kRemote = 6, kProgress = 7, kNotReady = 600 };

struct Stream;

struct Event {
  Stream* stream = nullptr;
  int64_t at = 0;
};

// Tasks return whether they are done; the first begins before the second.
struct Stream {
  std::deque<std::function<bool()>> tasks;
  int64_t added = 0, done = 0;
  void add(std::function<bool()> task) {
    tasks.push_back(std::move(task));
    ++added;
  }
  void progress() {
    while (!tasks.empty() && tasks.front()()) {
      tasks.pop_front();
      ++done;
    }
  }
};

struct World {
  std::unique_ptr<ThreadWorld> threads;
  int joined = 0;
};

std::mutex mutex;  // of `worlds`
std::map<std::string, World> worlds;
std::atomic<int> ids{0};
thread_local int current_device = -1;

struct Comm {
  World* world = nullptr;
  int size = 0;
  int busy = 0;  // how often it will still say that it is in progress
  std::string failed;
  std::unique_ptr<Communicator> ranks;
};

// Until the process ends: an engine destroys no stream, and streams may have
// tasks of a communicator that was aborted.
template <class T>
T* kept(std::unique_ptr<T> made) {
  static std::mutex own;
  static auto& all = *new std::vector<std::unique_ptr<T>>;
  const std::lock_guard lock(own);
  return all.emplace_back(std::move(made)).get();
}

struct Part {
  Comm* comm;
  Stream* stream;
  Transfer t;
};
thread_local int group_depth = 0;
thread_local std::vector<Part> group;

// All of a group run at the same time.
void enqueue(std::vector<Part> parts) {
  Stream* const stream = parts.front().stream;
  Comm* const comm = parts.front().comm;
  auto requests = std::make_shared<std::vector<void*>>();
  auto begun = std::make_shared<bool>(false);
  stream->add([=] {
    if (!*begun) {
      for (const Part& p : parts) {
        if (void* r = p.comm->ranks->begin(p.t)) requests->push_back(r);
      }
      *begun = true;
    }
    try {
      std::erase_if(*requests,
                    [&](void* r) { return comm->ranks->test(r, nullptr); });
    } catch (const std::exception& e) {
      comm->failed = e.what();
      return false;
    }
    return requests->empty();
  });
  stream->progress();
}

int start(Comm* comm, Stream* stream, const Transfer& t) {
  if (current_device < 0 || comm->busy > 0 || comm->ranks == nullptr) {
    return kUsage;
  }
  if (group_depth > 0) {
    group.push_back({comm, stream, t});
    return kOk;
  }
  if (std::getenv("FAKE_NCCL_FAIL") != nullptr) {
    comm->failed = "told to fail";
    return kProgress;
  }
  enqueue({{comm, stream, t}});
  comm->busy = 5;
  return kProgress;
}

sy::ScalarType dtype_of(int type) {
  switch (type) {
    case 0: return sy::kChar;
    case 2: return sy::kInt;
    case 4: return sy::kLong;
    case 6: return sy::kHalf;
    case 7: return sy::kFloat;
    case 8: return sy::kDouble;
    case 9: return sy::kBFloat16;
    default: return sy::kByte;
  }
}

ReduceOp op_of(int op) {
  constexpr ReduceOp kOps[] = {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MAX,
                               ReduceOp::MIN};
  return kOps[op];
}

Transfer transfer(Collective what, const void* in, void* out, size_t count,
                  int type, int op, int peer) {
  Transfer t;
  t.what = what;
  t.in = in;
  t.out = out;
  t.count = static_cast<int64_t>(count);
  t.dtype = dtype_of(type);
  t.op = op_of(op);
  t.peer = peer;
  return t;
}

struct Id {
  char bytes[128];
};

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE int ncclGetVersion(int* version) {
  *version = 21805;
  return kOk;
}
FAKE int ncclGetUniqueId(Id* id) {
  std::memset(id, 0, sizeof(*id));
  const std::string text = "world " + std::to_string(++ids);
  std::memcpy(id->bytes, text.data(), text.size());
  return kOk;
}
FAKE int ncclCommInitRankConfig(Comm** comm, int size, Id id, int rank,
                                const unsigned* config) {
  // The size, a number that says what it is, and `blocking`.
  if (config[2] != 0xcafebeef || config[4] != 0) return kUsage;
  const char* const fails = std::getenv("FAKE_NCCL_NO_INIT");
  if (fails != nullptr && std::atoi(fails) == rank) return kRemote;
  const std::lock_guard lock(mutex);
  World& world = worlds[id.bytes];
  if (world.threads == nullptr) {
    world.threads = std::make_unique<ThreadWorld>(size);
  }
  *comm = kept(std::make_unique<Comm>());
  (*comm)->world = &world;
  (*comm)->size = size;
  (*comm)->ranks.reset(world.threads->engine(rank).connect(rank, size));
  ++world.joined;
  if (std::getenv("FAKE_NCCL_PROCESSES") != nullptr) world.joined = size;
  return kProgress;
}
FAKE int ncclCommAbort(Comm* comm) {
  comm->failed = "aborted";
  return kOk;
}
FAKE int ncclCommGetAsyncError(Comm* comm, int* state) {
  const std::lock_guard lock(mutex);
  if (comm->busy > 0) --comm->busy;
  const bool waits = comm->busy > 0 || comm->world->joined < comm->size;
  *state = !comm->failed.empty() ? kRemote : waits ? kProgress : kOk;
  return kOk;
}
FAKE const char* ncclGetErrorString(int code) {
  return code == kRemote ? "remote process exited or there was a network error"
                         : "invalid usage";
}
FAKE const char* ncclGetLastError(Comm* comm) {
  return comm == nullptr ? "" : comm->failed.c_str();
}
FAKE int ncclGroupStart() {
  ++group_depth;
  return kOk;
}
FAKE int ncclGroupEnd() {
  if (--group_depth > 0 || group.empty()) return kOk;
  group.front().comm->busy = 5;
  enqueue(std::exchange(group, {}));
  return kProgress;
}
FAKE int ncclAllReduce(const void* in, void* out, size_t n, int type, int op,
                       Comm* comm, Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kAllReduce, in, out, n, type, op, 0));
}
FAKE int ncclBroadcast(const void* in, void* out, size_t n, int type, int root,
                       Comm* comm, Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kBroadcast, in, out, n, type, 0, root));
}
FAKE int ncclReduce(const void* in, void* out, size_t n, int type, int op,
                    int root, Comm* comm, Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kReduce, in, out, n, type, op, root));
}
FAKE int ncclAllGather(const void* in, void* out, size_t n, int type,
                       Comm* comm, Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kAllGather, in, out, n, type, 0, 0));
}
FAKE int ncclReduceScatter(const void* in, void* out, size_t n, int type,
                           int op, Comm* comm, Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kReduceScatter, in, out, n, type, op, 0));
}
FAKE int ncclSend(const void* in, size_t n, int type, int peer, Comm* comm,
                  Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kSend, in, nullptr, n, type, 0, peer));
}
FAKE int ncclRecv(void* out, size_t n, int type, int peer, Comm* comm,
                  Stream* stream) {
  return start(comm, stream,
               transfer(Collective::kRecv, nullptr, out, n, type, 0, peer));
}

FAKE int cudaGetDeviceCount(int* count) {
  *count = 2;
  return kOk;
}
FAKE int cudaSetDevice(int device) {
  current_device = device;
  return kOk;
}
FAKE int cudaStreamCreateWithFlags(Stream** stream, unsigned) {
  *stream = kept(std::make_unique<Stream>());
  return kOk;
}
FAKE int cudaEventCreateWithFlags(Event** event, unsigned) {
  *event = new Event;
  return kOk;
}
FAKE int cudaEventDestroy(Event* event) {
  delete event;
  return kOk;
}
FAKE int cudaEventRecord(Event* event, Stream* stream) {
  event->stream = stream;
  event->at = stream->added;
  return kOk;
}
FAKE int cudaEventQuery(Event* event) {
  event->stream->progress();
  return event->stream->done >= event->at ? kOk : kNotReady;
}
FAKE int cudaMemcpyAsync(void* to, const void* from, size_t n, int,
                         Stream* stream) {
  stream->add([=] {
    std::memcpy(to, from, n);
    return true;
  });
  return kOk;
}
FAKE const char* cudaGetErrorString(int) { return "a CUDA error"; }
