package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Script;

/** Class tokens (Dosovitskiy et al. 2021), as the first cell of a map with one row. */
final class ClassToken {

    private static final Script PREPEND =
            Script.compile(
                    "(map: Tensor, token: Tensor) -> Tensor",
                    """
                    tokens = torch.flatten(map, 1, 2)
                    size = [torch.size(map, 0), 1, torch.size(map, 3)]
                    first = torch.expand(torch.type_as(token, map), size)
                    return torch.unsqueeze(torch.cat([first, tokens], 1), 1)
                    """);

    private ClassToken() {}

    /**
     * Puts a token before the cells of a map.
     *
     * @param token {@code [1, 1, C]}
     * @param map {@code [N, H, W, C]}
     * @return {@code [N, 1, 1 + H * W, C]}
     */
    static NDArray prepend(NDArray token, NDArray map) {
        // The result belongs to the manager of the first argument.
        return PREPEND.run(map, token);
    }

    /** Returns the class token {@code [N, 1, 1, C]} of {@link #prepend}'s result. */
    static NDArray of(NDArray tokens) {
        return tokens.get(":, :, :1");
    }
}
