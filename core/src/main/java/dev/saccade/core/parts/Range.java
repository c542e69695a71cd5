package dev.saccade.core.parts;

/**
 * Numbers from {@code low}, included, to {@code high}, excluded. Configs write {@code [LOW, HIGH]},
 * or {@code HIGH} alone if {@code low} is 0, like mmdetection's {@code neg_iou_thr}.
 */
public record Range(double low, double high) {

    @Override
    public String toString() {
        return low == 0 ? String.valueOf(high) : "[" + low + ", " + high + "]";
    }
}
