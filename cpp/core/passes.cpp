// The hot loops in single precision: load a block of rows, forward, loss,
// backward, one step of Adam. Compiled once for each instruction set, with
// NEWRON_ISA naming the copy; nothing here may use the standard library's
// templates, whose copies the linker would merge across instruction sets.
#include "exact.h"
#include "machine.h"
#include "network.h"

#ifndef NEWRON_ISA
#define NEWRON_ISA baseline
#endif
#define NEWRON_STRING2(x) #x
#define NEWRON_STRING(x) NEWRON_STRING2(x)

namespace newron {
namespace {

using Add = void (*)(const Bundle&, float*);
using Pull = void (*)(const Bundle&, const float*, int, const Slopes&);

template <class>
struct Tables;
template <class... Fs>
struct Tables<List<Fs...>> {
  static constexpr Add add[] = {&Fs::add...};
  static constexpr Pull pull[] = {&Fs::pull...};
};

void fill(float* out, int rows, float value) {
  for (int t = 0; t < rows; ++t) out[t] = value;
}

// ---- one block of rows ----

void load(const NetworkView& net, const Table& table, const int* order, int first, int n,
          Room& room) {
  const int rows = pad_rows(n), channels = net.n_channels, columns = table.n_targets;
  const auto row_at = [&](int t) {
    // Padding repeats the first row, with weight 0: finite, and without effect.
    const int at = first + (t < n ? t : 0);
    return static_cast<std::size_t>(order != nullptr ? order[at] : at);
  };
  for (int t = 0; t < rows; ++t) {
    // Rows lie anywhere in memory: ask for them in time, first and last value.
    constexpr int kAhead = 8;
    const std::size_t next = row_at(t + kAhead);
    const float* ahead = table.x + next * static_cast<std::size_t>(channels);
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + channels - 1);
    __builtin_prefetch(table.targets + next * static_cast<std::size_t>(columns));
    __builtin_prefetch(table.weights + next);
    const std::size_t row = row_at(t);
    const float* x = table.x + row * static_cast<std::size_t>(channels);
    for (int c = 0; c < channels; ++c) room.signals[c * room.stride + t] = x[c];
    const float* y = table.targets + row * static_cast<std::size_t>(columns);
    for (int k = 0; k < columns; ++k) room.targets[k * room.stride + t] = y[k];
    room.weights[t] = t < n ? table.weights[row] : 0.0f;
  }
}

// ---- the forward pass ----

void activate(Activation activation, int rows, float* y) {
  if (activation == Activation::identity) return;
  for (int t = 0; t < rows; t += kWidth) {
    const Floats z = load(y + t);
    switch (activation) {
      case Activation::sigmoid:
        store(y + t, fast_sigmoid(z));
        break;
      case Activation::tanh:
        store(y + t, fast_tanh(z));
        break;
      default:
        store(y + t, most(z, all(0.0f)));
    }
  }
}

float* signal(Room& room, int index) {
  return room.signals + static_cast<std::size_t>(index) * static_cast<std::size_t>(room.stride);
}

float* gradient_of(Room& room, int index) {
  return room.gradients + static_cast<std::size_t>(index) * static_cast<std::size_t>(room.stride);
}

float* part(Room& room, int index) {
  return room.parts + static_cast<std::size_t>(index) * static_cast<std::size_t>(room.stride);
}

float* slope_of(Room& room, int index) {
  return room.slopes + static_cast<std::size_t>(index) * static_cast<std::size_t>(room.stride);
}

// The slope of neuron j's activation or aggregation of one's own.
float* kept_slope(const Curve& curve, int j, Room& room) {
  return room.kept + (curve.kept + static_cast<std::size_t>(j)) * room.stride;
}

// Whether parts can be added while they are computed.
bool adds(const LayerView& layer) {
  return !layer.transform.exists() &&
         (layer.aggregation == Aggregation::sum || layer.aggregation == Aggregation::mean);
}

// y becomes f(y); its slope is kept beside.
void follow(const Curve& curve, int rows, Room& room, float* y, float* slope) {
  const CodeView& code = curve.code;
  const std::size_t stride = static_cast<std::size_t>(room.stride);
  Register r[kMostRegisters];
  float* next = room.registers;
  for (int k = 0; k < code.n_registers; ++k, next += stride) {
    const bool constant = k >= 1 && k < code.first_output();
    r[k] = {constant ? room.constants + (curve.constants + k - 1) * stride : next, 0};
  }
  r[0].at = y;
  r[code.first_output() + 1].at = slope;
  run(code, r, 1, rows);
  const float* value = r[code.first_output()].at;
  for (int t = 0; t < rows; t += kWidth) store(y + t, load(value + t));
}

void multiply(const float* by, int rows, float* y) {
  for (int t = 0; t < rows; t += kWidth) store(y + t, load(y + t) * load(by + t));
}

void scale(float by, int rows, float* y) {
  for (int t = 0; t < rows; t += kWidth) store(y + t, load(y + t) * by);
}

// Functions [begin, end) of a layer.
Bundle bundle(const LayerView& layer, const float* params, int begin, int end, int rows,
              float scale, float blend, Room& room) {
  const std::size_t first = static_cast<std::size_t>(begin);
  const std::size_t factor = first * static_cast<std::size_t>(layer.factors);
  Bundle out;
  out.signals = room.signals;
  out.stride = room.stride;
  out.rows = rows;
  out.source = layer.source + begin;
  out.n_edges = end - begin;
  out.factors = layer.factors;
  out.w = params + layer.w + factor;
  out.b = params + layer.b + factor;
  out.alpha = layer.weighted ? params + layer.alpha + first : nullptr;
  out.scale = scale;
  out.blend = blend;
  const bool own = layer.code.lines != nullptr;
  const std::size_t more = own ? static_cast<std::size_t>(layer.code.n_inputs - layer.factors) : 0;
  out.code = &layer.code;
  out.parameters = params + layer.parameters + first * more;
  out.constants = room.constants + layer.constants * static_cast<std::size_t>(room.stride);
  out.registers = room.registers;
  out.kept = room.kept + (layer.kept + first * static_cast<std::size_t>(layer.kept_per_edge)) *
                             static_cast<std::size_t>(room.stride);
  return out;
}

Bundle neuron(const LayerView& layer, const float* params, int j, int rows, float blend,
              Room& room) {
  const int begin = layer.begin[j], end = layer.begin[j + 1];
  const bool mean = layer.aggregation == Aggregation::mean && adds(layer) && end > begin;
  const float scale = mean ? 1.0f / static_cast<float>(end - begin) : 1.0f;
  return bundle(layer, params, begin, end, rows, scale, blend, room);
}

// The contributions alpha h of neuron j's functions, one after the other.
void spread(const LayerView& layer, const float* params, int j, int rows, float blend, Room& room) {
  for (int e = layer.begin[j]; e < layer.begin[j + 1]; ++e) {
    float* out = part(room, e - layer.begin[j]);
    fill(out, rows, 0.0f);
    Tables<AllFunctions>::add[layer.processing](
        bundle(layer, params, e, e + 1, rows, 1.0f, blend, room), out);
    if (layer.transform.exists()) {
      follow(layer.transform, rows, room, out, slope_of(room, e - layer.begin[j]));
    }
  }
}

Floats join(Aggregation aggregation, Floats a, Floats b) {
  if (aggregation == Aggregation::min) return least(a, b);
  return aggregation == Aggregation::max ? most(a, b) : a + b;
}

void combine(Aggregation aggregation, int n, int rows, Room& room, float* y) {
  fill(y, rows, aggregation == Aggregation::product ? 1.0f : 0.0f);
  for (int i = 0; i < n; ++i) {
    const float* from = part(room, i);
    for (int t = 0; t < rows; t += kWidth) {
      const Floats a = load(y + t), b = load(from + t);
      if (aggregation == Aggregation::product) {
        store(y + t, a * b);
      } else if (i == 0) {
        store(y + t, b);
      } else {
        store(y + t, join(aggregation, a, b));
      }
    }
  }
  if (aggregation == Aggregation::mean && n > 0) scale(1.0f / static_cast<float>(n), rows, y);
}

void forward_neuron(const LayerView& layer, const float* params, int j, int rows, float blend,
                    Room& room) {
  float* y = signal(room, layer.first_signal + j);
  if (adds(layer)) {
    const float start = layer.centred ? -params[layer.centre + static_cast<std::size_t>(j)] : 0.0f;
    fill(y, rows, start);
    Tables<AllFunctions>::add[layer.processing](neuron(layer, params, j, rows, blend, room), y);
  } else {
    spread(layer, params, j, rows, blend, room);
    combine(layer.aggregation, layer.begin[j + 1] - layer.begin[j], rows, room, y);
    if (layer.finish.exists()) {
      follow(layer.finish, rows, room, y, kept_slope(layer.finish, j, room));
    }
    if (layer.centred) {
      const float centre = params[layer.centre + static_cast<std::size_t>(j)];
      for (int t = 0; t < rows; ++t) y[t] -= centre;
    }
  }
  if (layer.activate.exists()) {
    follow(layer.activate, rows, room, y, kept_slope(layer.activate, j, room));
  } else {
    activate(layer.activation, rows, y);
  }
}

int point_of(const Place& place, float x) {
  const int point = static_cast<int>(x * (1.0f / kPoint)) - 1;
  return point < place.n_points ? point : place.n_points - 1;
}

void read_places(const NetworkView& net, const float* params, int rows, Room& room) {
  for (int p = 0; p < net.n_places; ++p) {
    const Place& place = net.places[p];
    const float* x = signal(room, place.channel);
    const float* places = params + place.places;
    float* out = signal(room, net.n_channels + p);
    for (int t = 0; t < rows; ++t) out[t] = x[t] < kPoint ? x[t] : places[point_of(place, x[t])];
  }
}

void forward(const NetworkView& net, const float* params, int rows, float blend, Room& room) {
  read_places(net, params, rows, room);
  for (int l = 0; l < net.n_layers; ++l) {
    for (int j = 0; j < net.layers[l].n_neurons; ++j) {
      forward_neuron(net.layers[l], params, j, rows, blend, room);
    }
  }
}

// ---- losses: the weighted sum, and its gradient times `scale` at the outputs ----

Outcome binary_loss(const float* z, const float* y, const float* weight, int rows, int n,
                    float scale, bool gradient, float* g) {
  Sum sum;
  for (int block = 0; block < rows; block += kSumLanes) {
    for (int v = 0; v < kSumVectors; ++v) {
      const int t = block + v * kWidth;
      const Floats zt = load(z + t), yt = load(y + t), wt = load(weight + t);
      const Floats e = fast_exp(-most(zt, -zt));
      sum.part[v] += wt * (most(zt, all(0.0f)) + fast_log1p_unit(e) - yt * zt);
      if (!gradient) continue;
      const Floats tail = e / (1.0f + e);
      const Floats p = zt < 0.0f ? tail : 1.0f - tail;
      store(g + t, scale * wt * (p - yt));
    }
  }
  int wrong = 0;
  for (int t = 0; t < n; ++t) wrong += (z[t] >= 0.0f) != (y[t] >= 0.5f);
  return {static_cast<double>(total(sum)), wrong};
}

Outcome categorical_loss(const float* z, const float* y, const float* weight, int rows, int n,
                         int classes, int stride, float scale, bool gradient, float* g,
                         float* scratch) {
  float* top = scratch;
  float* total = scratch + stride;
  for (int t = 0; t < rows; t += kWidth) {
    Floats highest = load(z + t), sum = all(0.0f);
    for (int k = 1; k < classes; ++k) highest = most(highest, load(z + k * stride + t));
    for (int k = 0; k < classes; ++k) {
      const Floats e = fast_exp(load(z + k * stride + t) - highest);
      store(g + k * stride + t, e);
      sum += e;
    }
    store(top + t, highest);
    store(total + t, sum);
  }
  double sum = 0.0;
  int wrong = 0;
  for (int t = 0; t < n; ++t) {
    const int label = static_cast<int>(y[t]);
    int first = 0;
    while (z[first * stride + t] < top[t]) ++first;
    wrong += first != label;
    const double gap = static_cast<double>(top[t]) - z[label * stride + t];
    sum += static_cast<double>(weight[t]) * (gap + __builtin_log(static_cast<double>(total[t])));
  }
  if (!gradient) return {sum, wrong};
  for (int k = 0; k < classes; ++k) {
    float* gk = g + k * stride;
    const float label = static_cast<float>(k);
    for (int t = 0; t < rows; t += kWidth) {
      const Floats hit = load(y + t) == label ? all(1.0f) : all(0.0f);
      store(gk + t, scale * load(weight + t) * (load(gk + t) / load(total + t) - hit));
    }
  }
  return {sum, wrong};
}

Outcome squared_loss(const float* z, const float* y, const float* weight, int rows, int outputs,
                     int stride, float scale, bool gradient, float* g) {
  const float share = 1.0f / static_cast<float>(outputs);
  double sum = 0.0;
  for (int k = 0; k < outputs; ++k) {
    Sum squares;
    for (int block = 0; block < rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) {
        const int t = block + v * kWidth;
        const Floats error = load(z + k * stride + t) - load(y + k * stride + t);
        const Floats wt = load(weight + t);
        squares.part[v] += wt * error * error;
        if (gradient) store(g + k * stride + t, 2.0f * scale * share * wt * error);
      }
    }
    sum += static_cast<double>(total(squares)) * share;
  }
  return {sum, 0};
}

