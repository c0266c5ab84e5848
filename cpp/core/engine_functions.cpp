#include "engine_functions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "engine_kernels.h"

namespace newron {

namespace {

using Vector = std::vector<double>;

constexpr double kSteepest = 40.0;    // of a factor of a curve, on a standardized scale
constexpr double kFarthest = 6.0;     // where a factor may lie on it
constexpr double kSlopeRidge = 0.02;  // of steepness, in units of the ridge

// Solves A x = b by Cholesky's factors, in place; false where A is not positive.
bool solve(Vector& a, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0.0)) return false;
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return true;
}

// Half the weighted sum of squared residuals and half a ridge on the parameters.
class LeastSquares {
 public:
  explicit LeastSquares(std::size_t n_cells)
      : n_cells_(n_cells), residual_(n_cells), kernels_(choose_engine_kernels()) {}
  virtual ~LeastSquares() = default;

  // Goes downhill from x; the objective that it reaches.
  double minimize(Vector& x, int iterations) {
    double best = measure(x, true);
    double damping = 1e-2;
    for (int i = 0; i < iterations; ++i) {
      gather(x);
      const double before = best;
      for (int attempt = 0; attempt < 6 && !(best < before); ++attempt) {
        Vector next = x;
        if (take_step(next, damping)) best = std::min(best, measure(next, false));
        if (best < before) {
          x = std::move(next);
          damping = std::max(0.3 * damping, 1e-7);
        } else {
          damping *= 4.0;
        }
      }
      if (before - best < 1e-4 * best + 1e-12) break;
      measure(x, true);
    }
    measure(x, false);
    return best;
  }

  // Half the weighted sum of squares, as last measured.
  double error() const { return error_; }

 protected:
  // Fills the residual, and the Jacobian of the model where requested.
  virtual void evaluate(const Vector& x, bool with_jacobian) = 0;
  virtual void bound(Vector& x) const = 0;
  virtual const double* mass() const = 0;

  void set_ridge(Vector ridge) {
    ridge_ = std::move(ridge);
    jacobian_.assign(ridge_.size(), Vector(n_cells_));
  }

  std::size_t n_cells_;
  Vector residual_;
  std::vector<Vector> jacobian_;  // by parameter
  const EngineKernels& kernels_;

 private:
  double measure(const Vector& x, bool with_jacobian) {
    evaluate(x, with_jacobian);
    const int n = static_cast<int>(n_cells_);
    Vector weighted(n_cells_);
    for (std::size_t k = 0; k < n_cells_; ++k) weighted[k] = mass()[k] * residual_[k];
    error_ = 0.5 * kernels_.dot(weighted.data(), residual_.data(), n);
    double penalty = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) penalty += ridge_[i] * x[i] * x[i];
    return error_ + 0.5 * penalty;
  }

  void gather(const Vector& x) {
    const std::size_t p = x.size();
    const int n = static_cast<int>(n_cells_);
    hessian_.assign(p * p, 0.0);
    gradient_.assign(p, 0.0);
    Vector weighted(n_cells_);
    for (std::size_t i = 0; i < p; ++i) {
      const Vector& mine = jacobian_[i];
      for (std::size_t k = 0; k < n_cells_; ++k) weighted[k] = mass()[k] * mine[k];
      gradient_[i] = kernels_.dot(weighted.data(), residual_.data(), n) - ridge_[i] * x[i];
      for (std::size_t j = 0; j <= i; ++j) {
        hessian_[i * p + j] = kernels_.dot(weighted.data(), jacobian_[j].data(), n);
      }
      hessian_[i * p + i] += ridge_[i];
    }
  }

  bool take_step(Vector& x, double damping) const {
    const std::size_t p = x.size();
    double trace = 0.0;
    for (std::size_t i = 0; i < p; ++i) trace += hessian_[i * p + i];
    Vector damped = hessian_, step = gradient_;
    for (std::size_t i = 0; i < p; ++i) {
      damped[i * p + i] += damping * hessian_[i * p + i] + 1e-9 * trace;
    }
    if (!solve(damped, step)) return false;
    for (std::size_t i = 0; i < p; ++i) x[i] += step[i];
    bound(x);
    return true;
  }

  Vector ridge_, hessian_, gradient_;
  double error_ = 0.0;
};

