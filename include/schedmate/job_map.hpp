// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The jobs of a virtual cluster by number, and what is kept of each. A live cluster runs for
/// months: ids only rise and jobs end, so a vector by id would grow for ever and a hash table would
/// cost more than it holds. Here entries live in pages of consecutive ids that are freed once all
/// their jobs are gone: memory follows the jobs that are there, however many there were (beside 56
/// bytes for 256 ids since the oldest that is still there), and a look-up is two loads.

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace schedmate {

/// A job of one VC: its number there, in order of entry. A number is never used again; a job that
/// comes back (after a failure, or from the profiler) has a new one.
enum class JobId : std::uint32_t {};
/// For arrays with one place for each job that ever entered.
[[nodiscard]] constexpr std::uint32_t index_of(JobId id) { return static_cast<std::uint32_t>(id); }

/// Ends the program: nobody may ask about a job that is not there.
[[noreturn]] void fail_absent_job(JobId id);

/// One entry for each job that is put in, until it is erased. Up to then it stays where it is, so
/// that a pointer to it holds. `Value` has a default and can be copied; an erased entry gives back
/// what it held at once. Copying copies all entries. Not thread-safe.
template <class Value>
class JobMap {
 public:
  /// The entry of a job, made with a default value if it has none. Entries of others stay where
  /// they are.
  Value& operator[](JobId id) {
    Page& page = page_for(index_of(id));
    page.present[word(id)] |= bit(id);
    return page.values[slot(id)];
  }
  /// The entry of a job that has one; asking for another ends the program.
  [[nodiscard]] const Value& at(JobId id) const {
    const Value* const found = find(id);
    if (found == nullptr) fail_absent_job(id);
    return *found;
  }
  [[nodiscard]] Value& at(JobId id) { return const_cast<Value&>(std::as_const(*this).at(id)); }
  /// Null when it has none: it never entered here, or was erased.
  [[nodiscard]] const Value* find(JobId id) const {
    const std::uint32_t number = index_of(id) / page_size - first_;
    if (number >= pages_.size()) return nullptr;  // a page before first_ wraps to far above
    const Page& page = pages_[number];
    return (page.present[word(id)] & bit(id)) != 0 ? &page.values[slot(id)] : nullptr;
  }
  /// What it points to is gone once the entry is erased.
  [[nodiscard]] Value* find(JobId id) { return const_cast<Value*>(std::as_const(*this).find(id)); }
  [[nodiscard]] bool contains(JobId id) const { return find(id) != nullptr; }

  /// Nothing happens when it has no entry. Frees the page when this was its last one, and forgets
  /// the pages before the oldest entry once they are half of all.
  void erase(JobId id) {
    Value* const found = find(id);
    if (found == nullptr) return;
    *found = Value();
    Page& page = pages_[index_of(id) / page_size - first_];
    page.present[word(id)] &= ~bit(id);
    if (page.present == Present{}) free(page);
  }

  /// All entries are of ids from begin() up to, but without, end(), which is one above the highest
  /// id that was ever put in. Ids between them may have no entry. Both are 0
  /// until the first is.
  [[nodiscard]] JobId begin() const { return JobId{first_ * page_size}; }
  [[nodiscard]] JobId end() const { return JobId{end_}; }
  /// `action(id, value)` for each entry, by id; it must neither add nor erase any.
  template <class Action>
  void for_each(const Action& action) const {
    for (std::uint32_t number = 0; number < pages_.size(); ++number)
      for (std::uint32_t each = 0; each < words; ++each)
        for (auto rest = pages_[number].present[each]; rest != 0; rest &= rest - 1) {
          const std::uint32_t at = each * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
          action(JobId{(first_ + number) * page_size + at}, pages_[number].values[at]);
        }
  }
  /// Entries for which there is memory now: a multiple of the page.
  [[nodiscard]] std::size_t capacity() const {
    std::size_t count = spare_.size();
    for (const Page& page : pages_) count += page.values.size();
    return count;
  }

 private:
  static constexpr std::uint32_t page_size = 256;
  static constexpr std::uint32_t words = page_size / 64;
  using Present = std::array<std::uint64_t, words>;
  struct Page {
    Present present{};
    std::vector<Value> values;  // empty, or page_size of them; those without an entry are default
  };
  static std::uint32_t slot(JobId id) { return index_of(id) % page_size; }
  static std::uint32_t word(JobId id) { return slot(id) / 64; }
  static std::uint64_t bit(JobId id) { return std::uint64_t{1} << (index_of(id) % 64); }

  /// The page that holds an id, with memory. Almost always the last one or one before it.
  Page& page_for(std::uint32_t index) {
    const std::uint32_t number = index / page_size;
    if (index >= end_) end_ = index + 1;
    if (pages_.empty()) first_ = number;
    if (number < first_) {
      pages_.insert(pages_.begin(), first_ - number, Page());
      first_ = number;
    }
    if (number - first_ >= pages_.size()) pages_.resize(number - first_ + 1);
    Page& page = pages_[number - first_];
    if (page.values.empty()) {
      page.values = std::exchange(spare_, {});
      page.values.resize(page_size);
    }
    return page;
  }

  /// A lone job that comes and goes takes the spare page each time; leading pages without memory
  /// are dropped when they are half of all, so each costs the same in the end.
  void free(Page& page) {
    spare_ = std::move(page.values);
    page.values = {};
    std::uint32_t leading = 0;
    while (leading < pages_.size() && pages_[leading].values.empty()) ++leading;
    if (leading * 2 < pages_.size()) return;
    pages_.erase(pages_.begin(), pages_.begin() + leading);
    first_ += leading;
  }

  std::uint32_t first_ = 0;  // number of pages_[0]
  std::uint32_t end_ = 0;
  std::vector<Page> pages_;
  std::vector<Value> spare_;
};

}  // namespace schedmate