// Losses that are means over the outputs: part(z, y, constant, gradient) of one vector of rows.
template <class Part>
double sum_part(const float* z, const float* y, const float* constant, const float* weight,
                int rows, float scale, float* g, Part part) {
  Sum sum;
  for (int block = 0; block < rows; block += kSumLanes) {
    for (int v = 0; v < kSumVectors; ++v) {
      const int t = block + v * kWidth;
      const Floats wt = load(weight + t);
      Floats slope;
      sum.part[v] += wt * part(load(z + t), load(y + t), load(constant + t), slope);
      if (g != nullptr) store(g + t, scale * wt * slope);
    }
  }
  return static_cast<double>(total(sum));
}

Floats tweedie_part(float power, Floats score, Floats y, Floats constant, Floats& slope) {
  const Floats z = most(least(score, all(kLargestLog)), all(-kLargestLog));
  const float rise = 2.0f - power, fall = 1.0f - power;
  const Floats up = rise == 0.0f ? all(1.0f) : fast_exp(rise * z);
  const Floats down = fall == 0.0f ? y : y * fast_exp(fall * z);
  slope = up - down;
  const Floats first = rise == 0.0f ? z : up / rise;
  return first + (fall == 0.0f ? -y * z : -down / fall) + constant;
}

Floats huber_part(float bend, Floats z, Floats y, Floats& slope) {
  const Floats error = z - y, size = most(error, -error);
  slope = most(least(error, all(bend)), all(-bend));
  return size <= bend ? 0.5f * error * error : bend * (size - 0.5f * bend);
}