// ---- curves ----

// Parameters: the constant, then weight, w, b (w, b) of each function.
class CurveProblem : public LeastSquares {
 public:
  CurveProblem(const CurveTask& task, const std::vector<CurveFunction>& functions)
      : LeastSquares(static_cast<std::size_t>(task.n_bins)), task_(task), functions_(functions) {
    Vector ridge = {0.0};
    for (const CurveFunction& f : functions_) {
      const double slope = kSlopeRidge * task.ridge;
      ridge.insert(ridge.end(), {task.ridge, slope, 0.0});
      if (f.bump) ridge.insert(ridge.end(), {slope, 0.0});
    }
    set_ridge(std::move(ridge));
  }

  Vector pack(double constant) const {
    Vector x = {constant};
    for (const CurveFunction& f : functions_) {
      x.insert(x.end(), {f.weight, f.w[0], f.b[0]});
      if (f.bump) x.insert(x.end(), {f.w[1], f.b[1]});
    }
    return x;
  }

  CurveFit unpack(const Vector& x) const {
    CurveFit fit = {functions_, x[0], error()};
    std::size_t at = 1;
    for (CurveFunction& f : fit.functions) {
      f.weight = x[at];
      f.w[0] = x[at + 1];
      f.b[0] = x[at + 2];
      if (f.bump) f.w[1] = x[at + 3], f.b[1] = x[at + 4];
      at += f.bump ? 5 : 3;
    }
    return fit;
  }

  const Vector& residual() const { return residual_; }

 protected:
  const double* mass() const override { return task_.mass; }

  void evaluate(const Vector& x, bool with_jacobian) override {
    const std::size_t n = n_cells_;
    for (std::size_t k = 0; k < n; ++k) residual_[k] = task_.values[k] - x[0];
    if (with_jacobian) std::fill(jacobian_[0].begin(), jacobian_[0].end(), 1.0);
    Vector first(n), second(n, 1.0);
    std::size_t at = 1;
    for (const CurveFunction& f : functions_) {
      const double* t = task_.scales[f.scale];
      kernels_.tanh_values(t, task_.n_bins, x[at + 1], x[at + 2], first.data());
      if (f.bump) kernels_.tanh_values(t, task_.n_bins, x[at + 3], x[at + 4], second.data());
      const double half = 0.5 * x[at];
      for (std::size_t k = 0; k < n; ++k) {
        residual_[k] -= half * (first[k] * (f.bump ? second[k] : 1.0) + 1.0);
      }
      if (with_jacobian) differentiate(x, at, f, first, second);
      at += f.bump ? 5 : 3;
    }
  }

  void differentiate(const Vector& x, std::size_t at, const CurveFunction& f, const Vector& first,
                     const Vector& second) {
    const double* t = task_.scales[f.scale];
    const double half = 0.5 * x[at];
    for (std::size_t k = 0; k < n_cells_; ++k) {
      const double other = f.bump ? second[k] : 1.0;
      const double slope = half * (1.0 - first[k] * first[k]) * other;
      jacobian_[at][k] = 0.5 * (first[k] * other + 1.0);
      jacobian_[at + 1][k] = slope * (t[k] - x[at + 2]);
      jacobian_[at + 2][k] = -slope * x[at + 1];
      if (!f.bump) continue;
      const double slope2 = half * (1.0 - other * other) * first[k];
      jacobian_[at + 3][k] = slope2 * (t[k] - x[at + 4]);
      jacobian_[at + 4][k] = -slope2 * x[at + 3];
    }
  }

  void bound(Vector& x) const override {
    std::size_t at = 1;
    for (const CurveFunction& f : functions_) {
      if (task_.direction != 0) {
        x[at] = task_.direction * std::max(task_.direction * x[at], 0.0);
        x[at + 1] = std::max(x[at + 1], 0.0);
      }
      for (std::size_t m = at + 1; m < at + (f.bump ? 5 : 3); m += 2) {
        x[m] = std::clamp(x[m], -kSteepest, kSteepest);
        x[m + 1] = std::clamp(x[m + 1], -kFarthest, kFarthest);
      }
      at += f.bump ? 5 : 3;
    }
  }

 private:
  const CurveTask& task_;
  std::vector<CurveFunction> functions_;
};

