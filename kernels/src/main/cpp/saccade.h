/* The compute launchers: plain C, rows of channels (NHWC), no types of torch.
 *
 * Every launcher takes one description of its arguments and returns 0, or a negative number where it
 * cannot do what is asked. What a launcher adds up over threads it adds up in an order that does not
 * depend on their number. */
#ifndef SACCADE_H
#define SACCADE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What numbers are stored as; sums are float, or double where double is stored. */
typedef enum { SACCADE_FLOAT = 0, SACCADE_DOUBLE = 1, SACCADE_HALF = 2, SACCADE_BFLOAT16 = 3 } saccade_type;

/* "avx512", "avx2", or "" where the processor has neither and no launcher works. */
const char* saccade_instruction_set(void);

/* What the processor can do at best with the threads it has, measured: float additions and
 * multiplications a second, and bytes read and written a second. */
typedef struct {
  double operations, bytes;
} saccade_ceilings_result;

int saccade_ceilings(saccade_ceilings_result*);

/* What a launcher for a GPU gets beside its arguments, whose arrays lie in the memory of the GPU. */
typedef struct {
  int device;
  void* stream;
  /* Memory of the GPU that is kept until what was launched is done with it, or null. */
  void* (*allocate)(void* context, int64_t bytes);
  void* context;
} saccade_cuda;

/* y[n,y,x,c] = sum_o (mul[o,c] softmax(logits)[n,y,x,g(c),o] + add[o,c]) v[n,(y,x) + dilation o,c];
 * zero outside of the map. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, groups, depth; /* depth: channels of a group */
  int64_t kernel, dilation;
  const void* values;   /* [n, h, w, groups * depth] */
  const void* logits;   /* [n, h, w, groups, kernel^2] */
  const void* mul;      /* [kernel^2, groups * depth], of the type of sums; null: ones */
  const void* add;      /* the same; null: zeros */
  void* out;            /* forward: [n, h, w, groups * depth] */
  const void* d_out;    /* backward: the same */
  void* d_values;       /* backward */
  void* d_logits;       /* backward */
  void* d_mul;          /* backward: [kernel^2, groups * depth], of the type of sums; null: not wanted */
  void* d_add;          /* the same */
} saccade_elsa_attention;

int saccade_elsa_attention_forward(const saccade_elsa_attention*);
int saccade_elsa_attention_backward(const saccade_elsa_attention*);
int saccade_elsa_attention_forward_cuda(const saccade_elsa_attention*, const saccade_cuda*);
int saccade_elsa_attention_backward_cuda(const saccade_elsa_attention*, const saccade_cuda*);

/* y[n,y,x,c] = bias[c] + sum_(o,i) weight[c,i,o] x[n,(y,x) + o,g(c) width + i]: a convolution of narrow
 * groups that keeps the size of the map; zero outside of it. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, groups, width; /* width: channels of a group, 1, 2, 4, or 8 where sums are float */
  int64_t kernel;                 /* odd */
  const void* x;                  /* [n, h, w, groups * width] */
  const void* weight;             /* [kernel^2, width, groups * width], of the type of sums: by offset,
                                     input of a group, output; for the gradient of x: by offset turned
                                     round, output of a group, input */
  const void* bias;               /* [groups * width], of the type of sums; null: zeros */
  void* out;                      /* forward */
  const void* d_out;              /* gradient of the weight: that of the output */
  void* d_weight;                 /* gradient of the weight, shaped as it */
} saccade_grouped_convolution;

int saccade_grouped_convolution_forward(const saccade_grouped_convolution*);
int saccade_grouped_convolution_weight(const saccade_grouped_convolution*);
int saccade_grouped_convolution_forward_cuda(const saccade_grouped_convolution*, const saccade_cuda*);
int saccade_grouped_convolution_weight_cuda(const saccade_grouped_convolution*, const saccade_cuda*);

/* out = softmax(q k^T / sqrt(depth) + bias + mask) v of the tokens of every window, over the keys that
 * the index lists for the window. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, heads, depth;
  int64_t window;          /* tokens along a side; h and w are whole windows */
  int64_t cells, keys;
  int64_t masks;           /* rows of the mask of a window: 1 or window^2 */
  const void* qkv;         /* [n, h, w, 3, heads, depth] */
  const void* pooled;      /* [n, cells, 3, heads, depth]; the queries are not used */
  const void* bias;        /* [heads, window^2, keys], of the type of sums */
  const int32_t* index;    /* [windows, keys]: 0 for zeros, 1 for the first token, then the cells */
  const void* mask;        /* [windows, masks, keys], of the type of sums */
  void* out;               /* forward: [n, h, w, heads, depth] */
  const void* d_out;       /* backward: the same */
  void* d_qkv;             /* backward: [n, h, w, 3, heads, depth] */
  void* d_pooled;          /* backward: [n, cells, 3, heads, depth] */
  void* d_bias;            /* backward: [heads, window^2, keys], of the type of sums */
} saccade_focal_attention;

