package dev.saccade.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A room imports only from floors below it, never sideways, and keeps the rules of the house. */
@AnalyzeClasses(
        packages = "dev.saccade",
        locations = FloorsTest.RoomOfSpark.class,
        importOptions = ImportOption.DoNotIncludeTests.class)
class FloorsTest {

    /** The room that the command does not have on its class path, if it has been built. */
    static final class RoomOfSpark implements LocationProvider {

        @Override
        public Set<Location> get(Class<?> test) {
            return Stream.of(Path.of("../spark/target/classes"))
                    .filter(Files::isDirectory)
                    .map(Location::of)
                    .collect(Collectors.toSet());
        }
    }

    @ArchTest
    static final ArchRule everyRoomImportsFromBelow =
            layeredArchitecture()
                    .consideringOnlyDependenciesInLayers()
                    .layer("core")
                    .definedBy("dev.saccade.core..")
                    .layer("backbones")
                    .definedBy("dev.saccade.backbones..")
                    .layer("necks")
                    .definedBy("dev.saccade.necks..")
                    .layer("heads")
                    .definedBy("dev.saccade.heads..")
                    .layer("datasets")
                    .definedBy("dev.saccade.datasets..")
                    .layer("models")
                    .definedBy("dev.saccade.models..")
                    .layer("eval")
                    .definedBy("dev.saccade.eval..")
                    .optionalLayer("spark")
                    .definedBy("dev.saccade.spark..")
                    .layer("train")
                    .definedBy("dev.saccade.train..")
                    .layer("cli")
                    .definedBy("dev.saccade.cli..")
                    .whereLayer("cli")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("spark")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("train")
                    .mayOnlyBeAccessedByLayers("cli")
                    .whereLayer("eval")
                    .mayOnlyBeAccessedByLayers("train", "cli")
                    .whereLayer("models")
                    .mayOnlyBeAccessedByLayers("eval", "spark", "train", "cli")
                    .whereLayer("backbones")
                    .mayOnlyBeAccessedByLayers("models", "eval", "train", "cli")
                    .whereLayer("necks")
                    .mayOnlyBeAccessedByLayers("models", "eval", "train", "cli")
                    .whereLayer("heads")
                    .mayOnlyBeAccessedByLayers("models", "eval", "train", "cli")
                    .whereLayer("datasets")
                    .mayOnlyBeAccessedByLayers("models", "eval", "spark", "train", "cli");

    @ArchTest
    static final ArchRule noRoomIsEntangled =
            slices().matching("dev.saccade.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule randomnessComesFromSeeds =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .areAssignableTo(Random.class)
                    .orShould()
                    .callMethod(Math.class, "random");

    @ArchTest
    static final ArchRule threadsAreOwned =
            noClasses()
                    .should()
                    .callMethod(ForkJoinPool.class, "commonPool")
                    .orShould()
                    .callMethod(BaseStream.class, "parallel");

    @ArchTest
    static final ArchRule librariesDoNotPrint =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.saccade.cli..")
                    .should()
                    .accessField(System.class, "out")
                    .orShould()
                    .accessField(System.class, "err");

    @ArchTest
    static final ArchRule librariesLogThroughSlf4j =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.saccade.cli..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "ch.qos.logback..", "java.util.logging..", "org.apache..log4j..");

    @ArchTest
    static final ArchRule librariesLeaveTheProcessAlone =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.saccade.cli..")
                    .should()
                    .callMethod(System.class, "exit", int.class)
                    .orShould()
                    .callMethod(Runtime.class, "exit", int.class)
                    .orShould()
                    .callMethod(Runtime.class, "halt", int.class)
                    .orShould()
                    .callMethod(Runtime.class, "addShutdownHook", Thread.class);

    @ArchTest
    static final ArchRule nothingIsStaticThatChanges =
            fields().that().areStatic().should().beFinal();
}
