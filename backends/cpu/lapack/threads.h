#pragma once

// LapackApi::enter and LapackApi::leave for OpenBLAS.

namespace sy::cpu {

int enter_lapack(int threads);
void leave_lapack(int entered);

}  // namespace sy::cpu