Floats quantile_part(float level, float width, Floats z, Floats y, Floats& slope) {
  const Floats u = (y - z) / width, e = fast_exp(-most(u, -u)), tail = e / (1.0f + e);
  slope = 1.0f - level - (u < 0.0f ? tail : 1.0f - tail);
  return width * ((level - 1.0f) * u + most(u, all(0.0f)) + fast_log1p_unit(e));
}

Floats label_part(Floats z, Floats y, Floats& slope) {
  const Floats e = fast_exp(-most(z, -z)), tail = e / (1.0f + e);
  slope = (z < 0.0f ? tail : 1.0f - tail) - y;
  return most(z, all(0.0f)) + fast_log1p_unit(e) - y * z;
}

// The value and the slope of a loss of one's own stay in the registers.
Outcome formula_loss(const Objective& objective, const float* z, const Room& room, int rows, int n,
                     int outputs, float scale, bool gradient, float* g) {
  const float share = objective.factor / static_cast<float>(outputs);
  const std::size_t stride = static_cast<std::size_t>(room.stride);
  double sum = 0.0;
  int wrong = 0;
  for (int k = 0; k < outputs; ++k) {
    const CodeView code = objective.codes[static_cast<std::size_t>(k)].view();
    const std::size_t column = static_cast<std::size_t>(k) * stride;
    Register r[kMostRegisters];
    for (int i = 0; i < code.n_registers; ++i) {
      r[i] = {room.registers + static_cast<std::size_t>(i) * stride, 0};
    }
    for (int t = 0; t < rows; t += kWidth) {
      store(r[0].at + t, load(z + column + t));
      store(r[1].at + t, load(room.targets + column + t));
    }
    for (int i = 0; i < code.n_constants; ++i) {
      fill_row(r[code.n_inputs + i].at, rows, static_cast<float>(code.constants[i]));
    }
    run(code, r, 1, rows);
    const float *value = r[code.first_output()].at, *slope = r[code.first_output() + 1].at;
    sum += static_cast<double>(Formula::dot(value, room.weights, rows));
    for (int t = 0; gradient && t < rows; t += kWidth) {
      store(g + column + t, scale * share * load(room.weights + t) * load(slope + t));
    }
    for (int t = 0; objective.two_classes && t < n; ++t) {
      wrong += (z[column + t] >= 0.0f) != (room.targets[column + t] >= 0.5f);
    }
  }
  return {sum * share, wrong};
}

