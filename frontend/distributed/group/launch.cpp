#include "frontend/distributed/group/launch.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "frontend/distributed/store/job_secret.h"
#include "frontend/distributed/store/tcp_store_socket.h"

namespace sy::distributed {

namespace {

bool has(const char* name) { return environment(name) != nullptr; }

int number(std::initializer_list<const char*> names, int otherwise) noexcept {
  for (const char* name : names) {
    if (const char* const text = environment(name)) return std::atoi(text);
  }
  return otherwise;
}

// The number that a variable says; -1 if it says none.
long number_in(const char* text) {
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  return end == text || *end != '\0' || n < 0 ? -1 : n;
}

// This machine's address on the way to a host; the host's name if that is this
// machine, for the others know it.
std::string address_towards(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return host;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  // Sends nothing: the system only chooses a way.
  const Socket s(socket(all->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage mine{};
  socklen_t size = sizeof mine;
  char text[NI_MAXHOST] = {};
  auto* const address = reinterpret_cast<sockaddr*>(&mine);
  if (!s || connect(s.fd(), all->ai_addr, all->ai_addrlen) != 0 ||
      getsockname(s.fd(), address, &size) != 0 ||
      getnameinfo(address, size, text, sizeof text, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return host;
  }
  const std::string_view found_text = text;
  const bool loops = found_text.starts_with("127.") || found_text == "::1";
  return loops ? host : text;
}

void check_numbers() {
  const char* const rank = environment("RANK");
  const char* const size = environment("WORLD_SIZE");
  SY_CHECK(number_in(size) > 0, Value,
           "[init] WORLD_SIZE: expected a number of ranks, got '{}'", size);
  SY_CHECK(number_in(rank) >= 0 && number_in(rank) < number_in(size), Value,
           "[init] RANK: expected 0 to {} (WORLD_SIZE is {}), got '{}'",
           number_in(size) - 1, size, rank);
}

}  // namespace

std::string engine_name(const std::string& asked) {
  std::string name = asked;
  if (const char* const text = environment("SWITCHYARD_DISTRIBUTED_ENGINE");
      name.empty() && text != nullptr) {
    name = text;
  }
  const bool mpi = has("OMPI_COMM_WORLD_RANK") || has("PMI_RANK");
  const bool torchrun =
      has("RANK") && has("WORLD_SIZE") && has("MASTER_ADDR") && !mpi;
  SY_CHECK(!torchrun || (!name.empty() && name != "mpi"), Error,
           "[init] the environment is that of torchrun (RANK, WORLD_SIZE, "
           "MASTER_ADDR), which starts no MPI: start the program by `sy launch "
           "-n {} PROGRAM`, or ask for the engine nccl",
           environment("WORLD_SIZE"));
  if (torchrun) check_numbers();
  return name.empty() && mpi ? "mpi" : name;
}

std::shared_ptr<Store> connect_store(const std::string& where,
                                     Milliseconds timeout,
                                     const std::string& secret) {
  const size_t colon = where.rfind(':');
  char* end = nullptr;
  const long port = colon == std::string::npos
                        ? 0
                        : std::strtol(where.c_str() + colon + 1, &end, 10);
  SY_CHECK(port > 0 && port < 65536 && *end == '\0', Value,
           "[init] SWITCHYARD_STORE: expected host:port, got '{}'", where);
  return std::make_shared<TcpStore>(
      where.substr(0, colon), static_cast<uint16_t>(port), timeout, secret);
}

std::shared_ptr<Store> launcher_store(Milliseconds timeout) {
  const char* const where = environment("SWITCHYARD_STORE");
  return where == nullptr ? nullptr
                          : connect_store(where, timeout, job_secret());
}

std::shared_ptr<Store> master_store(int rank, Milliseconds timeout,
                                    std::unique_ptr<TcpStoreServer>* server) {
  const char* const host = environment("MASTER_ADDR");
  const char* const text = environment("MASTER_PORT");
  SY_CHECK(
      host != nullptr && text != nullptr, Error,
      "[init] expected to know where the ranks meet: SWITCHYARD_STORE, "
      "which `sy launch` sets, or MASTER_ADDR and MASTER_PORT, as torchrun "
      "sets them");
  const char* const agent = environment("TORCHELASTIC_USE_AGENT_STORE");
  const bool taken = agent != nullptr && std::string_view(agent) == "True";
  const long number = number_in(text);
  SY_CHECK(number > 0 && number + taken < 65536, Value,
           "[init] MASTER_PORT: expected a port, got '{}'", text);
  const auto port = static_cast<uint16_t>(number + taken);
  const std::string address = host;
  const std::string secret = job_secret();
  if (rank != 0) {
    return std::make_shared<TcpStore>(address, port, timeout, secret);
  }
  const bool here = address == "127.0.0.1" || address == "localhost";
  const bool six = address.find(':') != std::string::npos;
  *server = std::make_unique<TcpStoreServer>(here  ? "127.0.0.1"
                                             : six ? "::"
                                                   : "0.0.0.0",
                                             port, secret);
  return std::make_shared<TcpStore>(six ? "::1" : "127.0.0.1", port, timeout,
                                    secret);
}

std::string own_address(int world_size) {
  if (local_size() >= world_size) return "127.0.0.1";
  std::string store;
  if (const char* const where = environment("SWITCHYARD_STORE")) {
    store = where;
    store.resize(std::min(store.rfind(':'), store.size()));
  } else if (const char* const master = environment("MASTER_ADDR")) {
    store = master;
  }
  if (!store.empty()) return address_towards(store);
  char name[200] = {};
  SY_CHECK(gethostname(name, sizeof(name) - 1) == 0, Error,
           "[init] this machine has no name");
  return name;
}

int local_rank() noexcept {
  return number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "LOCAL_RANK"},
                0);
}

int local_size() noexcept {
  return number(
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "LOCAL_WORLD_SIZE"}, 1);
}

}  // namespace sy::distributed