// Functions to choose from, and their values.
struct Dictionary {
  std::vector<CurveFunction> functions;
  std::vector<Vector> values;
};

// Where a fraction of the bins lies below, on a scale.
double position(const CurveTask& task, int scale, double fraction) {
  const double at = fraction * (task.n_bins - 1);
  const int i = std::min(static_cast<int>(at), task.n_bins - 2);
  const double* t = task.scales[scale];
  return t[i] + (at - i) * (t[i + 1] - t[i]);
}

Dictionary make_dictionary(const CurveTask& task) {
  Dictionary all;
  for (int s = 0; s < 2; ++s) {
    if (task.scales[s] == nullptr) continue;
    for (int i = 0; i < 11; ++i) {
      for (const double w : {0.4, 0.8, 1.6, 3.2, 8.0}) {
        all.functions.push_back(
            {false, s, {w, 0.0}, {position(task, s, 0.02 + 0.096 * i), 0.0}, 0.0});
      }
    }
    for (int i = 0; task.bumps && i < 7; ++i) {
      for (int j = i + 1; j < 7; ++j) {
        for (const double w : {0.6, 1.5, 4.0}) {
          const double low = position(task, s, 0.03 + 0.156 * i);
          const double high = position(task, s, 0.03 + 0.156 * j);
          all.functions.push_back({true, s, {w, w}, {low, high}, 0.0});
        }
      }
    }
  }
  const EngineKernels& kernels = choose_engine_kernels();
  const auto n = static_cast<std::size_t>(task.n_bins);
  Vector other(n);
  for (const CurveFunction& f : all.functions) {
    Vector h(n);
    kernels.tanh_values(task.scales[f.scale], task.n_bins, f.w[0], f.b[0], h.data());
    if (f.bump) {
      kernels.tanh_values(task.scales[f.scale], task.n_bins, f.w[1], f.b[1], other.data());
      for (std::size_t k = 0; k < n; ++k) h[k] *= other[k];
    }
    for (double& value : h) value = 0.5 * (value + 1.0);
    all.values.push_back(std::move(h));
  }
  return all;
}

// The best of the dictionary's functions of one kind on one scale, with its weight.
bool find_function(const CurveTask& task, const Dictionary& all, const Vector& residual, bool bump,
                   int scale, CurveFunction& found) {
  const EngineKernels& kernels = choose_engine_kernels();
  const int n = task.n_bins;
  Vector weighted(residual.size());
  double total = 0.0, sum = 0.0, best = 0.0;
  for (std::size_t k = 0; k < residual.size(); ++k) {
    weighted[k] = task.mass[k] * residual[k];
    total += task.mass[k];
    sum += weighted[k];
  }
  Vector weighed(residual.size());
  for (std::size_t q = 0; q < all.functions.size(); ++q) {
    const CurveFunction& f = all.functions[q];
    if (f.bump != bump || f.scale != scale) continue;
    const Vector& h = all.values[q];
    for (std::size_t k = 0; k < h.size(); ++k) weighed[k] = task.mass[k] * h[k];
    double mean = 0.0;
    for (const double value : weighed) mean += value;
    mean /= total;
    const double spread = kernels.dot(weighed.data(), h.data(), n) - mean * mean * total + 1e-9;
    const double along = kernels.dot(h.data(), weighted.data(), n) - mean * sum;
    if (task.direction * along < 0.0 || along * along <= best * spread) continue;
    best = along * along / spread;
    found = f;
    found.weight = along / spread;
  }
  return best > 0.0;
}

CurveFit refit(const CurveTask& task, const std::vector<CurveFunction>& functions, double constant,
               Vector& residual) {
  CurveProblem problem(task, functions);
  Vector x = problem.pack(constant);
  problem.minimize(x, functions.empty() ? 2 : 25);
  residual = problem.residual();
  return problem.unpack(x);
}

// ---- surfaces ----

