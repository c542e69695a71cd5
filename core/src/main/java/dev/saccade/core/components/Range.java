package dev.saccade.core.components;

/**
 * Range from {@code low}, inclusive, to {@code high}, exclusive. YAML: {@code [LOW, HIGH]}, or
 * {@code HIGH} if {@code low} is 0, like mmdetection's {@code neg_iou_thr}.
 */
public record Range(double low, double high) {

    @Override
    public String toString() {
        return low == 0 ? String.valueOf(high) : "[" + low + ", " + high + "]";
    }
}
