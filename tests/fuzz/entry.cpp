// SPDX-License-Identifier: Apache-2.0
/// The entry of libFuzzer; FUZZ_TARGET is the function of one program.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  schedmate::fuzz::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
