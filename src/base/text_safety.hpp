// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of jobs, users, VCs and labels are foreign text: any bytes, possibly hostile. Each
/// function makes them safe for one place.

#include <string>
#include <string_view>

namespace schedmate {

/// Valid UTF-8: each byte that is none becomes "\xNN", so different names stay different.
[[nodiscard]] std::string clean_utf8(std::string_view text);

/// For HTML text and quoted attributes; control characters become U+FFFD.
[[nodiscard]] std::string html_escape(std::string_view text);

/// JSON that may stand inside <script>: no "<", ">" or "&" is left.
[[nodiscard]] std::string script_safe(std::string_view json);

/// A CSV cell (RFC 4180), quoted only when it must be. Text that a spreadsheet would take for a
/// formula (it begins with = + - @, tab or CR and is no number) gets an apostrophe in front, which
/// spreadsheets do not show.
[[nodiscard]] std::string csv_cell(std::string_view text);
/// Whether it stands in its cell as it is.
[[nodiscard]] bool is_plain_cell(std::string_view text);

}  // namespace schedmate
