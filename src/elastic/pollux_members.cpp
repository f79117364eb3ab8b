// SPDX-License-Identifier: Apache-2.0
#include "elastic/pollux_members.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/check.hpp"

namespace schedmate::elastic {
namespace {

// Rows are padded to whole blocks, so that loops over one have a length that compilers know.
constexpr std::size_t row_block = 16;
using MemberRow = std::span<std::uint8_t>;

/// Of 2^32 random numbers so many are below.
constexpr std::uint64_t odds_of(double chance) {
  return static_cast<std::uint64_t>(chance * 0x1.0p32);
}
/// Of a row that it goes back, that it loses GPUs, and of each node of that one.
constexpr std::uint64_t mutation_odds = odds_of(0.1);
constexpr double speedup_floor = 1e-3;  // as fast counts a job without GPUs
constexpr std::int32_t most_nodes_of_a_job = 16;

std::uint64_t eight_of(std::span<const std::uint8_t> row, std::size_t start) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, row.data() + start, sizeof eight);
  return eight;
}

/// Eight nodes at a time; none has more than 127 GPUs.
RowSize size_of(std::span<const std::uint8_t> row) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t low_bytes = 0x00ff00ff00ff00ff;
  constexpr std::uint64_t pairs = 0x0001000100010001;
  RowSize size;
  for (std::size_t start = 0; start < row.size(); start += sizeof(std::uint64_t)) {
    const std::uint64_t gpus = eight_of(row, start);
    const std::uint64_t in_pairs = (gpus & low_bytes) + ((gpus >> 8U) & low_bytes);
    size.gpus += static_cast<std::int32_t>((in_pairs * pairs) >> 48U);
    const std::uint64_t used = ((gpus + 0x7f * ones) >> 7U) & ones;
    size.nodes += static_cast<std::int32_t>((used * ones) >> 56U);
  }
  return size;
}

/// Blocks are copied out and back, so that compilers see that they do not overlap.
using RowBlock = std::array<std::uint8_t, row_block>;
RowBlock block_of(std::span<const std::uint8_t> row, std::size_t start) {
  RowBlock block{};
  std::memcpy(block.data(), row.data() + start, row_block);
  return block;
}
void put_block(MemberRow row, std::size_t start, const RowBlock& block) {
  std::memcpy(row.data() + start, block.data(), row_block);
}
bool is_zero(const RowBlock& block) { return (eight_of(block, 0) | eight_of(block, 8)) == 0; }

void add_row(MemberRow sum, std::span<const std::uint8_t> row) {
  for (std::size_t start = 0; start < row.size(); start += row_block) {
    RowBlock block = block_of(sum, start);
    const RowBlock more = block_of(row, start);
    for (std::size_t i = 0; i < row_block; ++i)
      block[i] = static_cast<std::uint8_t>(block[i] + more[i]);
    put_block(sum, start, block);
  }
}

/// Takes from `left` what is there of the row; true when it was not all there.
bool take_row(MemberRow left, MemberRow row) {
  bool lacks = false;
  for (std::size_t start = 0; start < row.size(); start += row_block) {
    RowBlock wanted = block_of(row, start);
    RowBlock there = block_of(left, start);
    RowBlock lacking{};
    for (std::size_t i = 0; i < row_block; ++i) {
      const std::uint8_t taken = std::min(wanted[i], there[i]);
      lacking[i] = static_cast<std::uint8_t>(wanted[i] - taken);
      there[i] = static_cast<std::uint8_t>(there[i] - taken);
      wanted[i] = taken;
    }
    put_block(row, start, wanted);
    put_block(left, start, there);
    lacks = lacks || !is_zero(lacking);
  }
  return lacks;
}

std::uint64_t hash_of(std::size_t job, std::span<const std::uint8_t> row) {
  std::uint64_t hash = job;
  for (std::size_t start = 0; start < row.size(); start += sizeof(std::uint64_t))
    hash = mix(hash ^ eight_of(row, start));
  return hash;
}

/// Whether it happens, by the lower 32 of random bits.
bool happens(std::uint64_t bits, std::uint64_t odds) { return (bits & 0xffffffffU) < odds; }

}  // namespace

RowValues::RowValues(const PopulationProblem& problem, double power)
    : problem_(problem), power_(power) {
  const std::size_t nodes = problem.capacity.size();
  std::size_t size = 0;
  for (const PopulationJob& job : problem.jobs) {
    const std::int32_t held = std::accumulate(job.held.begin(), job.held.end(), std::int32_t{0});
    strides_.push_back(static_cast<std::size_t>(std::max({job.most, held, 1})) + 1);
    offsets_.push_back(size);
    size += strides_.back() * (nodes + 1);
  }
  known_.resize(size);
}