// Takes row and column means out of cells.
void center(Vector& cells, const SurfaceTask& task) {
  const int na = task.n_first, nb = task.n_second;
  Vector rows(static_cast<std::size_t>(na), 0.0), columns(static_cast<std::size_t>(nb), 0.0);
  double mean = 0.0;
  for (int i = 0; i < na; ++i) {
    double& row = rows[static_cast<std::size_t>(i)];
    const double* cell = cells.data() + static_cast<std::size_t>(i) * nb;
    for (int j = 0; j < nb; ++j) {
      row += task.second_mass[j] * cell[j];
      columns[static_cast<std::size_t>(j)] += task.first_mass[i] * cell[j];
    }
    mean += task.first_mass[i] * row;
  }
  for (int i = 0; i < na; ++i) {
    double* cell = cells.data() + static_cast<std::size_t>(i) * nb;
    const double row = rows[static_cast<std::size_t>(i)] - mean;
    for (int j = 0; j < nb; ++j) cell[j] -= row + columns[static_cast<std::size_t>(j)];
  }
}

// Parameters: w, b of both columns, v, c (v, c), weight.
class SurfaceProblem : public LeastSquares {
 public:
  explicit SurfaceProblem(const SurfaceTask& task)
      : LeastSquares(static_cast<std::size_t>(task.n_first) *
                     static_cast<std::size_t>(task.n_second)),
        task_(task),
        mass_(n_cells_),
        values_(n_cells_) {
    for (int i = 0; i < task.n_first; ++i) {
      for (int j = 0; j < task.n_second; ++j) {
        mass_[cell(i, j)] = task.first_mass[i] * task.second_mass[j];
      }
    }
    Vector ridge(size(), 0.0);
    for (std::size_t i = 0; i + 1 < size(); i += 2) ridge[i] = kSlopeRidge * task.ridge;
    ridge.back() = task.ridge;
    set_ridge(std::move(ridge));
  }

  std::size_t size() const { return task_.bump ? 9 : 7; }

  // The weight that suits the other parameters best.
  void set_weight(Vector& x) {
    x.back() = 1.0;
    evaluate(x, false);
    double along = 0.0, spread = 1e-9;
    for (std::size_t k = 0; k < n_cells_; ++k) {
      along += mass_[k] * values_[k] * task_.values[k];
      spread += mass_[k] * values_[k] * values_[k];
    }
    x.back() = along / (spread + task_.ridge);
  }

 protected:
  const double* mass() const override { return mass_.data(); }

  void evaluate(const Vector& x, bool with_jacobian) override {
    const auto na = static_cast<std::size_t>(task_.n_first);
    const auto nb = static_cast<std::size_t>(task_.n_second);
    Vector first(na), second(nb), sums(n_cells_), h(n_cells_), other(n_cells_, 1.0);
    kernels_.tanh_values(task_.first, task_.n_first, x[0], x[1], first.data());
    kernels_.tanh_values(task_.second, task_.n_second, x[2], x[3], second.data());
    for (std::size_t i = 0; i < na; ++i) {
      for (std::size_t j = 0; j < nb; ++j) sums[i * nb + j] = 1.0 + 0.5 * (first[i] + second[j]);
    }
    const int n = static_cast<int>(n_cells_);
    kernels_.tanh_values(sums.data(), n, x[4], x[5], h.data());
    if (task_.bump) kernels_.tanh_values(sums.data(), n, x[6], x[7], other.data());
    for (std::size_t k = 0; k < n_cells_; ++k) values_[k] = 0.5 * (h[k] * other[k] + 1.0);
    if (with_jacobian) differentiate(x, first, second, sums, h, other);
    center(values_, task_);
    if (with_jacobian) jacobian_.back() = values_;
    for (std::size_t k = 0; k < n_cells_; ++k) {
      residual_[k] = task_.values[k] - x.back() * values_[k];
    }
  }

  void differentiate(const Vector& x, const Vector& first, const Vector& second, const Vector& sums,
                     const Vector& h, const Vector& other) {
    for (int i = 0; i < task_.n_first; ++i) {
      for (int j = 0; j < task_.n_second; ++j) {
        const std::size_t k = cell(i, j);
        const double a = first[static_cast<std::size_t>(i)];
        const double b = second[static_cast<std::size_t>(j)];
        const double slope = 0.5 * x.back() * (1.0 - h[k] * h[k]) * other[k];
        const double slope2 = 0.5 * x.back() * (1.0 - other[k] * other[k]) * h[k];
        const double along = slope * x[4] + (task_.bump ? slope2 * x[6] : 0.0);
        const double along_a = 0.5 * along * (1.0 - a * a), along_b = 0.5 * along * (1.0 - b * b);
        jacobian_[0][k] = along_a * (task_.first[i] - x[1]);
        jacobian_[1][k] = -along_a * x[0];
        jacobian_[2][k] = along_b * (task_.second[j] - x[3]);
        jacobian_[3][k] = -along_b * x[2];
        jacobian_[4][k] = slope * (sums[k] - x[5]);
        jacobian_[5][k] = -slope * x[4];
        if (!task_.bump) continue;
        jacobian_[6][k] = slope2 * (sums[k] - x[7]);
        jacobian_[7][k] = -slope2 * x[6];
      }
    }
    for (std::size_t q = 0; q + 1 < size(); ++q) center(jacobian_[q], task_);
  }

