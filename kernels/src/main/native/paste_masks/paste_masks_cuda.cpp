// Maps of masks on a canvas, on a GPU.

#include "cuda/cuda.h"
#include "paste_masks/paste_masks.h"

using namespace saccade::cuda;

extern "C" int saccade_paste_masks_forward_cuda(const saccade_paste_masks* a,
                                                const saccade_cuda* cuda) {
  constexpr int COLUMNS = 256, ROWS = 32;  // of pixels, of a block, as in paste_masks.cu
  if (!saccade_paste_masks_is_sound(a) || a->height * a->width >= 1ll << 31) return -1;
  const int down = static_cast<int>(ceil_div(a->height, ROWS)),
            across = static_cast<int>(ceil_div(a->width, COLUMNS));
  return launch(*cuda, {"paste_masks/paste_masks.cu", "paste_masks", ""},
                {a->n * down * across, COLUMNS}, *a, down, across);
}
