package dev.saccade.export;

import dev.saccade.export.Graph.Value;

import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A number that depends on the sizes of tensors, such as the number of windows of a map. */
public sealed interface Extent {

    /** The size of a tensor along an axis. */
    record SizeOf(Value value, int axis) implements Extent {}

    /** {@code factor * extent + summand}. */
    record Linear(Extent extent, long factor, long summand) implements Extent {}

    /** {@code floor((extent + summand) / divisor)}. */
    record Quotient(Extent extent, long summand, long divisor) implements Extent {}

    /** {@code (-extent) mod divisor}: the padding to a multiple. */
    record Lacking(Extent extent, long divisor) implements Extent {}

    /** {@code factor * left * right}. */
    record Product(Extent left, Extent right, long factor) implements Extent {}

    /** Returns the tensors whose sizes are asked for. */
    default Stream<Value> values() {
        if (this instanceof SizeOf size) {
            return Stream.of(size.value());
        } else if (this instanceof Linear linear) {
            return linear.extent().values();
        } else if (this instanceof Quotient quotient) {
            return quotient.extent().values();
        } else if (this instanceof Lacking lacking) {
            return lacking.extent().values();
        }
        Product product = (Product) this;
        return Stream.concat(product.left().values(), product.right().values());
    }

    /** Returns the same of other tensors. */
    default Extent map(UnaryOperator<Value> change) {
        if (this instanceof SizeOf size) {
            return new SizeOf(change.apply(size.value()), size.axis());
        } else if (this instanceof Linear linear) {
            return new Linear(linear.extent().map(change), linear.factor(), linear.summand());
        } else if (this instanceof Quotient quotient) {
            return new Quotient(
                    quotient.extent().map(change), quotient.summand(), quotient.divisor());
        } else if (this instanceof Lacking lacking) {
            return new Lacking(lacking.extent().map(change), lacking.divisor());
        }
        Product product = (Product) this;
        return new Product(
                product.left().map(change), product.right().map(change), product.factor());
    }
}
