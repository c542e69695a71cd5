package dev.saccade.cli.fuzz;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What inputs are made of: pieces that mutations drop, repeat, exchange and change one by one,
 * where bytes alone would seldom get past the first check.
 */
interface Format {

    /** Bytes without any order that is known here. */
    Format BYTES = new Whole();

    /** Words, numbers, blanks and signs. */
    Format TEXT = new Text();

    /** Returns the pieces of an input, whatever it is; joined they are the input or nearly so. */
    List<byte[]> cut(byte[] input);

    /** Returns the input of some pieces, with the lengths and checksums that belong to them. */
    byte[] join(List<byte[]> pieces);

    /** One piece. */
    final class Whole implements Format {

        @Override
        public List<byte[]> cut(byte[] input) {
            return List.of(input);
        }

        @Override
        public byte[] join(List<byte[]> pieces) {
            return Bytes.concat(pieces);
        }
    }

    /** A piece a word, number, stretch of blanks or sign. */
    final class Text implements Format {

        private static final int SIGN = -1;

        @Override
        public List<byte[]> cut(byte[] input) {
            List<byte[]> pieces = new ArrayList<>();
            for (int at = 0, end; at < input.length; at = end) {
                int kind = kind(input[at]);
                end = at + 1;
                while (kind != SIGN && end < input.length && kind(input[end]) == kind) {
                    end++;
                }
                pieces.add(Arrays.copyOfRange(input, at, end));
            }
            return pieces;
        }

        private static int kind(byte character) {
            if (Character.isLetter(character) || character == '_') {
                return Character.LOWERCASE_LETTER;
            }
            if (Character.isDigit(character) || character == '.') {
                return Character.DECIMAL_DIGIT_NUMBER;
            }
            return character == ' ' ? Character.SPACE_SEPARATOR : SIGN;
        }

        @Override
        public byte[] join(List<byte[]> pieces) {
            return Bytes.concat(pieces);
        }
    }
}