// Of ordered classes: limits are those below and above the class, and then a constant.
Outcome ordinal_loss(const float* z, const Room& room, int rows, int n, float scale, float* g) {
  const float *below = room.targets, *above = below + room.stride, *constant = above + room.stride;
  Sum sum;
  for (int block = 0; block < rows; block += kSumLanes) {
    for (int v = 0; v < kSumVectors; ++v) {
      const int t = block + v * kWidth;
      const Floats wt = load(room.weights + t);
      const Floats u = load(below + t) - load(z + t), o = load(z + t) - load(above + t);
      const Floats eu = fast_exp(-most(u, -u)), eo = fast_exp(-most(o, -o));
      const Floats tail_u = eu / (1.0f + eu), tail_o = eo / (1.0f + eo);
      const Floats lost = most(u, all(0.0f)) + fast_log1p_unit(eu) + most(o, all(0.0f)) +
                          fast_log1p_unit(eo) + load(constant + t);
      sum.part[v] += wt * lost;
      const Floats under = u < 0.0f ? tail_u : 1.0f - tail_u;
      const Floats over = o < 0.0f ? tail_o : 1.0f - tail_o;
      if (g != nullptr) store(g + t, scale * wt * (over - under));
    }
  }
  int wrong = 0;
  for (int t = 0; t < n; ++t) wrong += z[t] < below[t] || z[t] >= above[t];
  return {static_cast<double>(total(sum)), wrong};
}

