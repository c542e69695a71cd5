#!/usr/bin/env python3
"""Trains a torchvision detector with the settings of torchvision's reference script, and writes detections.

The settings (references/detection/train.py) for one process: SGD with learning rate 0.02 / 8, momentum 0.9
and weight decay 1e-4, batches of 2, horizontal flips, a linear warm-up in the first epoch, and the learning
rate times 0.1 after 16/26 and 22/26 of the epochs. Needs torchvision and pycocotools.

Example:
  torchvision_detector.py sets/bccd25-0 detections.json --model fasterrcnn_mobilenet_v3_large_320_fpn --epochs 10
"""
import argparse
import json
import random

import torch
import torchvision
from torchvision.transforms import functional


class CocoBoxes(torch.utils.data.Dataset):
    """Images with boxes in corner format; class indices start at 1."""

    def __init__(self, root, part, is_training):
        with open(f"{root}/annotations_{part}.json", encoding="utf-8") as file:
            coco = json.load(file)
        self.root, self.images, self.is_training = root, coco["images"], is_training
        self.categories = [category["id"] for category in coco["categories"]]
        self.labels = {image["id"]: [] for image in coco["images"]}
        for label in coco["annotations"]:
            if not label.get("iscrowd"):
                self.labels[label["image_id"]].append(label)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        path = f"{self.root}/images/{image['file_name']}"
        pixels = torchvision.io.decode_image(path, torchvision.io.ImageReadMode.RGB).float() / 255
        labels = self.labels[image["id"]]
        boxes = torch.tensor([label["bbox"] for label in labels], dtype=torch.float32).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        classes = torch.tensor([self.categories.index(label["category_id"]) + 1 for label in labels], dtype=torch.int64)
        if self.is_training and random.random() < 0.5:
            pixels = functional.hflip(pixels)
            boxes[:, [0, 2]] = pixels.shape[-1] - boxes[:, [2, 0]]
        return pixels, {"boxes": boxes, "labels": classes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="COCO data set: annotations_train.json, annotations_val.json, images/")
    parser.add_argument("detections", help="write detections on the validation images to this JSON file")
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", help="checkpoint that torchvision published for the model")
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    train = CocoBoxes(args.data, "train", is_training=True)
    model = create(args.model, len(train.categories) + 1, args.weights)
    fit(model, train, args.epochs)
    results = predict(model, CocoBoxes(args.data, "val", is_training=False))
    with open(args.detections, "w", encoding="utf-8") as file:
        json.dump(results, file)


def create(name, classes, weights):
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=classes)
    if weights:
        state, own = torch.load(weights, weights_only=True), model.state_dict()
        fitting = {key: value for key, value in state.items() if own[key].shape == value.shape}
        model.load_state_dict(fitting, strict=False)
        print(f"loaded {len(fitting)} of {len(own)} tensors")
    return model


def fit(model, dataset, epochs):
    loader = torch.utils.data.DataLoader(dataset, batch_size=2, shuffle=True, num_workers=0, collate_fn=collate)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02 / 8, momentum=0.9, weight_decay=1e-4)
    milestones = [round(epochs * 16 / 26), round(epochs * 22 / 26)]
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones, gamma=0.1)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 1e-3, total_iters=max(1, min(1000, len(loader) - 1)))
    model.train()
    for epoch in range(epochs):
        for images, targets in loader:
            loss = sum(model(images, targets).values())
            if not torch.isfinite(loss):
                raise SystemExit(f"epoch {epoch}: the loss is not finite")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if epoch == 0:
                warmup.step()
        schedule.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}", flush=True)


def collate(samples):
    return tuple(zip(*samples))


@torch.inference_mode()
def predict(model, dataset):
    model.eval()
    results = []
    for index, image in enumerate(dataset.images):
        found = model([dataset[index][0]])[0]
        for (left, top, right, bottom), label, score in zip(
                found["boxes"].tolist(), found["labels"].tolist(), found["scores"].tolist()):
            results.append({"image_id": image["id"], "category_id": dataset.categories[label - 1],
                            "bbox": [left, top, right - left, bottom - top], "score": score})
    return results


if __name__ == "__main__":
    main()