  void bound(Vector& x) const override {
    for (std::size_t i = 0; i + 1 < size(); i += 2) {
      x[i] = std::clamp(x[i], -0.5 * kSteepest, 0.5 * kSteepest);
      x[i + 1] = std::clamp(x[i + 1], -kFarthest, kFarthest);
    }
  }

 private:
  std::size_t cell(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(task_.n_second) +
           static_cast<std::size_t>(j);
  }

  const SurfaceTask& task_;
  Vector mass_, values_;
};

std::vector<Vector> list_starts(bool bump) {
  std::vector<Vector> starts;
  for (const double side : {1.0, -1.0}) {
    for (const double v : {1.2, 2.5}) {
      if (bump) {
        starts.push_back({0.7, 0.0, 0.7 * side, 0.0, v, 0.6, v, 1.4, 0.0});
        starts.push_back({1.5, 0.5, 1.5 * side, -0.5, v, 1.0, v, 4.0, 0.0});
        starts.push_back({1.5, -0.5, 1.5 * side, 0.5, v, 1.0, v, -2.0, 0.0});
      } else {
        starts.push_back({0.7, 0.0, 0.7 * side, 0.0, v, 1.3, 0.0});
        starts.push_back({1.5, 0.5, 1.5 * side, -0.5, v, 1.0, 0.0});
        starts.push_back({1.5, -0.5, 1.5 * side, 0.5, v, 0.7, 0.0});
      }
    }
  }
  return starts;
}

using Run = std::pair<double, Vector>;

bool is_lower(const Run& a, const Run& b) { return a.first < b.first; }

}  // namespace

CurveFit fit_curve(const CurveTask& task) {
  Vector residual;
  CurveFit fit = refit(task, {}, 0.0, residual);
  if (fit.error <= task.tolerance) return fit;
  const Dictionary all = make_dictionary(task);
  while (fit.error > task.tolerance &&
         static_cast<int>(fit.functions.size()) < task.max_functions) {
    CurveFit best = {{}, 0.0, std::numeric_limits<double>::infinity()};
    Vector best_residual;
    for (const bool bump : {false, true}) {
      for (int scale = 0; scale < 2; ++scale) {
        CurveFunction found;
        if (!find_function(task, all, residual, bump, scale, found)) continue;
        std::vector<CurveFunction> functions = fit.functions;
        functions.push_back(found);
        Vector left;
        CurveFit next = refit(task, functions, fit.constant, left);
        // A bump has more parameters, and is harder to read.
        if (next.error < (bump ? 0.9 : 1.0) * best.error) best = next, best_residual = left;
      }
    }
    if (!(best.error < 0.97 * fit.error)) break;
    fit = best;
    residual = best_residual;
  }
  return fit;
}

SurfaceNeuron fit_neuron(const SurfaceTask& task) {
  SurfaceProblem problem(task);
  std::vector<Run> runs;
  for (Vector& x : list_starts(task.bump)) {
    problem.set_weight(x);
    const double value = problem.minimize(x, 5);
    runs.emplace_back(value, x);
  }
  // Short runs of all, long ones of the best two.
  std::sort(runs.begin(), runs.end(), is_lower);
  runs.resize(2);
  for (Run& run : runs) run.first = problem.minimize(run.second, task.iterations);
  const Vector& x = std::min_element(runs.begin(), runs.end(), is_lower)->second;
  SurfaceNeuron found = {{x[0], x[2]}, {x[1], x[3]}, {x[4], 0.0}, {x[5], 0.0}, x.back()};
  if (task.bump) found.v[1] = x[6], found.c[1] = x[7];
  return found;
}

}  // namespace newron
