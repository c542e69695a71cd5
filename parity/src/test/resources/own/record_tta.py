"""Records test-time augmentation of mmdetection 3.3.0 heads, merged like aug_test of mmdetection 2.11,
which 3.x removed: python record_tta.py tta [CASE ...]

Needs mmdet 3.3.0 with mmcv's RoIAlign and NMS. All computations use mmdetection's heads, coders and
NMS; only aug_test itself is rewritten here.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from mmdet.models.layers import multiclass_nms
from mmdet.models.roi_heads.mask_heads.fcn_mask_head import _do_paste_mask
from mmdet.registry import MODELS
from mmdet.structures.bbox import bbox2roi
from mmdet.utils import register_all_modules
from mmengine.config import ConfigDict
from mmcv.ops import nms

ORIGINAL = (50, 75)
VIEWS = [(64, 96, False), (64, 96, True), (96, 144, False), (96, 144, True)]
WIDTH = 8
CLASSES = 3
L1 = {"type": "L1Loss", "loss_weight": 1.0}
ENTROPY = {"type": "CrossEntropyLoss", "loss_weight": 1.0}


def coder(stds):
    return {"type": "DeltaXYWHBBoxCoder", "target_means": [0.0] * 4, "target_stds": stds}


def assigner(positive, negative, least, low_quality):
    return {
        "type": "MaxIoUAssigner",
        "pos_iou_thr": positive,
        "neg_iou_thr": negative,
        "min_pos_iou": least,
        "match_low_quality": low_quality,
        "ignore_iof_thr": -1,
    }


def sampler(number, fraction, with_objects):
    return {
        "type": "RandomSampler",
        "num": number,
        "pos_fraction": fraction,
        "neg_pos_ub": -1,
        "add_gt_as_proposals": with_objects,
    }


def extractor(size):
    return {
        "type": "SingleRoIExtractor",
        "roi_layer": {"type": "RoIAlign", "output_size": size, "sampling_ratio": 0},
        "out_channels": WIDTH,
        "featmap_strides": [4, 8, 16, 32],
        "finest_scale": 14,
    }


def box_head(stds):
    return {
        "type": "Shared2FCBBoxHead",
        "in_channels": WIDTH,
        "fc_out_channels": 16,
        "roi_feat_size": 4,
        "num_classes": CLASSES,
        "bbox_coder": coder(stds),
        "reg_class_agnostic": False,
        "loss_cls": {**ENTROPY, "use_sigmoid": False},
        "loss_bbox": L1,
    }


MASK_HEAD = {
    "type": "FCNMaskHead",
    "num_convs": 1,
    "roi_feat_size": 6,
    "in_channels": WIDTH,
    "conv_out_channels": WIDTH,
    "num_classes": CLASSES,
    "loss_mask": {**ENTROPY, "use_mask": True},
}


def two_stages(stds):
    heads = [box_head(s) for s in stds]
    roi_head = {
        "bbox_roi_extractor": extractor(4),
        "mask_roi_extractor": extractor(6),
    }
    rcnn = {
        "assigner": assigner(0.5, 0.5, 0.5, False),
        "sampler": sampler(512, 0.25, True),
        "pos_weight": -1,
    }
    if len(stds) == 1:
        roi_head |= {"type": "StandardRoIHead", "bbox_head": heads[0], "mask_head": MASK_HEAD}
    else:
        roi_head |= {
            "type": "CascadeRoIHead",
            "num_stages": len(stds),
            "stage_loss_weights": [1.0, 0.5, 0.25],
            "bbox_head": heads,
            "mask_head": [MASK_HEAD] * len(stds),
        }
        rcnn = [rcnn] * len(stds)
    return {
        "rpn_head": {
            "type": "RPNHead",
            "in_channels": WIDTH,
            "feat_channels": WIDTH,
            "anchor_generator": {
                "type": "AnchorGenerator",
                "scales": [4],
                "ratios": [0.5, 1.0, 2.0],
                "strides": [4, 8, 16, 32, 64],
            },
            "bbox_coder": coder([1.0] * 4),
            "loss_cls": {**ENTROPY, "use_sigmoid": True},
            "loss_bbox": L1,
        },
        "roi_head": roi_head,
        "train_cfg": {
            "rpn": {
                "assigner": assigner(0.7, 0.3, 0.3, True),
                "sampler": sampler(256, 0.5, False),
                "allowed_border": -1,
                "pos_weight": -1,
            },
            "rcnn": rcnn,
        },
        "test_cfg": {
            "rpn": {
                "nms_pre": 60,
                "max_per_img": 40,
                "nms": {"type": "nms", "iou_threshold": 0.7},
                "min_bbox_size": 0,
            },
            "rcnn": {
                "score_thr": 0.35,
                "nms": {"type": "nms", "iou_threshold": 0.5},
                "max_per_img": 12,
                "mask_thr_binary": 0.5,
            },
        },
    }


def htc():
    settings = two_stages([[0.1, 0.1, 0.2, 0.2], [0.05, 0.05, 0.1, 0.1]])
    roi_head = settings["roi_head"]
    heads = [{**head, "reg_class_agnostic": True} for head in roi_head["bbox_head"]]
    settings["roi_head"] = {
        **roi_head,
        "type": "HybridTaskCascadeRoIHead",
        "interleaved": True,
        "mask_info_flow": True,
        "stage_loss_weights": [1.0, 0.5],
        "bbox_head": heads,
        "mask_head": [
            {**MASK_HEAD, "type": "HTCMaskHead", "with_conv_res": stage > 0} for stage in range(2)
        ],
        "semantic_fusion": ["bbox", "mask"],
        "semantic_roi_extractor": {**extractor(8), "featmap_strides": [8]},
        "semantic_head": {
            "type": "FusedSemanticHead",
            "num_ins": 5,
            "fusion_level": 1,
            "seg_scale_factor": 0.125,
            "num_convs": 1,
            "in_channels": WIDTH,
            "conv_out_channels": WIDTH,
            "num_classes": 4,
            "loss_seg": {"type": "CrossEntropyLoss", "ignore_index": 255, "loss_weight": 0.2},
        },
    }
    return settings


RETINA = {
    "bbox_head": {
        "type": "RetinaHead",
        "num_classes": CLASSES,
        "in_channels": WIDTH,
        "feat_channels": WIDTH,
        "stacked_convs": 1,
        "anchor_generator": {
            "type": "AnchorGenerator",
            "octave_base_scale": 4,
            "scales_per_octave": 3,
            "ratios": [0.5, 1.0, 2.0],
            "strides": [4, 8, 16, 32, 64],
        },
        "bbox_coder": coder([1.0] * 4),
        "loss_cls": {
            "type": "FocalLoss",
            "use_sigmoid": True,
            "gamma": 2.0,
            "alpha": 0.25,
            "loss_weight": 1.0,
        },
        "loss_bbox": L1,
    },
    "train_cfg": {
        "assigner": assigner(0.5, 0.4, 0, True),
        "allowed_border": -1,
        "pos_weight": -1,
    },
    "test_cfg": {
        "nms_pre": 60,
        "score_thr": 0.5,
        "nms": {"type": "nms", "iou_threshold": 0.5},
        "max_per_img": 20,
        "min_bbox_size": 0,
    },
}

CASES = {
    "mask_rcnn": two_stages([[0.1, 0.1, 0.2, 0.2]]),
    "cascade_mask_rcnn": two_stages(
        [[0.1, 0.1, 0.2, 0.2], [0.05, 0.05, 0.1, 0.1], [0.033, 0.033, 0.067, 0.067]]
    ),
    "htc": htc(),
    "retinanet": RETINA,
}


class View:
    def __init__(self, features, height, width, flip):
        scale = (np.float32(width / ORIGINAL[1]), np.float32(height / ORIGINAL[0]))
        self.features = features
        self.flip = flip
        self.scale = features[0].new_tensor([*scale, *scale])
        self.meta = {
            "img_shape": (height, width),
            "ori_shape": ORIGINAL,
            "pad_shape": (height, width),
            "scale_factor": [float(s) for s in scale],
            "flip": flip,
        }

    def flipped(self, boxes):
        width = self.meta["img_shape"][1]
        turned = boxes.clone()
        turned[:, 0::4], turned[:, 2::4] = width - boxes[:, 2::4], width - boxes[:, 0::4]
        return turned

    def mapping(self, boxes):
        """bbox_mapping of 2.11: from the image into the view."""
        scaled = (boxes.view(-1, 4) * self.scale).view(boxes.shape)
        return self.flipped(scaled) if self.flip else scaled

    def mapping_back(self, boxes):
        """bbox_mapping_back of 2.11."""
        upright = self.flipped(boxes) if self.flip else boxes
        return (upright.view(-1, 4) / self.scale).view(boxes.shape)


def merged_proposals(rpn, views, config):
    """RPNTestMixin.aug_test_rpn and merge_aug_proposals; 2.11 keeps boxes without area."""
    boxes, scores = [], []
    config = ConfigDict({**config, "min_bbox_size": -1})
    for view in views:
        cls, reg = rpn(view.features)
        found = rpn.predict_by_feat(cls, reg, batch_img_metas=[view.meta], cfg=config)[0]
        boxes.append(view.mapping_back(found.bboxes))
        scores.append(found.scores)
    boxes, scores = torch.cat(boxes), torch.cat(scores)
    _, kept = nms(boxes, scores, config.nms.iou_threshold)
    return boxes[kept], scores[kept]


def stages_of(roi_head):
    standard = not isinstance(roi_head.bbox_head, torch.nn.ModuleList)
    heads = [roi_head.bbox_head] if standard else list(roi_head.bbox_head)
    masks = [roi_head.mask_head] if standard else list(roi_head.mask_head)
    extract = roi_head.bbox_roi_extractor if standard else roi_head.bbox_roi_extractor[0]
    extract_mask = roi_head.mask_roi_extractor if standard else roi_head.mask_roi_extractor[0]
    return heads, masks, extract, extract_mask


def pooled(roi_head, branch, extract, view, rois):
    features = extract(view.features[:4], rois)
    if getattr(roi_head, "with_semantic", False) and branch in roi_head.semantic_fusion:
        semantic = roi_head.semantic_head(view.features)[1]
        added = roi_head.semantic_roi_extractor([semantic], rois)
        features = features + F.adaptive_avg_pool2d(added, features.shape[-2:])
    return features


def masks_of(heads, features):
    """The masks of all stages; heads of HTC take in the features of those before."""
    masks, before = [], None
    for head in heads:
        if type(head).__name__ == "HTCMaskHead":
            drawn, before = head(features, before)
        else:
            drawn = head(features)
        masks.append(drawn.sigmoid())
    return masks


def two_stage_views(model, config, views):
    """aug_test of StandardRoIHead, of CascadeRoIHead and of HybridTaskCascadeRoIHead."""
    proposals, scores = merged_proposals(model["rpn_head"], views, config.rpn)
    margin = edge(scores, config.rpn.max_per_img)
    proposals = proposals[: config.rpn.max_per_img]
    heads, mask_heads, extract, extract_mask = stages_of(model["roi_head"])
    all_boxes, all_scores = [], []
    for view in views:
        rois = bbox2roi([view.mapping(proposals)])
        logits = 0
        for stage, head in enumerate(heads):
            cls, reg = head(pooled(model["roi_head"], "bbox", extract, view, rois))
            logits = logits + cls
            if stage < len(heads) - 1:
                label = cls[:, :-1].argmax(1)
                moved = head.regress_by_class(rois[:, 1:], label, reg, view.meta)
                rois = torch.cat([rois[:, :1], moved], 1)
        found = heads[-1]._predict_by_feat_single(rois, logits / len(heads), reg, view.meta)
        all_boxes.append(view.mapping_back(found.bboxes.view(len(rois), -1)))
        all_scores.append(found.scores)
    boxes, scores = torch.stack(all_boxes).mean(0), torch.stack(all_scores).mean(0)
    rcnn = config.rcnn
    dets, labels = multiclass_nms(boxes, scores, rcnn.score_thr, rcnn.nms, -1)
    margin = min(margin, gap(dets[:, 4], rcnn.max_per_img), apart(scores, rcnn.score_thr))
    dets, labels = dets[: rcnn.max_per_img], labels[: rcnn.max_per_img]
    if len(dets) == 0:
        return dets, labels, None, margin
    all_masks = []
    for view in views:
        rois = bbox2roi([view.mapping(dets[:, :4])])
        features = pooled(model["roi_head"], "mask", extract_mask, view, rois)
        for masks in masks_of(mask_heads, features):
            all_masks.append(masks.flip(-1) if view.flip else masks)
    masks = torch.stack(all_masks).mean(0)[torch.arange(len(labels)), labels]
    pasted, _ = _do_paste_mask(
        masks[:, None].float(), dets[:, :4].float(), *ORIGINAL, skip_empty=False
    )
    margin = min(margin, apart(pasted, rcnn.mask_thr_binary))
    packed = np.packbits((pasted >= rcnn.mask_thr_binary).numpy())
    return dets, labels, packed, margin


def retina_views(model, config, views):
    """BBoxTestMixin.aug_test_bboxes over get_bboxes(with_nms=False) of 2.11."""
    head = model["bbox_head"]
    all_boxes, all_scores, margin = [], [], 1.0
    for view in views:
        cls, reg = head(view.features)
        sizes = [level.shape[-2:] for level in cls]
        anchors = head.prior_generator.grid_priors(sizes, dtype=cls[0].dtype, device="cpu")
        for level in range(len(cls)):
            scores = cls[level][0].permute(1, 2, 0).reshape(-1, CLASSES).sigmoid()
            deltas = reg[level][0].permute(1, 2, 0).reshape(-1, 4)
            boxes = anchors[level]
            if len(scores) > config.nms_pre:
                best, top = scores.max(1).values.sort(descending=True)
                margin = min(margin, edge(best, config.nms_pre))
                top = top[: config.nms_pre]
                scores, deltas, boxes = scores[top], deltas[top], boxes[top]
            decoded = head.bbox_coder.decode(boxes, deltas, max_shape=view.meta["img_shape"])
            all_boxes.append(view.mapping_back(decoded))
            all_scores.append(scores)
    boxes, scores = torch.cat(all_boxes), torch.cat(all_scores)
    scores = torch.cat([scores, scores.new_zeros(len(scores), 1)], 1)
    dets, labels = multiclass_nms(boxes, scores, config.score_thr, config.nms, -1)
    margin = min(margin, gap(dets[:, 4], config.max_per_img), apart(scores, config.score_thr))
    return dets[: config.max_per_img], labels[: config.max_per_img], None, margin


def edge(scores, count):
    """How sure it is which scores are among the first."""
    return float(scores[count - 1] - scores[count]) if len(scores) > count else 1.0


def gap(scores, count):
    """How sure it is which scores are among the first, and in which order those stand."""
    return float((scores[:-1] - scores[1:])[:count].min()) if len(scores) > 1 else 1.0


def apart(values, threshold):
    return float((values - threshold).abs().min())


def build(settings):
    """Heads with weights and biases of multiples of 1/256, all of them."""
    model = torch.nn.ModuleDict()
    for name in ("rpn_head", "roi_head", "bbox_head"):
        if name in settings:
            config = json.loads(json.dumps(settings[name]))
            model[name] = MODELS.build(ConfigDict(config))
    for name, value in model.state_dict().items():
        fan_in = value[0].numel() if value.dim() > 1 else 4
        spread = 0.4 if any(end in name for end in ("rpn_reg", "retina_")) else 1.4
        value.copy_((torch.randn_like(value) * spread / fan_in**0.5 * 256).round() / 256)
    return model.eval()


def features(height, width, dtype):
    maps = []
    for stride in (4, 8, 16, 32, 64):
        shape = (1, WIDTH, -(-height // stride), -(-width // stride))
        maps.append((torch.randn(shape) * 4).round().div(4).to(dtype))
    return maps


def record(folder, name, seed):
    torch.manual_seed(seed)
    settings = CASES[name]
    model = build(settings)
    views = [View(features(h, w, torch.float32), h, w, flip) for h, w, flip in VIEWS]
    find = retina_views if name == "retinanet" else two_stage_views
    config = ConfigDict(settings["test_cfg"])
    dets, labels, masks, margin = find(model, config, views)
    exact = [View([m.double() for m in v.features], *v.meta["img_shape"], v.flip) for v in views]
    again, labels_again, _, _ = find(model.double(), config, exact)
    if len(dets) < 5 or len(labels.unique()) == 1:
        return f"{len(dets)} objects of {len(labels.unique())} classes"
    if len(dets) != len(again) or not torch.equal(labels, labels_again):
        return "not the same objects in double precision"
    if margin < 2e-5 or (dets - again).abs().max() > 2e-4:
        return f"margin {margin:.2g}, deviation {(dets - again).abs().max():.2g}"
    arrays = {"dets": dets.numpy(), "labels": labels.numpy()}
    if masks is not None:
        arrays |= {"masks": masks, "masks_shape": np.array([len(dets), *ORIGINAL])}
    for v, view in enumerate(views):
        arrays |= {f"view{v}_level{l}": m.numpy() for l, m in enumerate(view.features)}
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    torch.save({"state_dict": model.float().state_dict()}, folder / "weights.pth")
    case = {
        "kind": "tta",
        "source": "heads of mmdet 3.3.0, merged as aug_test of mmdet 2.11",
        "seed": seed,
        "model": settings,
        "weights_key": "state_dict",
        "views": [view.meta for view in views],
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    print(name, "seed", seed, len(dets), "objects, margin", margin)
    print(dets[:3], labels)
    return None


if __name__ == "__main__":
    register_all_modules()
    with torch.no_grad():
        for case_name in sys.argv[2:] or CASES:
            for attempt in range(1000):
                refusal = record(pathlib.Path(sys.argv[1]) / case_name, case_name, attempt)
                if refusal is None:
                    break
                if attempt % 25 == 0:
                    print(case_name, attempt, refusal, flush=True)
