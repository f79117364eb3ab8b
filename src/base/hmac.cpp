// SPDX-License-Identifier: Apache-2.0
#include "base/hmac.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <span>

#include "base/check.hpp"

namespace schedmate {
namespace {

std::string as_hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const unsigned byte : bytes) {
    hex += digits[byte >> 4U];
    hex += digits[byte & 15U];
  }
  return hex;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  // OpenSSL takes bytes as unsigned char.
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes,
                          message.size(), digest.data(), &size);
  SCHEDMATE_CHECK(done != nullptr && size == digest.size(), "HMAC-SHA256 is always there");
  return as_hex(digest);
}

std::string random_key() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
  return as_hex(bytes);
}

}  // namespace schedmate