int saccade_focal_attention_forward(const saccade_focal_attention*);
int saccade_focal_attention_backward(const saccade_focal_attention*);
int saccade_focal_attention_forward_cuda(const saccade_focal_attention*, const saccade_cuda*);
int saccade_focal_attention_backward_cuda(const saccade_focal_attention*, const saccade_cuda*);

/* One level of a pyramid of maps. */
typedef struct {
  int64_t h, w;
  double scale;       /* cells a pixel */
  const void* map;    /* forward: [n, h, w, channels] */
  void* d_map;        /* backward: the same; null: not wanted */
} saccade_level;

/* Means over the bins of regions, of values interpolated between the cells of a level (RoIAlign). */
typedef struct {
  saccade_type type;
  int64_t n, channels, levels, regions;
  int64_t height, width;        /* bins of a region */
  int64_t sampling_ratio;       /* points along each axis of a bin; 0: one a cell */
  int aligned;                  /* whether cells are centred at half-integers */
  saccade_level level[8];       /* the first levels of them */
  const void* rois;             /* [regions, 5]: image, x1, y1, x2, y2, of the type of sums */
  const int64_t* level_of;      /* [regions] */
  void* out;                    /* forward: [regions, height, width, channels]; on a GPU NaN for a region
                                   of no image or level */
  const void* d_out;            /* backward: the same */
} saccade_roi_align;

int saccade_roi_align_forward(const saccade_roi_align*);
int saccade_roi_align_backward(const saccade_roi_align*);
int saccade_roi_align_forward_cuda(const saccade_roi_align*, const saccade_cuda*);
int saccade_roi_align_backward_cuda(const saccade_roi_align*, const saccade_cuda*);

/* Greedy suppression of boxes whose IoU with a better one of their group, which stays, exceeds a
 * threshold. Boxes of group g are moved by g * (largest coordinate + 1) first; where coordinates are
 * far below 0, groups touch. */
typedef struct {
  int64_t n;
  const float* boxes;       /* [n, 4]: x1, y1, x2, y2 */
  const float* scores;      /* [n] */
  const int64_t* groups;    /* [n], from 0 to before 2^31 */
  float iou_threshold;
  int64_t* keep;            /* [n]: those that stay, best first, of equal ones the first */
  int64_t* kept;            /* how many stay; -1 where a group is out of range */
} saccade_nms;

int saccade_nms_forward(const saccade_nms*);
int saccade_nms_forward_cuda(const saccade_nms*, const saccade_cuda*);

/* softmax(scale q k^T + table) v for every head of every window. The map is padded at the bottom and
 * right to whole windows and rolled to the top left; what the roll brought beside a query from the
 * other side of the map gets -100 on its logit. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, heads, depth;  /* depth: channels of a head */
  int64_t rows, columns;          /* tokens of a window */
  int64_t down, right;            /* how far windows are shifted, less than that */
  int pads_first;                 /* whether the map is padded before it is rolled */
  int64_t side;                   /* of the square of the table, odd */
  int64_t queries, keys, values;  /* which third of the packed channels they are */
  double scale;
  const void* packed;   /* [n, h, w, 3, heads * depth] */
  const void* padding;  /* [3, heads * depth]: what a padded token is */
  const void* table;    /* [side^2, heads], of the type of sums, row (dy + side / 2) side + dx +
                         * side / 2 for a query dy below and dx right of its key; null: zeros */
  void* out;            /* forward: [n, h, w, heads * depth] */
  const void* d_out;    /* backward: the same */
  void* d_packed;       /* backward */
  void* d_padding;      /* backward: [3, heads * depth], of the type of sums */
  void* d_table;        /* backward: [side^2, heads], of the type of sums; null: not wanted */
} saccade_window_attention;

int saccade_window_attention_forward(const saccade_window_attention*);
int saccade_window_attention_backward(const saccade_window_attention*);
int saccade_window_attention_forward_cuda(const saccade_window_attention*, const saccade_cuda*);
int saccade_window_attention_backward_cuda(const saccade_window_attention*, const saccade_cuda*);

/* out = (s - mean) scale weight + bias over the channels of every row of s = x + residual, where scale
 * is 1 / sqrt(variance + eps). */
typedef struct {
  saccade_type type;
  int64_t rows, channels;
  double eps;
  const void* x;          /* [rows, channels]; backward: s */
  const void* residual;   /* forward: the same; null: zeros */
  const void* weight;     /* [channels], of the type of sums */
  const void* bias;       /* forward: the same */
  void* sum;              /* forward: s, where there is a residual */
  void* out;              /* forward: [rows, channels] */
  void* mean;             /* [rows], of the type of sums: forward gives it, backward takes it; null: not
                           * wanted */
  void* scale;            /* the same */
  const void* d_out;      /* backward: [rows, channels] */
  const void* d_sum;      /* backward: what is added to the gradient of s; null: zeros */
  void* d_x;              /* backward: gradient of s */
  void* d_weight;         /* backward: [channels], of the type of sums; added to */
  void* d_bias;           /* the same */
} saccade_layer_norm;

