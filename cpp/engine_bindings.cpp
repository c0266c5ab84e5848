// The engine on bins for Python: check shapes and types, release the GIL, call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "core/engine_functions.h"
#include "core/engine_rows.h"

namespace nb = nanobind;
using namespace nb::literals;

void bind_engine(nb::module_& m);

namespace {

using newron::Code;
using newron::CodeTable;

template <class T, int D>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T, int D>
using Out = nb::ndarray<T, nb::numpy, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

CodeTable view(const In<Code, 2>& codes) {
  return {codes.data(), codes.shape(1), static_cast<int>(codes.shape(0))};
}

newron::EdgeTable view_edges(const In<double, 1>& edges, const In<int, 1>& begin,
                             const In<int, 1>& sources, const In<int, 1>& columns,
                             std::size_t row_size, std::size_t n_codes) {
  const std::size_t n = columns.shape(0);
  require(sources.shape(0) == n, "sources: wrong length");
  require(begin.shape(0) == n + 1 && begin(0) == 0, "begin does not divide the edges");
  require(static_cast<std::size_t>(begin(n)) == edges.shape(0), "begin does not end at the edges");
  for (std::size_t c = 0; c < n; ++c) {
    require(begin(c) <= begin(c + 1) && begin(c + 1) - begin(c) < newron::kBins - 1,
            "a column has too many edges");
    require(0 <= sources(c) && static_cast<std::size_t>(sources(c)) < row_size, "no such source");
    require(0 <= columns(c) && static_cast<std::size_t>(columns(c)) < n_codes, "no such column");
  }
  return {edges.data(), begin.data(), sources.data(), columns.data(), static_cast<int>(n)};
}

void bin_rows(In<double, 2> x, In<double, 1> edges, In<int, 1> begin, In<int, 1> sources,
              In<int, 1> columns, Out<Code, 2> codes, int n_threads) {
  require(codes.shape(1) == x.shape(0), "codes: wrong shape");
  const newron::EdgeTable table =
      view_edges(edges, begin, sources, columns, x.shape(1), codes.shape(0));
  nb::gil_scoped_release release;
  newron::Team team(n_threads);
  newron::bin_rows(x.data(), x.shape(0), static_cast<int>(x.shape(1)), table, codes.data(), team);
}

void summarize_bins(In<double, 2> x, In<double, 1> edges, In<int, 1> begin, In<int, 1> sources,
                    In<int, 1> columns, In<Code, 2> codes, In<double, 1> weight, Out<double, 3> out,
                    int n_threads) {
  require(codes.shape(1) == x.shape(0), "codes: wrong shape");
  require(weight.shape(0) == x.shape(0), "weight: wrong length");
  require(out.shape(0) == 4 && out.shape(1) == columns.shape(0) && out.shape(2) == newron::kBins,
          "out: wrong shape");
  const newron::EdgeTable table =
      view_edges(edges, begin, sources, columns, x.shape(1), codes.shape(0));
  const std::size_t size = out.shape(1) * out.shape(2);
  double* data = out.data();
  const newron::BinSummary summary = {data, data + size, data + 2 * size, data + 3 * size};
  nb::gil_scoped_release release;
  newron::Team team(n_threads);
  newron::summarize_bins(x.data(), static_cast<int>(x.shape(1)), table, view(codes), weight.data(),
                         summary, team);
}

void check_pairs(const In<Code, 2>& fine, const In<Code, 2>& coarse, const In<int, 2>& pairs) {
  if (pairs.shape(0) == 0) return;
  require(pairs.shape(1) == 2 && coarse.shape(1) == fine.shape(1), "pairs: wrong shape");
  for (std::size_t q = 0; q < pairs.shape(0); ++q) {
    for (std::size_t side = 0; side < 2; ++side) {
      const int c = pairs(q, side);
      require(0 <= c && static_cast<std::size_t>(c) < coarse.shape(0), "no such column in a pair");
    }
  }
}

void add_scores(In<Code, 2> fine, In<float, 2> tables, In<Code, 2> coarse, In<int, 2> pairs,
                In<float, 2> cells, Out<float, 1> scores, int n_threads) {
  require(tables.shape(0) == fine.shape(0) && tables.shape(1) == newron::kBins,
          "tables: wrong shape");
  require(cells.shape(0) == pairs.shape(0) && cells.shape(1) == newron::kLevels * newron::kLevels,
          "cells: wrong shape");
  require(scores.shape(0) == fine.shape(1), "scores: wrong length");
  check_pairs(fine, coarse, pairs);
  nb::gil_scoped_release release;
  newron::Team team(n_threads);
  newron::add_scores(view(fine), tables.data(), view(coarse),
                     {pairs.data(), cells.data(), static_cast<int>(pairs.shape(0))}, scores.data(),
                     team);
}

void sum_bins(In<Code, 2> fine, In<float, 1> values, Out<double, 2> bins, In<Code, 2> coarse,
              In<int, 2> pairs, Out<double, 2> cells, int n_threads) {
  require(bins.shape(0) == fine.shape(0) && bins.shape(1) == newron::kBins, "bins: wrong shape");
  require(cells.shape(0) == pairs.shape(0) && cells.shape(1) == newron::kLevels * newron::kLevels,
          "cells: wrong shape");
  require(values.shape(0) == fine.shape(1), "values: wrong length");
  check_pairs(fine, coarse, pairs);
  nb::gil_scoped_release release;
  newron::Team team(n_threads);
  newron::sum_bins(view(fine), values.data(), bins.data(), view(coarse),
                   {pairs.data(), nullptr, static_cast<int>(pairs.shape(0))}, cells.data(), team);
}

void scan_pairs(In<Code, 2> codes, int levels, In<float, 1> first, In<float, 1> second,
                Out<double, 4> out, int n_threads) {
  const std::size_t d = codes.shape(0), size = static_cast<std::size_t>(levels);
  require(d >= 2 && levels >= 1 && levels <= newron::kBins, "expected two columns and levels");
  require(first.shape(0) == codes.shape(1) && second.shape(0) == codes.shape(1),
          "values: wrong length");
  require(out.shape(0) == d * (d - 1) / 2 && out.shape(1) == size && out.shape(2) == size &&
              out.shape(3) == 2,
          "out: wrong shape");
  require(std::all_of(codes.data(), codes.data() + codes.size(),
                      [&](Code code) { return code < levels; }),
          "a code has no level");
  nb::gil_scoped_release release;
  newron::Team team(n_threads);
  newron::scan_pairs(view(codes), levels, first.data(), second.data(), out.data(), team);
}

// Rows of kind, scale, w, b, w, b, weight; then the constant and the error that is left.
nb::tuple fit_curve(In<double, 2> scales, In<double, 1> values, In<double, 1> mass,
                    double tolerance, double ridge, int max_functions, bool bumps, int direction) {
  const std::size_t n = values.shape(0);
  require(n >= 2 && mass.shape(0) == n && scales.shape(1) == n, "expected a value of each bin");
  require(scales.shape(0) == 1 || scales.shape(0) == 2, "expected one scale or two");
  const double* second = scales.shape(0) == 2 ? scales.data() + n : nullptr;
  const newron::CurveTask task = {
      static_cast<int>(n), {scales.data(), second}, values.data(), mass.data(), tolerance, ridge,
      max_functions,       bumps && direction == 0, direction};
  newron::CurveFit fit;
  {
    nb::gil_scoped_release release;
    fit = newron::fit_curve(task);
  }
  const std::size_t rows = fit.functions.size();
  double* data = new double[rows * 7 + 1];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  double* to = data;
  for (const newron::CurveFunction& f : fit.functions) {
    const double row[] = {double(f.bump), double(f.scale), f.w[0],  f.b[0],
                          f.w[1],         f.b[1],          f.weight};
    to = std::copy(std::begin(row), std::end(row), to);
  }
  return nb::make_tuple(Out<double, 2>(data, {rows, 7}, owner), fit.constant, fit.error);
}

// w, b of both columns, v, c of both factors, weight.
Out<double, 1> fit_neuron(In<double, 1> first, In<double, 1> second, In<double, 1> first_mass,
                          In<double, 1> second_mass, In<double, 2> values, double ridge, bool bump,
                          int iterations) {
  const std::size_t a = first.shape(0), b = second.shape(0);
  require(a >= 1 && b >= 1 && first_mass.shape(0) == a && second_mass.shape(0) == b &&
              values.shape(0) == a && values.shape(1) == b,
          "expected a value of each cell");
  const newron::SurfaceTask task = {
      static_cast<int>(a), static_cast<int>(b), first.data(), second.data(), first_mass.data(),
      second_mass.data(),  values.data(),       ridge,        bump,          iterations};
  newron::SurfaceNeuron n;
  {
    nb::gil_scoped_release release;
    n = newron::fit_neuron(task);
  }
  double* data =
      new double[9]{n.w[0], n.b[0], n.w[1], n.b[1], n.v[0], n.c[0], n.v[1], n.c[1], n.weight};
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Out<double, 1>(data, {9}, owner);
}

}  // namespace

