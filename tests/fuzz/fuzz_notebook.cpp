// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "tree/encoding.hpp"
#include "tree/notebook.hpp"

namespace schedmate::fuzz {

/// Bytes to text to code, as a notebook is read.
void fuzz_notebook(std::string_view input) {
  const auto text = tree::as_utf8(std::string(input));
  if (!text) return;
  SCHEDMATE_CHECK(tree::is_utf8(*text), "text is UTF-8");
  SCHEDMATE_CHECK(tree::is_utf8(tree::cut_utf8(*text, input.size() / 2)),
                  "a cut leaves whole letters");
  const auto code = tree::notebook_code(*text);
  SCHEDMATE_CHECK(!code || tree::is_utf8(*code), "code is UTF-8");
}

}  // namespace schedmate::fuzz