int saccade_layer_norm_forward(const saccade_layer_norm*);
int saccade_layer_norm_backward(const saccade_layer_norm*);
int saccade_layer_norm_forward_cuda(const saccade_layer_norm*, const saccade_cuda*);
int saccade_layer_norm_backward_cuda(const saccade_layer_norm*, const saccade_cuda*);

/* out = start + left right, matrices of every image. The types have one type of sums. */
typedef struct {
  saccade_type left_type, right_type, out_type;
  int64_t n, rows, columns, inner;
  int left_turned, right_turned;  /* whether they are stored column by column */
  const void* left;     /* [n, rows, inner]; turned: [n, inner, rows] */
  const void* right;    /* [n, inner, columns]; turned: [n, columns, inner] */
  const void* start;    /* [n, columns], the same for all rows, of the type of sums; null: zeros */
  void* out;            /* [n, rows, columns] */
} saccade_product;

int saccade_product_forward(const saccade_product*);

/* mean[n,h] = sum_t softmax_t(saliency[h] x[n,t]) x[n,t]: the mean over the tokens of an image, by
 * what is salient to a head. */
typedef struct {
  saccade_type type;
  int64_t n, tokens, heads, channels;
  const void* x;          /* [n, tokens, channels] */
  const void* saliency;   /* [heads, channels], of the type of sums */
  void* mean;             /* [n, heads, channels], of the type of sums */
  void* level;            /* [n, heads], of the type of sums: logarithms of the sums of exponentials */
  const void* d_mean;     /* backward: as mean */
  void* d_x;              /* backward: added to */
  void* d_saliency;       /* backward: [n, heads, channels], of the type of sums, for every image */
} saccade_salient_mean;

int saccade_salient_mean_forward(const saccade_salient_mean*);
int saccade_salient_mean_backward(const saccade_salient_mean*);
int saccade_salient_mean_forward_cuda(const saccade_salient_mean*, const saccade_cuda*);
int saccade_salient_mean_backward_cuda(const saccade_salient_mean*, const saccade_cuda*);

/* Euclidean norms: that of all tensors as one vector, then that of each. Where the tensors are on a
 * GPU, the lists of them are not; nor are sizes, rates and decays below. */
typedef struct {
  int64_t tensors;
  const int64_t* size;          /* [tensors]: numbers of each */
  const float* const* values;   /* [tensors][size] */
  float* out;                   /* [1 + tensors] */
} saccade_norms;

int saccade_norms_forward(const saccade_norms*);
int saccade_norms_forward_cuda(const saccade_norms*, const saccade_cuda*);

/* One step of AdamW, in place, for g = scale gradient:
 * mean = beta1 mean + (1 - beta1) g; square = beta2 square + (1 - beta2) g^2;
 * weight = (1 - rate decay) weight - rate / (1 - beta1^step) mean /
 *          (sqrt(square) / sqrt(1 - beta2^step) + epsilon);
 * average = average_decay average + (1 - average_decay) weight. */
typedef struct {
  int64_t tensors;
  const int64_t* size;             /* [tensors]: numbers of each */
  float* const* weight;            /* [tensors][size] */
  const float* const* gradient;    /* the same */
  float* const* mean;              /* the same */
  float* const* square;            /* the same */
  float* const* average;           /* the same; null: none is kept */
  float* const* step;              /* [tensors][1]: steps taken, to which this one is added first */
  const double* rate;              /* [tensors] */
  const double* decay;             /* [tensors] */
  double beta1, beta2, epsilon;
  double scale;                    /* below 1 where gradients are clipped */
  double average_decay;
} saccade_adamw;

int saccade_adamw_step(const saccade_adamw*);
int saccade_adamw_step_cuda(const saccade_adamw*, const saccade_cuda*);

/* Maps of probabilities, interpolated over their boxes on a canvas with zeros around them, against a
 * threshold. */
typedef struct {
  int64_t n, h, w;          /* of the maps */
  int64_t height, width;    /* of the canvas */
  float threshold;
  const float* masks;       /* [n, h, w] */
  const float* boxes;       /* [n, 4]: x1, y1, x2, y2, in pixels of the canvas */
  uint8_t* out;             /* [n, height, width]: 1 for at least the threshold, up to a pixel beyond
                               the box; else 0 */
} saccade_paste_masks;

int saccade_paste_masks_forward(const saccade_paste_masks*);
int saccade_paste_masks_forward_cuda(const saccade_paste_masks*, const saccade_cuda*);

/* Regions of bitmaps, brought to one size by RoIAlign, against one half. */
typedef struct {
  int64_t n, h, w;          /* of the bitmaps */
  int64_t regions, side;
  const uint8_t* masks;     /* [n, h, w]: 0 or 1 */
  const float* boxes;       /* [regions, 4]: x1, y1, x2, y2, in pixels; what is outside is cut off */
  const int64_t* mask_of;   /* [regions] */
  float* out;               /* [regions, side, side]: 0 or 1 */
} saccade_mask_targets;

int saccade_mask_targets_forward(const saccade_mask_targets*);
int saccade_mask_targets_forward_cuda(const saccade_mask_targets*, const saccade_cuda*);

#ifdef __cplusplus
}
#endif
#endif
