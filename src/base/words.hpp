// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>

namespace schedmate {

/// A length of time for people: "45 s", "2 min 5 s", "43 min", "2 h 13 min", "1.4 d".
[[nodiscard]] std::string in_words(Seconds duration);
/// The same for an estimate or a mean, with two digits below ten seconds: "0.42 s", "12 ms";
/// "unknown" for what is no number.
[[nodiscard]] std::string in_words(FractionalSeconds duration);
/// "1 job", "3 jobs".
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view thing) {
  return std::to_string(count).append(" ").append(thing).append(count == 1 ? "" : "s");
}
/// An amount of memory, in units of 1024: "512 B", "40 GiB", "1.5 TiB".
[[nodiscard]] std::string bytes_in_words(double bytes);
[[nodiscard]] std::string mib_in_words(double mib);
/// Energy: "812 J", from an hour of one watt on "12.3 Wh", "1.23 kWh", "45.6 MWh".
[[nodiscard]] std::string energy_in_words(double joules);

/// What of a name or another foreign text may be printed on a terminal, on one line: a control
/// character, a mark that cannot be seen or turns the direction of writing, and a byte that is no
/// UTF-8 become '?'.
[[nodiscard]] std::string printable(std::string_view text);
/// Whether it holds nothing that printable() would replace.
[[nodiscard]] bool is_printable(std::string_view text);

/// How a part of a text stands out on a terminal.
enum class Style : std::uint8_t { plain, bold, dim, red, green, yellow };
/// The text between two marks that only for_terminal() reads; `plain`: as it is.
[[nodiscard]] std::string styled(Style style, std::string_view text);

/// A whole text as a terminal may get it: as printable(), but line ends and tabs stay, and marks of
/// styled() become its colours (`colours`) or vanish.
[[nodiscard]] std::string for_terminal(std::string_view text, bool colours);

/// Characters, not bytes; marks of styled() take no room.
[[nodiscard]] std::size_t width_of_cell(std::string_view text);

}  // namespace schedmate