Outcome output_loss(const Objective& objective, const float* z, const Room& room, int rows,
                    int outputs, float scale, bool gradient, float* g) {
  const float share = objective.factor / static_cast<float>(outputs);
  const float parameter = objective.parameter;
  double sum = 0.0;
  for (int k = 0; k < outputs; ++k) {
    const float* zk = z + k * room.stride;
    const float* y = room.targets + k * room.stride;
    float* gk = gradient ? g + k * room.stride : nullptr;
    if (objective == Loss::tweedie) {
      const float* constant = y + outputs * room.stride;
      sum += sum_part(zk, y, constant, room.weights, rows, scale * share, gk,
                      [=](Floats zt, Floats yt, Floats ct, Floats& slope) {
                        return tweedie_part(parameter, zt, yt, ct, slope);
                      });
    } else if (objective == Loss::labels) {
      sum += sum_part(
          zk, y, y, room.weights, rows, scale * share, gk,
          [](Floats zt, Floats yt, Floats, Floats& slope) { return label_part(zt, yt, slope); });
    } else if (objective == Loss::huber) {
      sum += sum_part(zk, y, y, room.weights, rows, scale * share, gk,
                      [=](Floats zt, Floats yt, Floats, Floats& slope) {
                        return huber_part(parameter, zt, yt, slope);
                      });
    } else {
      const float level = objective.levels[k];
      sum += sum_part(zk, y, y, room.weights, rows, scale * share, gk,
                      [=](Floats zt, Floats yt, Floats, Floats& slope) {
                        return quantile_part(level, parameter, zt, yt, slope);
                      });
    }
  }
  return {sum * share, 0};
}