RowValue RowValues::of(std::size_t job, RowSize size, bool moved) {
  Known& known = known_[offsets_[job] + static_cast<std::size_t>(size.nodes) * strides_[job] +
                        static_cast<std::size_t>(size.gpus)];
  if (known.speedup < 0) {
    known.speedup = size.gpus > 0 ? problem_.speedup(job, size.nodes, size.gpus) : 0;
    known.terms = {term(known.speedup), term(known.speedup * problem_.jobs[job].moved)};
  }
  return {known.terms[moved ? 1 : 0], known.speedup, 0};
}

double RowValues::mean(double sum) const {
  const double part = sum / static_cast<double>(problem_.jobs.size());
  if (power_ == -1) return 1 / part;
  return power_ == 0 ? std::exp(part) : std::pow(part, 1 / power_);
}

double RowValues::term(double speedup) const {
  const double scaled = speedup * problem_.scale;
  return power_ == 0 ? std::log(std::max(scaled, speedup_floor))
                     : std::pow(scaled + speedup_floor, power_);
}

PolluxMembers::PolluxMembers(const PopulationProblem& problem, double power, std::size_t slots)
    : problem_(problem),
      values_(problem, power),
      jobs_(problem.jobs.size()),
      stride_((problem.capacity.size() + row_block - 1) / row_block * row_block),
      genes_(slots * jobs_ * stride_),
      row_values_(slots * jobs_),
      objectives_(slots),
      hashes_(slots),
      capacity_(padded(problem.capacity)),
      used_(stride_),
      left_(stride_),
      taken_(stride_),
      changed_(jobs_),
      order_(problem.capacity.size()) {
  for (const PopulationJob& job : problem.jobs) {
    const auto held = padded(job.held);
    held_.insert(held_.end(), held.begin(), held.end());
    const auto room = padded(job.room);
    room_.insert(room_.end(), room.begin(), room.end());
    SCHEDMATE_CHECK(!job.pinned || pinned_ == static_cast<std::size_t>(&job - &problem.jobs[0]),
                    "pinned jobs come first");
    if (job.pinned) ++pinned_;
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

std::vector<std::uint8_t> PolluxMembers::padded(const NodeGpus& row) const {
  SCHEDMATE_CHECK(row.size() == problem_.capacity.size(), "a row has an entry for each node");
  std::vector<std::uint8_t> wide(row);
  wide.resize(stride_);
  return wide;
}

void PolluxMembers::make_whole(std::size_t slot, Random& random) {
  for (std::size_t job = 0; job < pinned_; ++job)
    std::ranges::copy(held(job), row(slot, job).begin());
  std::ranges::fill(changed_, std::uint8_t{1});
  repair(slot, random);
  evaluate(slot);
}

void PolluxMembers::breed(std::size_t child, const Crossing& crossing, Random& random) {
  std::ranges::fill(used_, std::uint8_t{0});
  for (std::size_t job = 0; job < jobs_; ++job) {
    const std::size_t parent = job < crossing.point ? crossing.first : crossing.second;
    const MemberRow mine = row(child, job);
    std::memcpy(mine.data(), row(parent, job).data(), stride_);
    row_values_[child * jobs_ + job] = row_values_[parent * jobs_ + job];
    changed_[job] = 0;
    if (job >= pinned_) mutate(mine, job, random);
    add_row(used_, mine);
  }
  grow(child, random);
  repair(child, random);
  evaluate(child);
}

/// Back to what the job holds, or some of its GPUs away.
void PolluxMembers::mutate(MemberRow mine, std::size_t job, Random& random) {
  const std::uint64_t bits = random.next();
  if (happens(bits, mutation_odds)) {
    std::memcpy(mine.data(), held(job).data(), stride_);
    changed_[job] = 1;
  }
  if (!happens(bits >> 32U, mutation_odds)) return;
  for (std::uint8_t& gpus : mine) {
    if (gpus == 0 || !happens(random.next(), mutation_odds)) continue;
    gpus = 0;
    changed_[job] = 1;
  }
}

/// On nodes with free GPUs about one of all jobs, and one of those that are there, gets more.
void PolluxMembers::grow(std::size_t slot, Random& random) {
  std::uint8_t* const first = row(slot, 0).data();
  for (std::size_t node = 0; node < problem_.capacity.size(); ++node) {
    if (used_[node] >= capacity_[node]) continue;
    std::size_t there = 0;
    for (std::size_t job = 0; job < jobs_; ++job)
      there += first[job * stride_ + node] != 0 ? 1U : 0U;
    const double of_all = 1.0 / static_cast<double>(jobs_);
    const double of_these = 1.0 / static_cast<double>(std::max<std::size_t>(there, 1));
    const std::uint64_t odds_of_new = odds_of(of_all);
    const std::uint64_t odds_of_more = odds_of(of_all + of_these - of_all * of_these);
    for (std::size_t job = pinned_; job < jobs_; ++job) {
      std::uint8_t& gpus = first[job * stride_ + node];
      if (!happens(random.next(), gpus == 0 ? odds_of_new : odds_of_more)) continue;
      const std::uint8_t room = std::max(gpus, room_[job * stride_ + node]);
      gpus = static_cast<std::uint8_t>(random.between(gpus, room));
      changed_[job] = 1;
    }
  }
}

/// Job by job: one spread job on a node, not too many GPUs, no more than a node has.
void PolluxMembers::repair(std::size_t slot, Random& random) {
  std::ranges::copy(capacity_, left_.begin());
  std::ranges::fill(taken_, std::uint8_t{0});
  for (std::size_t job = 0; job < jobs_; ++job) {
    const MemberRow mine = row(slot, job);
    RowSize size = size_of(mine);
    if (size.gpus == 0) continue;
    if (size.nodes > 1 && part_ways(mine)) {
      changed_[job] = 1;
      size = size_of(mine);
    }
    const PopulationJob& limits = problem_.jobs[job];
    if (!limits.pinned && (size.gpus > limits.most || size.nodes > most_nodes_of_a_job)) {
      trim(mine, limits.most, random);
      changed_[job] = 1;
    }
    if (take_row(left_, mine)) changed_[job] = 1;
    if (limits.pinned || limits.least == 0 || size_of(mine).gpus >= limits.least) continue;
    add_row(left_, mine);
    std::ranges::fill(mine, std::uint8_t{0});
    changed_[job] = 1;
  }
}

/// Off the nodes where an earlier job is that is spread too; true when there was one.
bool PolluxMembers::part_ways(MemberRow mine) {
  bool gone = false;
  for (std::size_t start = 0; start < mine.size(); start += row_block) {
    RowBlock row = block_of(mine, start);
    RowBlock taken = block_of(taken_, start);  // 0 or 255
    RowBlock lost{};
    for (std::size_t i = 0; i < row_block; ++i) {
      lost[i] = row[i] & taken[i];
      taken[i] |= row[i] != 0 ? std::uint8_t{255} : std::uint8_t{0};
      row[i] = static_cast<std::uint8_t>(row[i] ^ lost[i]);
    }
    put_block(mine, start, row);
    put_block(taken_, start, taken);
    gone = gone || !is_zero(lost);
  }
  return gone;
}

/// Keeps what comes first in a random order of the nodes.
void PolluxMembers::trim(MemberRow mine, std::int32_t most, Random& random) {
  RowSize kept;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto rest = static_cast<std::int64_t>(order_.size() - i);
    std::swap(order_[i], order_[i + static_cast<std::size_t>(random.below(rest))]);
    std::uint8_t& here = mine[order_[i]];
    const std::int32_t more = kept.nodes < most_nodes_of_a_job ? most - kept.gpus : 0;
    here = static_cast<std::uint8_t>(std::min<std::int32_t>(here, more));
    kept.gpus += here;
    kept.nodes += here > 0 ? 1 : 0;
  }
}

void PolluxMembers::evaluate(std::size_t slot) {
  double terms = 0;
  double speedups = 0;
  std::uint64_t hash = 0;
  for (std::size_t job = 0; job < jobs_; ++job) {
    RowValue& value = row_values_[slot * jobs_ + job];
    if (changed_[job] != 0) {
      const MemberRow mine = row(slot, job);
      const bool moved = std::memcmp(mine.data(), held(job).data(), stride_) != 0;
      value = values_.of(job, size_of(mine), moved);
      value.hash = hash_of(job, mine);
    }
    terms += value.term;
    speedups += value.speedup;
    hash += value.hash;
  }
  std::int32_t gpus = 0;  // of the nodes in use
  for (std::size_t node = 0; node < stride_; ++node)
    gpus += left_[node] < capacity_[node] ? capacity_[node] : 0;
  objectives_[slot] = {-values_.mean(terms), gpus > 0 ? -speedups / gpus : 0};
  hashes_[slot] = hash;
}

}  // namespace schedmate::elastic
