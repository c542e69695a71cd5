package dev.saccade.core.conversion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

class NameTableTest {

    private static final Reordering TRANSPOSED =
            new Reordering(NDArray::transpose, NDArray::transpose);

    private static NameTable table(String rows) {
        return new NameTable(
                "keras",
                "{b}body.{*}",
                List.of("{b}blocks.{i}.{*}", "{b}stem.weight"),
                rows,
                Map.of("transposed", TRANSPOSED));
    }

    @Test
    void firstMatchingRowAppliesInBothDirections() {
        NameTable table =
                table(
                        """
                        {b}body.{2i+1}.kernel  {b}blocks.{i}.weight transposed
                        {b}body.{2i+1}.{*}     {b}blocks.{i}.{*}
                        -                      {b}blocks.{i}.{*}_index
                        """);

        NameTable.Renamed ours = table.toOurs("backbone.body.7.kernel");
        assertEquals("backbone.blocks.3.weight", ours.name());
        assertTrue(ours.reorder().isPresent());
        assertEquals("body.6.kernel", table.toOurs("body.6.kernel").name(), "an odd number");
        NameTable.Renamed theirs = table.toTheirs("blocks.3.bias").get(0);
        assertEquals("body.7.bias", theirs.name());
        assertFalse(theirs.reorder().isPresent());
        assertEquals("neck.bias", table.toTheirs("neck.bias").get(0).name());
        assertEquals("body.1.a_index", table.toTheirs("blocks.0.a_index").get(0).name());
        assertEquals(List.of(), table("- {b}blocks.{i}.{*}_index").toTheirs("blocks.0.a_index"));
    }

    @Test
    void rowsCanConcatenateSlices() {
        NameTable table =
                table(
                        """
                        {b}body.{i}.query.{*}  {b}blocks.{i}.qkv.{*} 1/3
                        {b}body.{i}.key.{*}    {b}blocks.{i}.qkv.{*} 2/3
                        {b}body.{i}.value.{*}  {b}blocks.{i}.qkv.{*} 3/3
                        {b}body.{i}.{*}        {b}blocks.{i}.{*}
                        """);

        NameTable.Renamed key = table.toOurs("body.4.key.bias");
        assertEquals("blocks.4.qkv.bias", key.name());
        assertEquals(Optional.of(new NameTable.Slice(1, 3)), key.slice());
        assertEquals(
                List.of("body.4.query.bias", "body.4.key.bias", "body.4.value.bias"),
                table.toTheirs("blocks.4.qkv.bias").stream().map(NameTable.Renamed::name).toList());
        assertEquals("body.4.norm", table.toTheirs("blocks.4.norm").get(0).name());
        assertEquals(1, table.toTheirs("blocks.4.norm").size());
    }

    @Test
    void marksIdentifyTheLibrary() {
        NameTable table = table("");

        assertTrue(table.isTheirs(Set.of("x", "backbone.body.1")));
        assertFalse(table.isTheirs(Set.of("x.body.1")));
        assertTrue(table.isOurs(Set.of("blocks.0.weight", "stem.weight")));
        assertFalse(table.isOurs(Set.of("blocks.0.weight")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "a b c", "a b transposed d", "{i} a", "a {*}", "{i} {j}", "{x} {x}"})
    void rejectsInvalidRows(String row) {
        assertThrows(IllegalArgumentException.class, () -> table(row));
    }

    @ParameterizedTest
    @CsvSource({
        "a.{i}.b, a.12.b, true",
        "a.{i}.b, a.x.b, false",
        "a.{i}.b, aa.1.b, false",
        "{b}a, backbone.a, true",
        "{b}a, neck.a, false",
        "{*}.rb, a.b.rb, true",
        "{*}.rb, rb, false",
        "a+b, aab, false"
    })
    void patternsMatchWholeNames(String pattern, String name, boolean expected) {
        assertEquals(expected, new NamePattern(pattern).matches(name));
    }

    @Test
    void indexTablesUseOnlyPlaceholdersOfTheParameter() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new IndexTable("{*}.table", "{*}.index_{i}", table -> Optional.empty()));
    }
}
