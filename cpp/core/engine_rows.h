// What the engine does with rows: bins, scores by look-up, sums over bins and cells.
//
// Columns are codes of one byte, column by column. Rows are cut into blocks of fixed size;
// each block sums for itself and the sums are added in order, so that the number of threads
// changes no bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine_kernels.h"
#include "team.h"

namespace newron {

using Code = std::uint8_t;

// The rows as codes: `codes` is [column][row].
struct CodeTable {
  const Code* codes;
  std::size_t n_rows;
  int n_columns;

  const Code* column(int c) const { return codes + static_cast<std::size_t>(c) * n_rows; }
};

// Columns of numbers to be binned: the code of x is the number of edges that are <= x, that of
// a missing value one more than there are bins.
struct EdgeTable {
  const double* edges;
  const int* begin;    // of each column to be binned, and the end
  const int* sources;  // where they are in the rows
  const int* columns;  // where their codes are
  int n_columns;
};

void bin_rows(const double* x, std::size_t n_rows, int row_size, const EdgeTable& edges,
              Code* codes, Team& team);

// Mass, mean, smallest and largest value of each bin of a binned column, [column][kBins].
struct BinSummary {
  double* mass;
  double* mean;
  double* low;
  double* high;
};

void summarize_bins(const double* x, int row_size, const EdgeTable& edges, const CodeTable& table,
                    const double* weight, const BinSummary& out, Team& team);

// Pairs of columns by their coarse codes (< kLevels), with values by cell.
struct PairTable {
  const int* columns;  // [pair][2]
  const float* cells;  // [pair][kLevels * kLevels]; unused for sums
  int n_pairs;
};

// scores[row] += tables[column][code] over all columns, and the cells of all pairs.
void add_scores(const CodeTable& fine, const float* tables, const CodeTable& coarse,
                const PairTable& pairs, float* scores, Team& team);

// Sums of a row's value over the bins of columns, [column][kBins], and over cells of pairs.
void sum_bins(const CodeTable& fine, const float* values, double* bins, const CodeTable& coarse,
              const PairTable& pairs, double* cells, Team& team);

// Sums of two values over the cells of all pairs of columns, of `levels` codes each:
// [pair][levels * levels][2], pairs in lexicographic order.
void scan_pairs(const CodeTable& table, int levels, const float* first, const float* second,
                double* out, Team& team);

}  // namespace newron