Outcome loss(const NetworkView& net, const Objective& objective, int rows, int n, float scale,
             bool gradient, Room& room) {
  const std::size_t first = static_cast<std::size_t>(net.first_output()) * room.stride;
  const float* z = room.signals + first;
  float* g = room.gradients + first;
  switch (objective.loss) {
    case Loss::binary:
      return binary_loss(z, room.targets, room.weights, rows, n, scale, gradient, g);
    case Loss::categorical:
      return categorical_loss(z, room.targets, room.weights, rows, n, net.n_outputs, room.stride,
                              scale, gradient, g, room.scratch);
    case Loss::squared:
      return squared_loss(z, room.targets, room.weights, rows, net.n_outputs, room.stride, scale,
                          gradient, g);
    case Loss::formula:
      return formula_loss(objective, z, room, rows, n, net.n_outputs, scale, gradient, g);
    case Loss::ordinal:
      return ordinal_loss(z, room, rows, n, scale, gradient ? g : nullptr);
    default:
      return output_loss(objective, z, room, rows, net.n_outputs, scale, gradient, g);
  }
}

// ---- the backward pass ----

void deactivate(Activation activation, int rows, const float* y, float* g) {
  if (activation == Activation::identity) return;
  for (int t = 0; t < rows; t += kWidth) {
    const Floats yt = load(y + t), gt = load(g + t);
    switch (activation) {
      case Activation::sigmoid:
        store(g + t, gt * yt * (1.0f - yt));
        break;
      case Activation::tanh:
        store(g + t, gt * (1.0f - yt * yt));
        break;
      default:
        store(g + t, yt > 0.0f ? gt : all(0.0f));
    }
  }
}

// Turns the parts into d(product)/d(part) g, by products from both ends: no
// division, so that a part may be 0.
void product_slopes(int n, int rows, const float* g, Room& room) {
  const std::size_t stride = static_cast<std::size_t>(room.stride);
  for (int t = 0; t < rows; t += kWidth) {
    Floats before = load(g + t);
    for (int i = 0; i < n; ++i) {
      store(room.scratch + static_cast<std::size_t>(i) * stride + t, before);
      before *= load(part(room, i) + t);
    }
    Floats after = all(1.0f);
    for (int i = n - 1; i >= 0; --i) {
      float* at = part(room, i) + t;
      const Floats value = load(at);
      store(at, load(room.scratch + static_cast<std::size_t>(i) * stride + t) * after);
      after *= value;
    }
  }
}

// The gradient of min and max goes in equal shares to all parts that attain it.
void extreme_slopes(Aggregation aggregation, int n, int rows, const float* g, Room& room) {
  float* extreme = room.scratch;
  combine(aggregation, n, rows, room, extreme);
  for (int t = 0; t < rows; t += kWidth) {
    const Floats best = load(extreme + t);
    Floats count = all(0.0f);
    for (int i = 0; i < n; ++i) {
      count += load(part(room, i) + t) == best ? all(1.0f) : all(0.0f);
    }
    const Floats share = load(g + t) / count;
    for (int i = 0; i < n; ++i) {
      float* at = part(room, i) + t;
      store(at, load(at) == best ? share : all(0.0f));
    }
  }
}

void part_slopes(Aggregation aggregation, int n, int rows, const float* g, Room& room) {
  if (aggregation == Aggregation::product) return product_slopes(n, rows, g, room);
  if (aggregation == Aggregation::min || aggregation == Aggregation::max) {
    return extreme_slopes(aggregation, n, rows, g, room);
  }
  const float share = aggregation == Aggregation::mean ? 1.0f / static_cast<float>(n) : 1.0f;
  for (int i = 0; i < n; ++i) {
    for (int t = 0; t < rows; t += kWidth) store(part(room, i) + t, load(g + t) * share);
  }
}

