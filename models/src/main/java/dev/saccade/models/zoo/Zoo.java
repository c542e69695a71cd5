package dev.saccade.models.zoo;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.config.Nearest;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/**
 * The recipes that come with the library, as {@code configs/zoo.yaml} lists them; weights are
 * {@link PretrainedWeights}.
 */
public final class Zoo {

    private final ImmutableMap<String, Recipe> recipes;

    /** What {@code zoo.yaml} holds: recipes by family and name. */
    private record Table(
            Map<String, Original> originals,
            Map<String, Map<String, Published>> objectDetection,
            Map<String, Map<String, Published>> instanceSegmentation,
            Map<String, Map<String, Published>> semanticSegmentation) {}

    private Zoo(ImmutableMap<String, Recipe> recipes) {
        this.recipes = recipes;
    }

    /** Returns what this version of the library comes with. */
    public static Zoo packaged() {
        Table table = Configs.bind(ConfigFile.packaged("zoo.yaml"), Table.class);
        ImmutableMap.Builder<String, Recipe> recipes = ImmutableMap.builder();
        add(TargetKind.BOXES, table.objectDetection(), table.originals(), recipes);
        add(TargetKind.MASKS, table.instanceSegmentation(), table.originals(), recipes);
        add(TargetKind.LABEL_MAPS, table.semanticSegmentation(), table.originals(), recipes);
        return new Zoo(recipes.buildOrThrow());
    }

    private static void add(
            TargetKind targets,
            Map<String, Map<String, Published>> families,
            Map<String, Original> originals,
            ImmutableMap.Builder<String, Recipe> recipes) {
        families.forEach(
                (family, members) ->
                        members.forEach(
                                (member, published) -> {
                                    String name = family + "/" + member;
                                    Optional<Original> original =
                                            published.by().map(originals::get);
                                    recipes.put(
                                            name, new Recipe(name, targets, published, original));
                                }));
    }

    /** Returns all recipes, by task and family. */
    public Collection<Recipe> recipes() {
        return recipes.values();
    }

    /**
     * Returns a recipe.
     *
     * @param name such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}
     * @throws SaccadeException of kind user that names the nearest one, if there is none
     */
    public Recipe recipe(String name) {
        Recipe recipe = recipes.get(name);
        if (recipe == null) {
            throw SaccadeException.user(
                    "no recipe %s%s",
                    name,
                    Nearest.find(name, recipes.keySet())
                            .map(near -> "; did you mean " + near + "?")
                            .orElse(", expected one such as mask_rcnn/swin_tiny_fpn_1x_coco"));
        }
        return recipe;
    }
}
