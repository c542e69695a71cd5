// saccade::roi_align for torch, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "common/dispatch.h"
#include "common/operators.h"
#include "roi_align/roi_align.h"

SACCADE_DISPATCH(roi_align_forward, const saccade_roi_align)
SACCADE_DISPATCH(roi_align_backward, const saccade_roi_align)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Maps [N, C, H, W] as the launchers read them, [N, H, W, C].
Tensor rows_of_channels(const Tensor& map) { return map.permute({0, 2, 3, 1}).contiguous(); }
Tensor as_maps(const Tensor& rows) { return rows.permute({0, 3, 1, 2}); }

// A tensor as the launchers read it, on the device of another.
Tensor beside(const Tensor& other, const Tensor& t, at::ScalarType type) {
  return t.to(other.device(), type).contiguous();
}

// What all calls have in common.
struct Settings {
  std::vector<double> scales;
  std::vector<int64_t> output;
  int64_t sampling_ratio;
  bool aligned;
};

saccade_roi_align arguments(const Settings& settings, const Tensor& like, int64_t n,
                            int64_t channels, const std::vector<saccade_level>& levels,
                            const Tensor& rois, const Tensor& level_of) {
  saccade_roi_align a = {};
  a.type = type_of(like);
  a.n = n;
  a.channels = channels;
  a.levels = static_cast<int64_t>(levels.size());
  a.regions = rois.size(0);
  a.height = settings.output[0];
  a.width = settings.output[1];
  a.sampling_ratio = settings.sampling_ratio;
  a.aligned = settings.aligned;
  std::copy(levels.begin(), levels.end(), a.level);
  a.rois = data(rois);
  a.level_of = level_of.data_ptr<int64_t>();
  return a;
}

void check_inputs(at::TensorList maps, const Tensor& rois, const Tensor& level_of,
                  const Settings& settings) {
  TORCH_CHECK(!maps.empty() && maps.size() <= std::size(saccade_roi_align{}.level) &&
                  maps.size() == settings.scales.size(),
              "saccade::roi_align: ", maps.size(), " maps, ", settings.scales.size(), " scales");
  for (const Tensor& map : maps) {
    TORCH_CHECK(map.dim() == 4 && map.size(0) == maps[0].size(0) &&
                    map.size(1) == maps[0].size(1) && map.scalar_type() == maps[0].scalar_type(),
                "saccade::roi_align: maps ", maps[0].sizes(), " and ", map.sizes(),
                ", expected [N, C, H, W] of one N, C and type");
  }
  TORCH_CHECK(rois.dim() == 2 && rois.size(1) == 5 && level_of.dim() == 1 &&
                  level_of.size(0) == rois.size(0),
              "saccade::roi_align: rois ", rois.sizes(), ", levels ", level_of.sizes(),
              ", expected [R, 5] and [R]");
  TORCH_CHECK(settings.output.size() == 2 && settings.output[0] > 0 && settings.output[1] > 0 &&
                  settings.sampling_ratio >= 0,
              "saccade::roi_align: output ", settings.output, ", sampling_ratio ",
              settings.sampling_ratio);
}

// Where reading them would not make a program wait for a GPU.
void check_places(const Tensor& places, int64_t count, const char* what) {
  if (places.is_cuda()) return;
  for (const int64_t place : at::IntArrayRef(places.data_ptr<int64_t>(), places.numel())) {
    TORCH_CHECK(place >= 0 && place < count, "saccade::roi_align: ", what, " ", place, " of ",
                count);
  }
}

