package dev.saccade.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

class LabelLayoutTest {

    private final LabelLayout layout = new LabelLayout(new Size(100, 200), 10);

    @Test
    void aNameStandsInItsBoxWhereNothingIsInTheWay() {
        LabelLayout.Place place = layout.place(Boxes.of(20, 30, 90, 80), 0, "leaf");

        assertEquals(20, place.left());
        assertEquals(30, place.top());
    }

    @Test
    void namesOfOneBoxAreApart() {
        Boxes box = Boxes.of(20, 30, 90, 80);
        LabelLayout.Place first = layout.place(box, 0, "leaf");
        LabelLayout.Place second = layout.place(box, 0, "leaf");

        assertNotEquals(first, second);
        assertTrue(second.top() + second.height() <= first.top(), "above");
    }

    @Test
    void aNameNeverLeavesThePhotograph() {
        LabelLayout.Place place = layout.place(Boxes.of(190, 96, 200, 100), 0, "a long name");

        assertTrue(place.left() + place.width() <= 200, place.toString());
        assertTrue(place.top() + place.height() <= 100, place.toString());
    }
}
