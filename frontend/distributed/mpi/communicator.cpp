#include "frontend/distributed/mpi/communicator.h"

#include <climits>
#include <cstring>
#include <memory>
#include <vector>

#include "c10/process/error.h"
#include "frontend/distributed/mpi/errors.h"

namespace sy::distributed::mpi {

namespace {

struct Request {
  MPI_Request request = MPI_REQUEST_NULL;
  const char* what = "";
  // Whether it is a recv, and the dtype of the elements that it counts.
  bool receives = false;
  ScalarType dtype = ScalarType::Byte;
  // Counts and displacements of all_to_all, which MPI reads until the end.
  std::vector<int> numbers;
};

// Elements of that size; those of supports() can be reduced.
MPI_Datatype type_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Char: return MPI_INT8_T;
    case ScalarType::Short: return MPI_INT16_T;
    case ScalarType::Int: return MPI_INT32_T;
    case ScalarType::Long: return MPI_INT64_T;
    case ScalarType::Float: return MPI_FLOAT;
    case ScalarType::Double: return MPI_DOUBLE;
    case ScalarType::Half:
    case ScalarType::BFloat16: return MPI_UINT16_T;
    default: return MPI_UINT8_T;
  }
}

MPI_Op op_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::PRODUCT: return MPI_PROD;
    case ReduceOp::MIN: return MPI_MIN;
    case ReduceOp::MAX: return MPI_MAX;
    case ReduceOp::BAND: return MPI_BAND;
    case ReduceOp::BOR: return MPI_BOR;
    case ReduceOp::BXOR: return MPI_BXOR;
    default: return MPI_SUM;
  }
}

int count_of(int64_t count, const char* what) {
  SY_CHECK(count >= 0 && count <= INT_MAX, Error,
           "[mpi] {}: expected at most {} elements in one transfer, got {}",
           what, INT_MAX, count);
  return static_cast<int>(count);
}

// in_counts, where they begin, out_counts, where they begin.
std::vector<int> numbers_of(const Transfer& t, int size, const char* what) {
  const auto n = static_cast<size_t>(size);
  std::vector<int> numbers(4 * n);
  int64_t in = 0, out = 0;
  for (size_t r = 0; r < n; ++r) {
    numbers[r] = count_of(t.in_counts[r], what);
    numbers[n + r] = count_of(in, what);
    numbers[2 * n + r] = count_of(t.out_counts[r], what);
    numbers[3 * n + r] = count_of(out, what);
    in += t.in_counts[r];
    out += t.out_counts[r];
  }
  return numbers;
}

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm comm) : comm_(comm) {
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
}

bool MpiCommunicator::supports(Collective what, ScalarType dtype,
                               ReduceOp op) const noexcept {
  if (what != Collective::kAllReduce && what != Collective::kReduce &&
      what != Collective::kReduceScatter) {
    return true;
  }
  if (dtype == ScalarType::Bool || is_reduced_floating_type(dtype)) {
    return false;
  }
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::PRODUCT: return true;
    case ReduceOp::AVG: return false;
    default: return !is_floating_type(dtype);
  }
}

void* MpiCommunicator::begin(const Transfer& t) {
  const char* const what = text_of(t.what);
  const MPI_Datatype type = type_of(t.dtype);
  const int count = count_of(t.count, what);
  const bool at_root = rank_ == t.peer;
  const void* const in = t.in == t.out ? MPI_IN_PLACE : t.in;
  auto made = std::make_unique<Request>();
  made->what = what;
  made->dtype = t.dtype;
  MPI_Request* const r = &made->request;
  int code = MPI_SUCCESS;
  switch (t.what) {
    case Collective::kAllReduce:
      code = MPI_Iallreduce(in, t.out, count, type, op_of(t.op), comm_, r);
      break;
    case Collective::kBroadcast:
      if (at_root && t.in != nullptr && t.in != t.out && count > 0) {
        std::memcpy(t.out, t.in,
                    static_cast<size_t>(count) * element_size(t.dtype));
      }
      code = MPI_Ibcast(t.out, count, type, t.peer, comm_, r);
      break;
    case Collective::kReduce:
      code = MPI_Ireduce(at_root ? in : t.in, t.out, count, type, op_of(t.op),
                         t.peer, comm_, r);
      break;
    case Collective::kAllGather:
      code = MPI_Iallgather(in, count, type, t.out, count, type, comm_, r);
      break;
    case Collective::kReduceScatter:
      code = MPI_Ireduce_scatter_block(in, t.out, count, type, op_of(t.op),
                                       comm_, r);
      break;
    case Collective::kAllToAll: {
      made->numbers = numbers_of(t, size_, what);
      const int* const n = made->numbers.data();
      code = MPI_Ialltoallv(in, n, n + size_, type, t.out, n + 2 * size_,
                            n + 3 * size_, type, comm_, r);
      break;
    }
    case Collective::kGather:
      code = MPI_Igather(at_root ? in : t.in, count, type, t.out, count, type,
                         t.peer, comm_, r);
      break;
    case Collective::kScatter:
      code = MPI_Iscatter(t.in, count, type,
                          at_root && t.in == t.out ? MPI_IN_PLACE : t.out,
                          count, type, t.peer, comm_, r);
      break;
    case Collective::kSend:
      code = MPI_Isend(t.in, count, type, t.peer, t.tag, comm_, r);
      break;
    case Collective::kRecv:
      made->receives = true;
      code = MPI_Irecv(t.out, count, type, t.peer, t.tag, comm_, r);
      break;
    case Collective::kBarrier: code = MPI_Ibarrier(comm_, r); break;
  }
  check(code, what);
  return made.release();
}

bool MpiCommunicator::test(void* request, size_t* received) {
  Request& r = *static_cast<Request*>(request);
  int done = 0;
  MPI_Status status;
  check(MPI_Test(&r.request, &done, &status), r.what);
  if (done == 0) return false;
  const std::unique_ptr<Request> ended(&r);
  if (r.receives && received != nullptr) {
    int n = 0;
    check(MPI_Get_count(&status, type_of(r.dtype), &n), r.what);
    SY_CHECK(n != MPI_UNDEFINED, Error,
             "[mpi] {}: expected whole elements of {}, got a part of one",
             r.what, dtype_name(r.dtype));
    *received = static_cast<size_t>(n) * element_size(r.dtype);
  }
  return true;
}

void MpiCommunicator::abandon(void* request) noexcept {
  auto* const r = static_cast<Request*>(request);
  // MPI may still use what it does not call done.
  if (r->request == MPI_REQUEST_NULL) delete r;
}

Communicator* MpiCommunicator::split(const int* ranks, int n, int tag) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_group(comm_, &all), "MPI_Comm_group");
  int code = MPI_Group_incl(all, n, ranks, &some);
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_create_group(comm_, some, tag, &comm);
    MPI_Group_free(&some);
  }
  MPI_Group_free(&all);
  check(code, "split");
  SY_CHECK(comm != MPI_COMM_NULL, Value,
           "[mpi] split: expected rank {} among the ranks", rank_);
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "split");
  return new MpiCommunicator(comm);
}

}  // namespace sy::distributed::mpi
