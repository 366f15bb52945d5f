#include "frontend/distributed/engine.h"
#include "c10/process/environment.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>

#include "c10/device/device.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"
#include "frontend/distributed/mpi/api.h"
#include "frontend/distributed/mpi/communicator.h"
#include "frontend/distributed/mpi/errors.h"

namespace sy::distributed::mpi {

namespace {

const char* text_of_level(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    default: return "MPI_THREAD_MULTIPLE";
  }
}

bool number_of(const char* variable, int* number) {
  const char* const text = environment(variable);
  if (text == nullptr) return false;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, *number);
  return error == std::errc() && stop == end && *number >= 0;
}

// The variables that launchers of MPI set: mpirun of Open MPI, of MPICH and
// Intel, srun with PMIx.
constexpr struct {
  const char *rank, *size;
} kVariables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                  {"PMI_RANK", "PMI_SIZE"},
                  {"PMIX_RANK", "SLURM_NTASKS"}};

// Open MPI copies messages of up to this size through shared memory at once, in
// place of its 4 KB, if neither the user nor mpirun says otherwise: 64 KB with
// its header. Halves the time of large reductions in messages of that size on
// one machine. The first name is that of 4.x, the second that of 5.x.
void raise_eager_limit() {
  constexpr const char* kLimit = "65600";
  setenv("OMPI_MCA_btl_vader_eager_limit", kLimit, 0);
  setenv("OMPI_MCA_btl_sm_eager_limit", kLimit, 0);
}

// "Open MPI v4.1.4, package: …" becomes "Open MPI 4.1.4".
std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  std::string version(text, static_cast<size_t>(length));
  version.resize(std::min(version.size(), version.find_first_of(",\n")));
  const size_t v = version.find(" v");
  if (v != std::string::npos) version.erase(v + 1, 1);
  return version;
}

class MpiEngine final : public Engine {
 public:
  const char* name() const noexcept override { return "mpi"; }

  const char* version() const noexcept override {
    try {
      static const std::string& text = *new std::string(library_version());
      return text.c_str();
    } catch (...) {
      return "MPI";
    }
  }

  int device_type() const noexcept override { return static_cast<int>(kCPU); }

  bool launched(int* rank, int* size) noexcept override {
    for (const auto& v : kVariables) {
      int r = 0, n = 0;
      if (!number_of(v.rank, &r) || !number_of(v.size, &n) || r >= n) continue;
      *rank = r;
      *size = n;
      return true;
    }
    return false;
  }

  Communicator* connect(int rank, int size) override {
    initialize();
    MPI_Comm comm = MPI_COMM_NULL;
    // A communicator of our own: the program may use MPI, too.
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "connect");
    check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "connect");
    auto made = std::make_unique<MpiCommunicator>(comm);
    SY_CHECK(made->rank() == rank && made->size() == size, Error,
             "[mpi] connect: expected rank {} of {}, MPI says that this is "
             "rank {} of {}",
             rank, size, made->rank(), made->size());
    return made.release();
  }

  void shutdown(bool clean) noexcept override {
    int finalized = 0;
    if (!clean || !ours_) return;
    if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
    ours_ = false;
    MPI_Finalize();
  }

 private:
  void initialize() {
    int initialized = 0, finalized = 0, level = MPI_THREAD_SINGLE;
    check(MPI_Initialized(&initialized), "MPI_Initialized");
    check(MPI_Finalized(&finalized), "MPI_Finalized");
    SY_CHECK(finalized == 0, Error,
             "[mpi] connect: MPI_Finalize was called in this process; MPI "
             "cannot begin again");
    if (initialized == 0) {
      raise_eager_limit();
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level),
            "MPI_Init_thread");
      ours_ = true;
      check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
            "connect");
      check(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN),
            "connect");
    } else {
      check(MPI_Query_thread(&level), "MPI_Query_thread");
    }
    SY_CHECK(level >= MPI_THREAD_SERIALIZED, Error,
             "[mpi] connect: expected MPI with MPI_THREAD_SERIALIZED or more, "
             "got {}{}",
             text_of_level(level),
             ours_ ? ""
                   : ": ask MPI_Init_thread for MPI_THREAD_MULTIPLE, or leave "
                     "the beginning of MPI to this library");
  }

  bool ours_ = false;  // whether this engine began MPI, and so ends it
};

}  // namespace

}  // namespace sy::distributed::mpi

SY_LIBRARY_FRAGMENT(sy_dist, m) {
  // Leaked: threads may use it until the process ends.
  static auto& engine = *new sy::distributed::mpi::MpiEngine;
  sy::distributed::register_engine(engine);
}
