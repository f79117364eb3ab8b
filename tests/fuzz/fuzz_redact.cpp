// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.hpp"
#include "secrets/redact.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {

void fuzz_redact(std::string_view input) {
  const std::string out = secrets::redact(input);
  SCHEDMATE_CHECK(std::ranges::count(out, '\n') == std::ranges::count(input, '\n'),
                  "line numbers stay");
  SCHEDMATE_CHECK(out.find(secrets::redaction_mark) != std::string::npos || out == input,
                  "without a secret a text stays as it is");
  SCHEDMATE_CHECK(secrets::redact(out) == out, "what is redacted stays as it is");
  secrets::KnownSecrets known;
  known.learn(input);
  const std::string part = known.redact(input.substr(0, input.size() / 2));
  SCHEDMATE_CHECK(
      std::ranges::count(part, '\n') == std::ranges::count(input.substr(0, input.size() / 2), '\n'),
      "line numbers of a part stay");
  const std::string stripped = secrets::strip_paths(input);
  SCHEDMATE_CHECK(stripped.size() <= input.size(), "paths get shorter");
  SCHEDMATE_CHECK(std::ranges::count(stripped, '\n') == std::ranges::count(input, '\n'),
                  "no path goes over a line end");

  constexpr std::string_view planted = "zq4planted7zq";
  if (input.find(planted) != std::string_view::npos) return;
  std::string text(input.substr(0, input.size() / 2));
  text.append("\npassword: '").append(planted).append("'\n").append(input.substr(input.size() / 2));
  SCHEDMATE_CHECK(secrets::redact(text).find(planted) == std::string::npos,
                  "nothing around a secret can hide it");
}

}  // namespace schedmate::fuzz
