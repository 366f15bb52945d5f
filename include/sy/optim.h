#pragma once

// Optimizers and schedulers of learning rates.

#include "frontend/optim/adadelta.h"
#include "frontend/optim/adafactor.h"
#include "frontend/optim/adagrad.h"
#include "frontend/optim/adam.h"
#include "frontend/optim/adamax.h"
#include "frontend/optim/asgd.h"
#include "frontend/optim/lbfgs.h"
#include "frontend/optim/lr_scheduler.h"
#include "frontend/optim/lr_scheduler_combined.h"
#include "frontend/optim/lr_scheduler_cycles.h"
#include "frontend/optim/lr_scheduler_plateau.h"
#include "frontend/optim/muon.h"
#include "frontend/optim/nadam.h"
#include "frontend/optim/radam.h"
#include "frontend/optim/rmsprop.h"
#include "frontend/optim/rprop.h"
#include "frontend/optim/sgd.h"
#include "frontend/optim/swa_utils.h"