void backward_neuron(const NetworkView& net, const LayerView& layer, const float* params, int j,
                     int rows, float blend, Room& room, float* gradient) {
  float* g = gradient_of(room, layer.first_signal + j);
  if (layer.activate.exists()) {
    multiply(kept_slope(layer.activate, j, room), rows, g);
  } else {
    deactivate(layer.activation, rows, signal(room, layer.first_signal + j), g);
  }
  if (layer.centred) {
    Sum sum;
    for (int block = 0; block < rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) sum.part[v] += load(g + block + v * kWidth);
    }
    gradient[layer.centre + static_cast<std::size_t>(j)] -= total(sum);
  }
  const int begin = layer.begin[j], n = layer.begin[j + 1] - begin;
  if (!adds(layer)) {
    spread(layer, params, j, rows, blend, room);
    if (layer.finish.exists()) multiply(kept_slope(layer.finish, j, room), rows, g);
    part_slopes(layer.aggregation, n, rows, g, room);
    for (int i = 0; layer.transform.exists() && i < n; ++i) {
      multiply(slope_of(room, i), rows, part(room, i));
    }
  }
  const std::size_t first = static_cast<std::size_t>(begin);
  const std::size_t factor = first * static_cast<std::size_t>(layer.factors);
  Slopes slopes;
  slopes.w = gradient + layer.w + factor;
  slopes.b = gradient + layer.b + factor;
  slopes.alpha = layer.weighted ? gradient + layer.alpha + first : nullptr;
  const std::size_t more = layer.code.lines == nullptr
                               ? 0
                               : static_cast<std::size_t>(layer.code.n_inputs - layer.factors);
  slopes.parameters = gradient + layer.parameters + first * more;
  slopes.gradients = room.gradients;
  slopes.first_wanted = net.n_channels;
  Tables<AllFunctions>::pull[layer.processing](neuron(layer, params, j, rows, blend, room),
                                               adds(layer) ? g : room.parts,
                                               adds(layer) ? 0 : room.stride, slopes);
}

// Adds to `gradient`; expects the outputs' gradients where `loss` left them.
void backward(const NetworkView& net, const float* params, int rows, float blend, Room& room,
              float* gradient) {
  for (int s = net.n_channels; s < net.first_output(); ++s) {
    fill(gradient_of(room, s), rows, 0.0f);
  }
  for (int l = net.n_layers - 1; l >= 0; --l) {
    for (int j = 0; j < net.layers[l].n_neurons; ++j) {
      backward_neuron(net, net.layers[l], params, j, rows, blend, room, gradient);
    }
  }
  for (int p = 0; p < net.n_places; ++p) {
    const Place& place = net.places[p];
    const float* x = signal(room, place.channel);
    const float* g = gradient_of(room, net.n_channels + p);
    for (int t = 0; t < rows; ++t) {
      if (x[t] >= kPoint) {
        gradient[place.places + static_cast<std::size_t>(point_of(place, x[t]))] += g[t];
      }
    }
  }
}

// ---- Adam with decoupled decay; share 0 freezes a parameter ----

// With signs a parameter stays on its side of 0.
void hold_signs(float* params, const float* sign, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (sign[i] * params[i] < 0.0f) params[i] = 0.0f;
  }
}

void adam(float* __restrict params, float* __restrict mean, float* __restrict square,
          const float* __restrict gradient, const float* __restrict share,
          const float* __restrict decay, const float* sign, std::size_t n, AdamStep step) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean[i] = 0.9f * mean[i] + 0.1f * g;
    square[i] = 0.999f * square[i] + 0.001f * g * g;
    const float size = __builtin_sqrtf(square[i] * step.correction2) + 1e-7f;
    const float rate = step.rate * share[i];
    const float moved = params[i] - rate * (mean[i] * step.correction1) / size;
    params[i] = moved * (1.0f - rate * decay[i]);
  }
  if (sign != nullptr) hold_signs(params, sign, n);
}

// The yardstick of benchmarks/speed.py: one sigmoid for each edge and row.
void bare_sigmoid(const float* x, int rows, const float* w, const float* b, int edges, float* out) {
  for (int t = 0; t < rows; t += kWidth) {
    const Floats xt = load(x + t);
    Floats sum = load(out + t);
    for (int e = 0; e < edges; ++e) sum += fast_sigmoid(w[e] * (xt - b[e]));
    store(out + t, sum);
  }
}

}  // namespace

namespace NEWRON_ISA {
extern const Passes passes;
const Passes passes = {NEWRON_STRING(NEWRON_ISA), load,        forward, loss, backward, adam,
                       exact::NEWRON_ISA::pass,   bare_sigmoid};
}  // namespace NEWRON_ISA

}  // namespace newron
