package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;

class ClassComparisonTest {

    private static ClassAp cup(double before, double after) {
        return new ClassAp("cup", "AP", Optional.of(before), Optional.of(after));
    }

    @Test
    void findsClassesThatLostTooMuch() {
        ClassAp unknown = new ClassAp("fork", "AP", Optional.empty(), Optional.empty());
        ClassAp lost = cup(0.8, 0.7);
        ClassComparison all =
                new ClassComparison(
                        List.of(lost, cup(0.8, 0.79), cup(0.5, 0.9), unknown), List.of());
        assertEquals(List.of(lost), all.dropped(0.01));
        assertEquals(List.of(), all.dropped(0.1));
        assertEquals(0.1, all.largestDrop(), 1e-9);
        assertEquals(0.1, all.acceptedDrop(), 0);
        assertEquals(0, new ClassComparison(List.of(cup(0.5, 0.9)), List.of()).largestDrop());
        ClassComparison slight = new ClassComparison(List.of(cup(0.8, 0.7659)), List.of());
        assertEquals(0.035, slight.acceptedDrop(), 0);
        assertEquals(List.of(), slight.dropped(slight.acceptedDrop()));
        assertEquals("cup: AP 0.800 before, 0.700 after", lost.toString());
    }

    @Test
    void escapesNames() {
        ClassComparison all =
                new ClassComparison(List.of(), List.of(added("cup\n\u001b[2J", "AP", 0.9)));
        assertTrue(all.toString().contains("cup\\n\\u001b[2J "), all.toString());
    }

    @Test
    void averagesTheMasksOfNewClasses() {
        ClassComparison all =
                new ClassComparison(
                        List.of(),
                        List.of(
                                added("cup", "AP", 0.9),
                                added("cup", "mask_AP", 0.4),
                                added("fork", "mask_AP", 0.6),
                                new ClassAp(
                                        "spoon", "mask_AP", Optional.empty(), Optional.empty())));
        assertEquals(0.5, all.newAp(), 1e-9);
        assertEquals(
                """
                class                    metric     before    after   change
                cup                      AP              -    0.900        -
                cup                      mask_AP         -    0.400        -
                fork                     mask_AP         -    0.600        -
                spoon                    mask_AP         -        -        -""",
                all.toString().replace(System.lineSeparator(), "\n"));
    }

    private static ClassAp added(String name, String metric, double ap) {
        return new ClassAp(name, metric, Optional.empty(), Optional.of(ap));
    }

    @Test
    void aTinyDropIsNotShownAsMinusZero() {
        assertEquals("+0.000", cup(0.5, 0.4999).row().get(4));
        assertEquals("-0.001", cup(0.5, 0.499).row().get(4));
    }
}
