package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDList;

import org.junit.jupiter.api.Test;

class ModuleTest {

    private static final class Parent extends Module {

        @Override
        public NDList call(NDList inputs) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void pathDoesNotDependOnConstructionOrder() {
        Parent model = new Parent();
        Parent stage = new Parent();
        Parent unnamed = new Parent();
        DropPath drop = unnamed.add("drop", new DropPath(0.5));
        assertEquals("drop", drop.path());

        stage.add("", unnamed);
        model.add("layers.0", stage);

        assertEquals("", model.path());
        assertEquals("layers.0", unnamed.path());
        assertEquals("layers.0.drop", drop.path());
    }

    @Test
    void rejectsSecondParentsAndDuplicateNames() {
        Parent model = new Parent();
        Parent child = model.add("a", new Parent());

        assertThrows(IllegalArgumentException.class, () -> model.add("a", new Parent()));
        assertThrows(IllegalArgumentException.class, () -> model.add("b", child));
        assertThrows(IllegalArgumentException.class, () -> new Parent().add("a", child));
    }
}
