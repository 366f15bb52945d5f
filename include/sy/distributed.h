#pragma once

// Programs of several processes: groups, collectives, training together.
// docs/distributed.md begins with a program; `sy launch -n 2 PROGRAM` runs it.

#include "frontend/distributed/checkpoint/checkpoint.h"
#include "frontend/distributed/context.h"
#include "frontend/distributed/operators/collectives.h"
#include "frontend/distributed/process_group.h"
#include "frontend/distributed/store/tcp_store.h"
#include "frontend/distributed/training/data_parallel.h"
#include "frontend/distributed/training/device_parallel.h"
#include "frontend/distributed/training/join.h"
#include "frontend/distributed/training/sampler.h"
#include "frontend/distributed/training/sync_batch_norm.h"
