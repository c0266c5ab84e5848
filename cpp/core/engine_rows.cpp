#include "engine_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace newron {

namespace {

constexpr std::size_t kBlock = 4096;        // rows whose scores stay in the cache
constexpr std::size_t kPart = 16 * kBlock;  // rows that one sum is made of
constexpr std::size_t kScanBlock = 8192;

int count_parts(std::size_t n_rows, std::size_t size) {
  return static_cast<int>((n_rows + size - 1) / size);
}

// Branch-free: the number of edges <= x.
int count_edges(const double* edges, int n, double x) {
  int first = 0;
  while (n > 0) {
    const int half = n >> 1;
    const bool right = edges[first + half] <= x;
    first = right ? first + half + 1 : first;
    n = right ? n - half - 1 : half;
  }
  return first;
}

void bin_block(const double* x, int row_size, const double* edges, int n_edges, std::size_t n,
               Code* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const double value = x[i * static_cast<std::size_t>(row_size)];
    const int bin = std::isnan(value) ? n_edges + 1 : count_edges(edges, n_edges, value);
    out[i] = static_cast<Code>(bin);
  }
}

void sum_block(const Code* codes, const float* values, std::size_t n, double* out) {
  // Two histograms: equal codes in a row would wait for each other.
  double even[kBins] = {}, odd[kBins] = {};
  std::size_t i = 0;
  for (; i + 1 < n; i += 2) {
    even[codes[i]] += static_cast<double>(values[i]);
    odd[codes[i + 1]] += static_cast<double>(values[i + 1]);
  }
  if (i < n) even[codes[i]] += static_cast<double>(values[i]);
  for (int b = 0; b < kBins; ++b) out[b] += even[b] + odd[b];
}

void sum_cells(const Code* a, const Code* b, const float* values, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[kLevels * (a[i] % kLevels) + b[i] % kLevels] += static_cast<double>(values[i]);
  }
}

}  // namespace

void bin_rows(const double* x, std::size_t n_rows, int row_size, const EdgeTable& edges,
              Code* codes, Team& team) {
  team.run(count_parts(n_rows, kBlock), [&](int part, int) {
    const std::size_t first = static_cast<std::size_t>(part) * kBlock;
    const std::size_t n = std::min(kBlock, n_rows - first);
    for (int c = 0; c < edges.n_columns; ++c) {
      const auto column = static_cast<std::size_t>(edges.columns[c]);
      const double* from = x + first * static_cast<std::size_t>(row_size) + edges.sources[c];
      bin_block(from, row_size, edges.edges + edges.begin[c], edges.begin[c + 1] - edges.begin[c],
                n, codes + column * n_rows + first);
    }
  });
}

void summarize_bins(const double* x, int row_size, const EdgeTable& edges, const CodeTable& table,
                    const double* weight, const BinSummary& out, Team& team) {
  team.run(edges.n_columns, [&](int c, int) {
    const int source = edges.sources[c];
    const Code* codes = table.column(edges.columns[c]);
    const std::size_t at = static_cast<std::size_t>(c) * kBins;
    double *mass = out.mass + at, *mean = out.mean + at, *low = out.low + at, *high = out.high + at;
    for (int b = 0; b < kBins; ++b) {
      mass[b] = mean[b] = 0.0;
      low[b] = std::numeric_limits<double>::infinity();
      high[b] = -low[b];
    }
    for (std::size_t i = 0; i < table.n_rows; ++i) {
      const double value = x[i * static_cast<std::size_t>(row_size) + source];
      const int b = codes[i];
      mass[b] += weight[i];
      if (std::isnan(value) || weight[i] <= 0.0) continue;
      // A running mean: sums of large values could overflow.
      mean[b] += (value - mean[b]) * (weight[i] / mass[b]);
      low[b] = std::min(low[b], value);
      high[b] = std::max(high[b], value);
    }
  });
}

