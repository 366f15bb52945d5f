#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/macros.h"
#include "c10/tensor/scalar_type.h"
#include "frontend/distributed/reduce_op.h"

// Engines move bytes between ranks: MPI, NCCL, or a library outside of the
// tree. An engine is thin. The layer above it (process_group.h) has all that
// engines share: messages in pieces, the check of every call, time-outs, the
// thread on which transfers progress.

namespace sy::distributed {

enum class Collective : uint8_t {
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kBarrier
};

// "all_reduce", for messages.
SY_API const char* text_of(Collective what) noexcept;

// One transfer. Memory is contiguous and belongs to the caller until the
// transfer is done. `in` and `out` are the same for a transfer in place: the
// rank's own part of all_gather, and of gather at the root, then is where it
// belongs in `out`; scatter leaves it there at the root; reduce_scatter puts
// the result first. all_to_all is never in place. Only the root's `out` of
// reduce and gather, and its `in` of scatter, are used; others may give
// nullptr.
struct Transfer {
  Collective what = Collective::kBarrier;
  ScalarType dtype = ScalarType::Byte;
  ReduceOp op = ReduceOp::SUM;
  const void* in = nullptr;
  void* out = nullptr;
  // The number of elements: all ranks' count for all_reduce, broadcast, reduce,
  // send and recv; the count of one rank's part for all_gather, gather, scatter
  // and reduce_scatter. recv: the most that may come; NCCL wants what comes.
  int64_t count = 0;
  // The root, or the other rank of send and recv; numbers of the communicator.
  int peer = 0;
  // The tag of send and recv. Messages of one pair and one tag arrive in order.
  int tag = 0;
  // all_to_all: how many elements go to, and come from, each rank. Parts lie
  // one after another.
  const int64_t* in_counts = nullptr;
  const int64_t* out_counts = nullptr;
};

// The ranks of one group. All ranks begin the same transfers in the same order,
// but for send and recv, which only match each other. One thread at a time
// calls any communicator of an engine. Methods throw sy::Error for what the
// engine reports; the communicator is then only abandoned and deleted.
class SY_API Communicator {
 public:
  virtual ~Communicator();
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // Whether the engine itself does such transfers of that dtype. The caller
  // makes other transfers of send, recv, all_gather and all_to_all of bytes
  // (dtype Byte), which every engine must do. AVG is never asked for.
  virtual bool supports(Collective what, ScalarType dtype,
                        ReduceOp op) const noexcept = 0;
  // Starts a transfer and returns without waiting for other ranks. nullptr: it
  // is done already.
  virtual void* begin(const Transfer& t) = 0;
  // Whether the transfer is done; also lets all transfers of the engine go on.
  // Once it has said true the request is gone. `received`: the bytes that a
  // recv got.
  virtual bool test(void* request, size_t* received) = 0;
  // Forgets a transfer that will never be done, because a rank is gone. The
  // engine may still write to its memory: the caller keeps that forever.
  virtual void abandon(void* request) noexcept = 0;
  // Makes a communicator of some of these ranks, in that order; the caller is
  // one of them. Only they call it, and it may wait for them. `tag` is the same
  // on all of them, and differs between groups that are made at the same time.
  virtual Communicator* split(const int* ranks, int n, int tag) = 0;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
};

// Small values that all ranks see, for engines that have no way of their own to
// meet. Both functions throw Error if the others cannot come any more, which
// ends the engine's wait; they are called again and again.
struct Rendezvous {
  void* context = nullptr;
  void (*set)(void* context, const char* key, const void* data,
              size_t n) = nullptr;
  // Whether the key is there; then `data` becomes its n bytes. Does not wait.
  bool (*find)(void* context, const char* key, void* data, size_t n) = nullptr;
};

class SY_API Engine {
 public:
  virtual ~Engine();
  // "mpi"
  virtual const char* name() const noexcept = 0;
  // "Open MPI 4.1.4"; for people.
  virtual const char* version() const noexcept = 0;
  // The device whose memory it moves.
  virtual int device_type() const noexcept = 0;
  // Whether the engine's own launcher started this process, which rank it is
  // and how many there are. Must not wait for other ranks.
  virtual bool launched(int* rank, int* size) noexcept = 0;
  // Joins the other ranks, once; may wait for them. `rank` and `size` are what
  // launched() gave, or 0 and 1.
  virtual Communicator* connect(int rank, int size) = 0;
  // Ends the engine. `clean`: every rank is about to, and no transfer is left.
  // Otherwise it must not wait for anyone.
  virtual void shutdown(bool clean) noexcept = 0;
  // Called before connect(); `r` is copied, its context lives until shutdown().
  virtual void set_rendezvous(const Rendezvous& r);
  // The index of the device that this rank's memory is on; -1: any. Called
  // after connect().
  virtual int device_index() const noexcept;

 private:
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
};

// Adds an engine; it must live as long as the process. The latest of a name
// counts. A plugin calls it in the body of a SY_LIBRARY_FRAGMENT(sy_dist, m)
// block, and is linked with -z nodelete.
SY_API void register_engine(Engine& engine);
// The engine of that name. If there is none, loads the library of that name
// ("mpi": libswitchyard_mpi.so). Throws what load_library throws, and
// ValueError if the library registers no such engine.
SY_API Engine& engine_of(const char* name);

}  // namespace sy::distributed
