"""Compares trackers on the same detections by HOTA, IDF1 and identity switches.

usage: compare.py SCORE FOLDER...

Every folder contains gt.txt, det.txt and saccade_*.txt, as TrackingBench.java writes them. Needs numpy, scipy,
trackeval, supervision<0.28 (ByteTrack) and trackers (OC-SORT). Prints one line of JSON per folder and tracker.
"""

import json
import sys
from pathlib import Path

import numpy as np
from trackeval.metrics import CLEAR, HOTA, Identity


def read(path):
    rows = np.loadtxt(path, delimiter=",", ndmin=2)
    return rows[np.argsort(rows[:, 0], kind="stable")]


def boxes(rows):
    return np.concatenate([rows[:, 2:4], rows[:, 2:4] + rows[:, 4:6]], 1)


def ious(first, second):
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), 2)
    areas = [np.prod(each[:, 2:] - each[:, :2], 1) for each in (first, second)]
    return shared / (areas[0][:, None] + areas[1][None] - shared)


def evaluate(truth, found):
    frames = int(max(truth[:, 0].max(), found[:, 0].max() if len(found) else 0))
    ids = [{each: i for i, each in enumerate(np.unique(rows[:, 1]))} for rows in (truth, found)]
    data = {
        "num_timesteps": frames,
        "num_gt_ids": len(ids[0]),
        "num_tracker_ids": len(ids[1]),
        "num_gt_dets": len(truth),
        "num_tracker_dets": len(found),
        "gt_ids": [],
        "tracker_ids": [],
        "similarity_scores": [],
    }
    for frame in range(1, frames + 1):
        now = [rows[rows[:, 0] == frame] for rows in (truth, found)]
        for key, rows, of in zip(("gt_ids", "tracker_ids"), now, ids):
            data[key].append(np.array([of[each] for each in rows[:, 1]], int))
        data["similarity_scores"].append(ious(boxes(now[0]), boxes(now[1])))
    hota = HOTA().eval_sequence(data)
    quiet = {"PRINT_CONFIG": False}
    identity = Identity(quiet).eval_sequence(data)
    clear = CLEAR(quiet).eval_sequence(data)
    return {
        "HOTA": round(float(np.mean(hota["HOTA"])), 4),
        "AssA": round(float(np.mean(hota["AssA"])), 4),
        "IDF1": round(float(identity["IDF1"]), 4),
        "IDSW": int(clear["IDSW"]),
        "MOTA": round(float(clear["MOTA"]), 4),
        "tracks": len(ids[1]),
    }


def peer(tracker, detections):
    import supervision as sv

    tracks = []
    for frame in range(1, int(detections[:, 0].max()) + 1):
        rows = detections[detections[:, 0] == frame]
        found = sv.Detections(
            xyxy=boxes(rows),
            confidence=rows[:, 6],
            class_id=rows[:, 7].astype(int),
        )
        update = getattr(tracker, "update_with_detections", None) or tracker.update
        for xyxy, number in zip((result := update(found)).xyxy, result.tracker_id):
            if number is not None and number >= 0:
                tracks.append([frame, number, *xyxy[:2], *(xyxy[2:] - xyxy[:2]), 1, 1, 1])
    return np.array(tracks, float).reshape(-1, 9)


def peers(score):
    import supervision as sv

    if hasattr(sv, "ByteTrack"):
        for match in (0.9, 0.8):
            yield f"supervision ByteTrack, matching {match}", sv.ByteTrack(
                track_activation_threshold=score, minimum_matching_threshold=match
            )
        return
    from trackers import ByteTrackTracker, OCSORTTracker

    yield "trackers OC-SORT", OCSORTTracker(high_conf_det_threshold=score)
    yield "trackers ByteTrack", ByteTrackTracker(
        track_activation_threshold=score, high_conf_det_threshold=score
    )


def main(score, folders):
    for folder in map(Path, folders):
        truth = read(folder / "gt.txt")
        detections = read(folder / "det.txt")
        for name, tracker in peers(score):
            result = evaluate(truth, peer(tracker, detections))
            print(json.dumps({"sequence": folder.name, "tracker": name, **result}), flush=True)
        for file in sorted(folder.glob("saccade_*.txt")):
            result = evaluate(truth, read(file))
            print(json.dumps({"sequence": folder.name, "tracker": file.stem, **result}), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
