// saccade::focal_bias for torch, with its gradients: on CPUs, in floats.

#include "focal_bias/focal_bias.h"

#include <torch/csrc/autograd/custom_function.h>

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(focal_bias_forward, const saccade_focal_bias)
SACCADE_DISPATCH(focal_bias_backward, const saccade_focal_bias)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

int64_t root(int64_t square) {
  const int64_t side = static_cast<int64_t>(std::sqrt(static_cast<double>(square)) + 0.5);
  TORCH_CHECK(side * side == square, "saccade::focal_bias: a table of ", square,
              " distances, expected those of a square");
  return side;
}

// The tables in the order in which they come: of the window, of its ring where there is one, and of
// the levels.
struct Tables {
  variable_list all;
  int64_t window, expand, heads, keys;
  std::vector<int64_t> cells;

  Tables(at::TensorList given, int64_t window, int64_t expand)
      : window(window),
        expand(expand),
        heads(0),
        keys((window + 2 * expand) * (window + 2 * expand)) {
    const size_t first = expand > 0 ? 2 : 1;
    TORCH_CHECK(window > 0 && expand >= 0 && expand <= window && given.size() >= first,
                "saccade::focal_bias: ", given.size(), " tables, a window of ", window,
                " and a ring of ", expand);
    for (const Tensor& table : given) {
      TORCH_CHECK(table.scalar_type() == at::kFloat, "saccade::focal_bias: numbers of type ",
                  table.scalar_type(), ", expected Float");
      all.push_back(table.contiguous());
    }
    heads = all[0].size(1);
    const int64_t area = window * window;
    const int64_t around = 4 * (area - (window - expand) * (window - expand));
    TORCH_CHECK(all[0].dim() == 2 && root(all[0].size(0)) >= 2 * window - 1 &&
                    (expand == 0 || all[1].numel() == heads * area * around),
                "saccade::focal_bias: own ", all[0].sizes(), " and neighbors ",
                expand > 0 ? all[1].sizes() : at::IntArrayRef(), ", expected [(2 M - 1)^2, heads]",
                " and [1, heads, M^2, ", around, "] for M ", window);
    for (size_t i = first; i < all.size(); i++) {
      TORCH_CHECK(all[i].dim() == 2 && all[i].size(0) == heads && root(all[i].size(1)) >= window,
                  "saccade::focal_bias: windows ", all[i].sizes(),
                  ", expected [heads, (M + cells - 1)^2] for M ", window);
      cells.push_back(root(all[i].size(1)) - window + 1);
      keys += cells.back() * cells.back();
    }
  }

  // Calls the launcher with the tables and, going backward, their gradients.
  template <class Launcher>
  void run(Launcher launcher, const Tensor& bias, const Tensor& d_bias,
           const variable_list& d_all) const {
    const size_t first = expand > 0 ? 2 : 1;
    std::vector<const float*> windows;
    std::vector<float*> d_windows;
    for (size_t i = first; i < all.size(); i++) {
      windows.push_back(all[i].const_data_ptr<float>());
      if (!d_all.empty()) d_windows.push_back(d_all[i].data_ptr<float>());
    }
    saccade_focal_bias a = {};
    a.heads = heads;
    a.window = window;
    a.expand = expand;
    a.side = root(all[0].size(0));
    a.levels = static_cast<int64_t>(cells.size());
    a.cells = cells.data();
    a.own = all[0].const_data_ptr<float>();
    a.neighbors = expand > 0 ? all[1].const_data_ptr<float>() : nullptr;
    a.windows = windows.data();
    a.bias = bias.data_ptr<float>();
    a.d_bias = static_cast<const float*>(data(d_bias));
    a.d_own = d_all.empty() ? nullptr : d_all[0].data_ptr<float>();
    a.d_neighbors = d_all.empty() || expand == 0 ? nullptr : d_all[1].data_ptr<float>();
    a.d_windows = d_windows.data();
    check(launcher(&a), "focal_bias");
  }
};

Tensor focal_bias(at::TensorList tables, int64_t window, int64_t expand) {
  const Tables t(tables, window, expand);
  const Tensor bias = at::empty({t.heads, window * window, t.keys}, t.all[0].options());
  t.run(saccade_focal_bias_forward, bias, {}, {});
  return bias;
}

class FocalBias : public torch::autograd::Function<FocalBias> {
 public:
  static Tensor forward(AutogradContext* context, at::TensorList tables, int64_t window,
                        int64_t expand) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor bias = focal_bias(tables, window, expand);
    variable_list saved = tables.vec();
    saved.push_back(bias);
    context->save_for_backward(std::move(saved));
    context->saved_data["window"] = window;
    context->saved_data["expand"] = expand;
    return bias;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    variable_list tables = context->get_saved_variables();
    const Tensor bias = tables.back();
    tables.pop_back();
    const Tables t(tables, context->saved_data["window"].toInt(),
                   context->saved_data["expand"].toInt());
    variable_list by;
    for (const Tensor& table : t.all) by.push_back(at::empty_like(table));
    t.run(saccade_focal_bias_backward, bias, gradients[0].contiguous(), by);
    by.resize(by.size() + 2);
    return by;
  }
};

Tensor focal_bias_with_gradients(at::TensorList tables, int64_t window, int64_t expand) {
  return FocalBias::apply(tables, window, expand);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("focal_bias(Tensor[] tables, int window, int expand) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("focal_bias", focal_bias); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("focal_bias", focal_bias_with_gradients); }

}  // namespace saccade
