#pragma once

#include <memory>
#include <string>

#include "frontend/distributed/store/store.h"
#include "frontend/distributed/store/tcp_store.h"

// The values that launchers give a process in its environment.

namespace sy::distributed {

// The engine for `asked` ("" for none in particular); "" for a world of one.
// Throws Error where the environment is that of a launcher which the engine
// does not know.
std::string engine_name(const std::string& asked);

// The store at SWITCHYARD_STORE (host:port), whose secret job_secret() has;
// nullptr if that is not set.
std::shared_ptr<Store> launcher_store(Milliseconds timeout);
std::shared_ptr<Store> connect_store(const std::string& where,
                                     Milliseconds timeout,
                                     const std::string& secret);
// The store at MASTER_ADDR and MASTER_PORT, as torchrun sets them, or at the
// next port if its agent listens there. Rank 0 serves it: then `server` is it.
// It has a secret if job_secret() has one.
// Throws Error where the variables are not set.
std::shared_ptr<Store> master_store(int rank, Milliseconds timeout,
                                    std::unique_ptr<TcpStoreServer>* server);

// The name by which the other ranks reach this machine: 127.0.0.1 if all of
// them are on it, else the address from which it reaches the store that the
// environment names, if there is one.
std::string own_address(int world_size);

// This rank and the number of ranks on this machine; 0 and 1 if no launcher
// says so.
int local_rank() noexcept;
int local_size() noexcept;

}  // namespace sy::distributed