Tensor forward(at::TensorList maps, const Tensor& rois, const Tensor& level_of,
               const Settings& settings) {
  check_inputs(maps, rois, level_of, settings);
  std::vector<Tensor> rows;
  std::vector<saccade_level> levels;
  for (size_t l = 0; l < maps.size(); l++) {
    rows.push_back(rows_of_channels(maps[l]));
    levels.push_back(
        {maps[l].size(2), maps[l].size(3), settings.scales[l], data(rows[l]), nullptr});
  }
  const Tensor r = beside(maps[0], rois, sums(maps[0])), of = beside(maps[0], level_of, at::kLong);
  check_places(r.select(1, 0).to(at::kLong).contiguous(), maps[0].size(0), "image");
  check_places(of, static_cast<int64_t>(maps.size()), "level");
  Tensor out = at::empty({r.size(0), settings.output[0], settings.output[1], maps[0].size(1)},
                         maps[0].options());
  saccade_roi_align a =
      arguments(settings, maps[0], maps[0].size(0), maps[0].size(1), levels, r, of);
  a.out = data(out);
  launch("roi_align", out, saccade_roi_align_forward, saccade_roi_align_forward_cuda, a);
  return as_maps(out);
}

class RoiAlign : public torch::autograd::Function<RoiAlign> {
 public:
  static Tensor forward(AutogradContext* context, at::TensorList maps, const Tensor& rois,
                        const Tensor& level_of, const Settings& settings) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor out = saccade::forward(maps, rois, level_of, settings);
    std::vector<int64_t> shapes = {maps[0].size(0), maps[0].size(1)};
    for (const Tensor& map : maps) shapes.insert(shapes.end(), {map.size(2), map.size(3)});
    context->save_for_backward({rois, level_of});
    context->saved_data["shapes"] = shapes;
    context->saved_data["scales"] = settings.scales;
    context->saved_data["sampling_ratio"] = settings.sampling_ratio;
    context->saved_data["aligned"] = settings.aligned;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::vector<int64_t> shapes = context->saved_data["shapes"].toIntVector();
    const Tensor d_out = rows_of_channels(gradients[0]);
    const Settings settings = {context->saved_data["scales"].toDoubleVector(),
                               {d_out.size(1), d_out.size(2)},
                               context->saved_data["sampling_ratio"].toInt(),
                               context->saved_data["aligned"].toBool()};
    variable_list d_maps;
    std::vector<saccade_level> levels;
    for (size_t l = 0; l < settings.scales.size(); l++) {
      const int64_t h = shapes[2 + 2 * l], w = shapes[3 + 2 * l];
      Tensor d_map;
      if (context->needs_input_grad(l))
        d_map = at::empty({shapes[0], h, w, shapes[1]}, d_out.options());
      levels.push_back({h, w, settings.scales[l], nullptr, data(d_map)});
      d_maps.push_back(d_map.defined() ? as_maps(d_map) : d_map);
    }
    const Tensor r = beside(d_out, saved[0], sums(d_out)), of = beside(d_out, saved[1], at::kLong);
    saccade_roi_align a = arguments(settings, d_out, shapes[0], shapes[1], levels, r, of);
    a.d_out = data(d_out);
    launch("roi_align", d_out, saccade_roi_align_backward, saccade_roi_align_backward_cuda, a);
    d_maps.resize(d_maps.size() + 3);
    return d_maps;
  }
};

Settings settings_of(at::ArrayRef<double> scales, at::IntArrayRef output, int64_t sampling_ratio,
                     bool aligned) {
  return {scales.vec(), output.vec(), sampling_ratio, aligned};
}

Tensor without_gradients(at::TensorList maps, const Tensor& rois, const Tensor& levels,
                         at::ArrayRef<double> scales, at::IntArrayRef output,
                         int64_t sampling_ratio, bool aligned) {
  return forward(maps, rois, levels, settings_of(scales, output, sampling_ratio, aligned));
}

Tensor with_gradients(at::TensorList maps, const Tensor& rois, const Tensor& levels,
                      at::ArrayRef<double> scales, at::IntArrayRef output, int64_t sampling_ratio,
                      bool aligned) {
  return RoiAlign::apply(maps, rois, levels, settings_of(scales, output, sampling_ratio, aligned));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "roi_align(Tensor[] maps, Tensor rois, Tensor levels, float[] scales, int[] output, "
      "int sampling_ratio, bool aligned) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("roi_align", without_gradients); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("roi_align", without_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("roi_align", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) { m.impl("roi_align", with_gradients); }

}  // namespace saccade
