// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/check.hpp"

namespace schedmate {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  SCHEDMATE_CHECK(done == 1 && size == digest.size(), "SHA-256 is always there");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned byte : digest) {
    hex += digits[byte >> 4U];
    hex += digits[byte & 15U];
  }
  return hex;
}

}  // namespace schedmate
