#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The secret of a job, which lets its processes into its store.

namespace sy::distributed {

inline constexpr size_t kProofSize = 32;

// Throws Error if the system has none.
std::string random_bytes(size_t n);
// A new secret: text of 64 characters.
std::string new_secret();

// Says that `who` knows the secret, for the challenge that both sides have made
// together: HMAC-SHA-256 of libcrypto, which is loaded on first use. Throws
// Error if there is none.
std::string proof_of(std::string_view secret, std::string_view who,
                     std::string_view challenge);

// The secret in the file that SWITCHYARD_STORE_SECRET_FILE names; "" if it is
// not set. Throws Error for a file that is not the user's own, or that others
// may read or write.
std::string job_secret();

}  // namespace sy::distributed
