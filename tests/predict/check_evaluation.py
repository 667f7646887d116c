"""Computes the scores of test_evaluation.c again, from the pictures and masks alone, with numpy, scipy and what the papers say.

check_evaluation.py FOLDER EVALUATION.JSON SEED: prints a JSON object of the largest difference of each kind.

The net of the test names class 1 where red + green + blue exceed 1.5 times white, else class 0: its scores are 1.5, (r + g + b) / 255 and -1."""
import json
import os
import sys

import numpy as np
from PIL import Image
from scipy import ndimage

VALUES, N, BAND, BINS = [3, 200, 7], 3, 3, 15
CROSS = ndimage.generate_binary_structure(2, 1)
EIGHT = ndimage.generate_binary_structure(2, 2)


def load(folder, name):
    rgb = np.asarray(Image.open(os.path.join(folder, 'images', 'val', name)).convert('RGB')).astype(np.float64)
    mask = np.asarray(Image.open(os.path.join(folder, 'masks', 'val', name)))
    truth = np.full(mask.shape, -1)
    for i, v in enumerate(VALUES):
        truth[mask == v] = i
    light = rgb.sum(axis=2) / 255
    logits = np.stack([np.full_like(light, 1.5), light, np.full_like(light, -1)])
    share = np.exp(logits - logits.max(axis=0))
    return truth, logits.argmax(axis=0), (share / share.sum(axis=0)).max(axis=0)


def iou(confusion):
    with np.errstate(invalid='ignore'):
        tp = np.diag(confusion)
        return tp / (confusion.sum(0) + confusion.sum(1) - tp)


def edge(mask, void):
    """Pixels of mask with a neighbour, up, down, left or right, that is neither of it nor void nor outside."""
    return mask & ~ndimage.binary_erosion(mask | void, CROSS, border_value=1)


def boundary_f1(truth, call):
    void, scores = truth < 0, []
    for c in range(N):
        t, p = edge(truth == c, void), edge((call == c) & ~void, void)
        if not t.any() and not p.any():
            scores.append(np.nan)
            continue
        far = float('inf')
        to_t = ndimage.distance_transform_edt(~t) if t.any() else np.full(t.shape, far)
        to_p = ndimage.distance_transform_edt(~p) if p.any() else np.full(p.shape, far)
        precision = (to_t[p] <= BAND).mean() if p.any() else 0
        recall = (to_p[t] <= BAND).mean() if t.any() else 0
        scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0)
    return scores


def add_regions(truth, call, scores):
    void = truth < 0
    for c in range(N):
        t, nt = ndimage.label(truth == c, EIGHT)
        p, _ = ndimage.label((call == c) & ~void, EIGHT)
        for k in range(1, nt + 1):
            mine = t == k
            touching = np.isin(p, np.setdiff1d(np.unique(p[mine]), [0]))
            others = (truth == c) & ~mine
            size = int(np.searchsorted([100, 1000, 10000], mine.sum(), side='right'))
            scores[c][2 * size] += 1
            scores[c][2 * size + 1] += (mine & touching).sum() / ((mine | touching) & ~others).sum()


class Random:
    """xoshiro256** seeded by splitmix64 (Blackman and Vigna)."""
    M = (1 << 64) - 1

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9e3779b97f4a7c15) & self.M
            z = seed
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & self.M
            z = (z ^ z >> 27) * 0x94d049bb133111eb & self.M
            self.s.append(z ^ z >> 31)

    def next(self):
        s, rot = self.s, lambda x, k: (x << k | x >> 64 - k) & self.M
        r = rot(s[1] * 5 & self.M, 7) * 9 & self.M
        t = s[1] << 17 & self.M
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rot(s[3], 45)
        return r


def interval(matrices, indices):
    scores = [np.nanmean(iou(matrices[rows].sum(0))) for rows in indices]
    return np.percentile(scores, [2.5, 97.5])


def gap(ours, theirs):
    a, b = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    assert (np.isnan(a) == np.isnan(b)).all(), (a, b)
    return float(np.nanmax(np.abs(a - b))) if a.size else 0.0


def main():
    folder, path, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(path, encoding='utf-8') as f:
        e = json.load(f, parse_constant=lambda name: sys.exit(f'{name} is no JSON'))
    names = [p['name'] + '.png' for p in e['pictures']]
    matrices, f1, regions, sure, right = [], [], np.zeros((N, 8)), [], []
    for name in names:
        truth, call, share = load(folder, name)
        judged = truth >= 0
        matrices.append(np.bincount(truth[judged] * N + call[judged], minlength=N * N).reshape(N, N))
        f1.append(boundary_f1(truth, call))
        add_regions(truth, call, regions)
        sure.append(share[judged])
        right.append((truth == call)[judged])
    matrices, f1, sure, right = np.array(matrices), np.array(f1), np.concatenate(sure), np.concatenate(right)
    all_ = matrices.sum(0)
    tp, rows, columns = np.diag(all_), all_.sum(1), all_.sum(0)
    scores = e['class_scores']

    def column(key):
        return [np.nan if s[key] is None else s[key] for s in scores]

    with np.errstate(invalid='ignore'):
        out = {
            'iou': gap(column('iou'), iou(all_)),
            'precision': gap(column('precision'), tp / columns),
            'recall': gap(column('recall'), tp / rows),
            'f1': gap(column('f1'), 2 * tp / (rows + columns)),
            'miou': gap(e['miou'], np.nanmean(iou(all_))),
            'accuracy': gap(e['pixel_accuracy'], tp.sum() / all_.sum()),
            'weighted': gap(e['weighted_iou'], np.nansum(rows / all_.sum() * iou(all_))),
            'pictures': gap([p['miou'] for p in e['pictures']], [np.nanmean(iou(m)) for m in matrices]),
            'boundary': gap(e['boundary_f1'], np.nanmean(np.nanmean(f1, axis=1))),
            'boundary_class': gap(column('boundary_f1'), np.nanmean(f1, axis=0)),
            'boundary_picture': gap([p['boundary_f1'] for p in e['pictures']], np.nanmean(f1, axis=1)),
            'regions': gap([s['regions'] for s in scores], regions),
        }
    m = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    counts = np.bincount(m, minlength=BINS)
    ece = sum(counts[b] / sure.size * abs(right[m == b].mean() - sure[m == b].mean()) for b in range(BINS) if counts[b])
    out['calibration'] = gap(e['calibration_error'], ece)
    out['bins'] = gap(e['reliability'][0::3], counts)
    n = len(names)
    # As tm_random_int(): the high half of a word, times n, without its low half.
    random = Random(seed)
    ours = np.array([[(random.next() >> 32) * n >> 32 for _ in range(n)] for _ in range(1000)])
    theirs = np.random.default_rng(7).integers(0, n, (5000, n))
    out['bootstrap'] = gap([e['miou_low'], e['miou_high']], interval(matrices, ours))
    out['bootstrap_numpy'] = gap([e['miou_low'], e['miou_high']], interval(matrices, theirs))
    out['bootstrap_width'] = e['miou_high'] - e['miou_low']
    out['pictures_n'] = n
    print(json.dumps(out))


main()