void bind_engine(nb::module_& m) {
  m.def("bin_rows", &bin_rows, "x"_a.noconvert(), "edges"_a.noconvert(), "begin"_a.noconvert(),
        "sources"_a.noconvert(), "columns"_a.noconvert(), "codes"_a.noconvert(), "n_threads"_a);
  m.def("summarize_bins", &summarize_bins, "x"_a.noconvert(), "edges"_a.noconvert(),
        "begin"_a.noconvert(), "sources"_a.noconvert(), "columns"_a.noconvert(),
        "codes"_a.noconvert(), "weight"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
  m.def("add_scores", &add_scores, "fine"_a.noconvert(), "tables"_a.noconvert(),
        "coarse"_a.noconvert(), "pairs"_a.noconvert(), "cells"_a.noconvert(),
        "scores"_a.noconvert(), "n_threads"_a);
  m.def("sum_bins", &sum_bins, "fine"_a.noconvert(), "values"_a.noconvert(), "bins"_a.noconvert(),
        "coarse"_a.noconvert(), "pairs"_a.noconvert(), "cells"_a.noconvert(), "n_threads"_a);
  m.def("scan_pairs", &scan_pairs, "codes"_a.noconvert(), "levels"_a, "first"_a.noconvert(),
        "second"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
  m.def("fit_curve", &fit_curve, "scales"_a.noconvert(), "values"_a.noconvert(),
        "mass"_a.noconvert(), "tolerance"_a, "ridge"_a, "max_functions"_a, "bumps"_a,
        "direction"_a);
  m.def("fit_neuron", &fit_neuron, "first"_a.noconvert(), "second"_a.noconvert(),
        "first_mass"_a.noconvert(), "second_mass"_a.noconvert(), "values"_a.noconvert(), "ridge"_a,
        "bump"_a, "iterations"_a);
}
