#include "frontend/distributed/nccl/engine.h"

#include <charconv>
#include <cstring>
#include <memory>

#include "c10/device/device.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::distributed::nccl {

namespace {

bool number_of(const char* variable, int* number) {
  const char* const text = environment(variable);
  if (text == nullptr) return false;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, *number);
  return error == std::errc() && stop == end && *number >= 0;
}

}  // namespace

// 21805 is 2.18.5.
const char* NcclEngine::version() const noexcept {
  try {
    int v = 0;
    if (version_.empty() && api().get_version(&v) == kSuccess) {
      version_ = str("NCCL {}.{}.{}", v / 10000, v / 100 % 100, v % 100);
    }
  } catch (const std::exception&) {
    return "NCCL, which is not there";
  }
  return version_.c_str();
}

int NcclEngine::device_type() const noexcept { return static_cast<int>(kCUDA); }

bool NcclEngine::launched(int* rank, int* size) noexcept {
  int r = 0, n = 0;
  const bool by_mpirun = number_of("OMPI_COMM_WORLD_RANK", &r) &&
                         number_of("OMPI_COMM_WORLD_SIZE", &n);
  if (!by_mpirun && (!number_of("RANK", &r) || !number_of("WORLD_SIZE", &n))) {
    return false;
  }
  if (r >= n) return false;
  *rank = r;
  *size = n;
  return true;
}

Communicator* NcclEngine::connect(int rank, int size) {
  SY_CHECK(
      shared_.rendezvous.set != nullptr && shared_.rendezvous.find != nullptr,
      Error, "[nccl] connect: expected set_rendezvous() before it");
  const Api& a = api();
  int devices = 0, local = rank;
  const int code = a.device_count(&devices);
  SY_CHECK(
      code == kSuccess && devices > 0, Error,
      "[nccl] connect: expected a CUDA device on this machine, got none: "
      "{}",
      code == kSuccess ? "the driver lists none" : a.cuda_error_string(code));
  if (!number_of("OMPI_COMM_WORLD_LOCAL_RANK", &local)) {
    number_of("LOCAL_RANK", &local);
  }
  shared_.api = &a;
  shared_.device = local % devices;
  // Joins the others with its first transfer, if there is one: each of NCCL's
  // communicators takes memory of the device.
  return new NcclCommunicator(shared_, "nccl", rank, size);
}

// Communicators end by themselves when they are deleted; those that were
// abandoned stay, and nobody asks for them again.
void NcclEngine::shutdown(bool) noexcept {
  shared_.all.clear();
  shared_.rendezvous = {};
}

int NcclEngine::device_index() const noexcept { return shared_.device; }

void NcclEngine::set_rendezvous(const Rendezvous& r) { shared_.rendezvous = r; }

}  // namespace sy::distributed::nccl