void add_scores(const CodeTable& fine, const float* tables, const CodeTable& coarse,
                const PairTable& pairs, float* scores, Team& team) {
  const EngineKernels& kernels = choose_engine_kernels();
  team.run(count_parts(fine.n_rows, kBlock), [&](int part, int) {
    const std::size_t first = static_cast<std::size_t>(part) * kBlock;
    const int n = static_cast<int>(std::min(kBlock, fine.n_rows - first));
    for (int c = 0; c < fine.n_columns; ++c) {
      const float* table = tables + static_cast<std::size_t>(c) * kBins;
      kernels.add_lookups(fine.column(c) + first, table, n, scores + first);
    }
    for (int q = 0; q < pairs.n_pairs; ++q) {
      const Code* a = coarse.column(pairs.columns[2 * q]) + first;
      const Code* b = coarse.column(pairs.columns[2 * q + 1]) + first;
      const float* cells = pairs.cells + static_cast<std::size_t>(q) * kLevels * kLevels;
      kernels.add_cells(a, b, cells, n, scores + first);
    }
  });
}

void sum_bins(const CodeTable& fine, const float* values, double* bins, const CodeTable& coarse,
              const PairTable& pairs, double* cells, Team& team) {
  const std::size_t n_bins = static_cast<std::size_t>(fine.n_columns) * kBins;
  const std::size_t n_cells = static_cast<std::size_t>(pairs.n_pairs) * kLevels * kLevels;
  const int n_parts = count_parts(fine.n_rows, kPart);
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(n_parts));
  team.run(n_parts, [&](int part, int) {
    std::vector<double>& sum = sums[static_cast<std::size_t>(part)];
    sum.assign(n_bins + n_cells, 0.0);
    const std::size_t begin = static_cast<std::size_t>(part) * kPart;
    const std::size_t end = std::min(begin + kPart, fine.n_rows);
    for (std::size_t first = begin; first < end; first += kBlock) {
      const std::size_t n = std::min(kBlock, end - first);
      for (int c = 0; c < fine.n_columns; ++c) {
        sum_block(fine.column(c) + first, values + first, n, sum.data() + c * kBins);
      }
      for (int q = 0; q < pairs.n_pairs; ++q) {
        sum_cells(coarse.column(pairs.columns[2 * q]) + first,
                  coarse.column(pairs.columns[2 * q + 1]) + first, values + first, n,
                  sum.data() + n_bins + static_cast<std::size_t>(q) * kLevels * kLevels);
      }
    }
  });
  std::fill(bins, bins + n_bins, 0.0);
  if (n_cells > 0) std::fill(cells, cells + n_cells, 0.0);
  for (const std::vector<double>& sum : sums) {
    for (std::size_t b = 0; b < n_bins; ++b) bins[b] += sum[b];
    for (std::size_t b = 0; b < n_cells; ++b) cells[b] += sum[n_bins + b];
  }
}

void scan_pairs(const CodeTable& table, int levels, const float* first, const float* second,
                double* out, Team& team) {
  const int d = table.n_columns;
  const std::size_t size = 2 * static_cast<std::size_t>(levels) * static_cast<std::size_t>(levels);
  // By first column: each has the pairs that follow it for itself.
  team.run(d - 1, [&](int a, int) {
    const std::size_t before = static_cast<std::size_t>(a) * (2 * d - a - 1) / 2;
    double* sums = out + before * size;
    std::fill(sums, sums + static_cast<std::size_t>(d - 1 - a) * size, 0.0);
    for (std::size_t at = 0; at < table.n_rows; at += kScanBlock) {
      const std::size_t n = std::min(kScanBlock, table.n_rows - at);
      const Code* mine = table.column(a) + at;
      for (int b = a + 1; b < d; ++b) {
        const Code* other = table.column(b) + at;
        double* cells = sums + static_cast<std::size_t>(b - a - 1) * size;
        for (std::size_t i = 0; i < n; ++i) {
          double* cell = cells + 2 * (mine[i] * levels + other[i]);
          cell[0] += static_cast<double>(first[at + i]);
          cell[1] += static_cast<double>(second[at + i]);
        }
      }
    }
  });
}

}  // namespace newron
