// SPDX-License-Identifier: Apache-2.0

/// What a scheduler in C++ does with SchedMate: it asks what the job in argv[1] is.

#include <cstdio>
#include <schedmate/library.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto library = schedmate::Library::open();
  if (!library) return 3;
  const schedmate::Library moved = *std::move(library);
  const std::string request =
      std::string(R"({"dir": ")") + argv[1] + R"(", "command": "python train.py --epochs 20"})";
  const auto facts = moved.facts(request);
  if (!facts) {
    std::fputs(facts.error().message.c_str(), stderr);
    return 4;
  }
  std::puts(facts->c_str());
  const auto wrong = moved.facts(R"({"dir": "."})");
  const bool is_error = !wrong && wrong.error().code == schedmate::ErrorCode::unsupported &&
                        wrong.error().message.find("\"command\" is missing") != std::string::npos;
  return is_error ? 0 : 5;
}
