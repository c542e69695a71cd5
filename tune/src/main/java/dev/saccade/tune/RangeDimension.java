package dev.saccade.tune;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.SplittableRandom;

/**
 * A positive number, log-uniform between two bounds, rounded to 3 digits.
 *
 * @param isWhole whether to round to whole numbers instead
 */
record RangeDimension(String name, String key, double low, double high, boolean isWhole)
        implements Dimension {

    private static final MathContext DIGITS = new MathContext(3);

    @Override
    public Choice sample(SplittableRandom random) {
        double value = low * Math.pow(high / low, random.nextDouble());
        if (isWhole) {
            String whole = Long.toString(Math.round(value));
            return Choice.of(whole, key + "=" + whole);
        }
        String text = new BigDecimal(value).round(DIGITS).toString();
        return Choice.of(text, key + "=" + Double.parseDouble(text));
    }
}
