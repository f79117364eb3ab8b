// SPDX-License-Identifier: Apache-2.0
/// schedmate-reader: reads logs and trees for users, each with the user's rights.
#include "apps/console.hpp"
#include "reader/answers/program.hpp"

int main(int count, char** words, char** environment) {
  schedmate::Console console;
  const int status = schedmate::reader::run_program(
      {words + 1, words + count}, environment, [&](const std::string& text) { console.text(text); },
      [&](const std::string& text) { console.draw(text); });
  return console.finish(status);
}
