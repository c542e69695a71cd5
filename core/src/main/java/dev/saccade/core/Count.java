package dev.saccade.core;

/** Says how many there are of something, in English. */
public final class Count {

    private Count() {}

    /**
     * Returns a number and what is counted, such as {@code 1 class} or {@code 3 classes}.
     *
     * @param noun what one of them is called; its plural must be regular
     */
    public static String of(long number, String noun) {
        if (number == 1) {
            return "1 " + noun;
        }
        boolean hisses = noun.matches(".*(s|x|z|[^o]ch|sh)");
        return number + " " + noun + (hisses ? "es" : "s");
    }
}
