package dev.saccade.cli;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.core.domain.properties.HasParameterTypes.Predicates.rawParameterTypes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;

import com.google.common.collect.Iterables;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

import dev.saccade.backbones.BackboneSummary;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.bench.OperatorBench;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.memory.PinnedMemory;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Roofline;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.PartProvider;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSummary;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.format.DateTimeFormatter;
import java.util.Formatter;
import java.util.List;
import java.util.Random;
import java.util.Scanner;
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

    /** The rooms of each floor, from the ground up. */
    private static final List<List<String>> FLOORS =
            List.of(
                    List.of("core"),
                    List.of("config"),
                    List.of("checkpoint"),
                    List.of("backbones", "necks", "heads", "datasets"),
                    List.of("models", "demo", "video"),
                    List.of("eval", "djl", "serve"),
                    List.of("train", "export"),
                    List.of("report", "configgen", "bench"),
                    List.of("mlflow"),
                    List.of("cli", "spark"));

    @ArchTest static final ArchRule everyRoomImportsFromBelow = importsFromBelow();

    private static ArchRule importsFromBelow() {
        LayeredArchitecture house = layeredArchitecture().consideringOnlyDependenciesInLayers();
        for (String room : Iterables.concat(FLOORS)) {
            String inside = "dev.saccade." + room + "..";
            boolean mayLack = room.equals("spark");
            house = (mayLack ? house.optionalLayer(room) : house.layer(room)).definedBy(inside);
        }
        for (int floor = 0; floor < FLOORS.size(); floor++) {
            List<List<String>> above = FLOORS.subList(floor + 1, FLOORS.size());
            String[] allowed = Iterables.toArray(Iterables.concat(above), String.class);
            for (String room : FLOORS.get(floor)) {
                house =
                        allowed.length == 0
                                ? house.whereLayer(room).mayNotBeAccessedByAnyLayer()
                                : house.whereLayer(room).mayOnlyBeAccessedByLayers(allowed);
            }
        }
        return house;
    }

    @ArchTest
    static final ArchRule noRoomIsEntangled =
            slices().matching("dev.saccade.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule noFolderOfDatasetsIsEntangled =
            slices().assignedFrom(new FoldersOf("dev.saccade.datasets")).should().beFreeOfCycles();

    /** Takes every package of a room by itself; the list of its parts knows all of them. */
    private record FoldersOf(String room) implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String folder = type.getPackageName();
            return folder.startsWith(room) && !type.isAssignableTo(PartProvider.class)
                    ? SliceIdentifier.of(folder)
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "folders of " + room;
        }
    }

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

    /** Arabic and Persian locales, among others, format numbers with their own digits. */
    @ArchTest
    static final ArchRule nothingDependsOnTheLocale =
            noClasses()
                    .should()
                    .callMethod(String.class, "format", String.class, Object[].class)
                    .orShould()
                    .callMethod(String.class, "formatted", Object[].class)
                    .orShould()
                    .callMethod(String.class, "toLowerCase")
                    .orShould()
                    .callMethod(String.class, "toUpperCase")
                    .orShould()
                    .callMethodWhere(
                            target(nameMatching("format|printf"))
                                    .and(
                                            target(
                                                    owner(
                                                            assignableTo(PrintWriter.class)
                                                                    .or(
                                                                            assignableTo(
                                                                                    PrintStream
                                                                                            .class)))))
                                    .and(target(rawParameterTypes(String.class, Object[].class))))
                    .orShould()
                    .callConstructor(Formatter.class)
                    .orShould()
                    .callConstructor(Scanner.class, InputStream.class)
                    .orShould()
                    .callMethod(DateTimeFormatter.class, "ofPattern", String.class)
                    .orShould()
                    .dependOnClassesThat()
                    .areAssignableTo(java.text.Format.class);

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

    /** Else they would be on the device that DJL takes by default, beside others that are not. */
    @ArchTest
    static final ArchRule everyManagerIsForADevice =
            noClasses()
                    .that()
                    .areNotAssignableTo(Libtorch.class)
                    .should()
                    .callMethodWhere(
                            target(name("newBaseManager"))
                                    .or(target(name("defaultDevice")))
                                    .or(target(name("newModel"))));

    /** What is computed with values of Java's alone, or to be saved; all else follows the model. */
    @ArchTest
    static final ArchRule onlyTheseComputeOnTheCpuByThemselves =
            noClasses()
                    .that()
                    .doNotBelongToAnyOf(
                            Devices.class,
                            // what libtorch can do here, and scripts, whose numbers are in the text
                            Autocast.class,
                            Roofline.class,
                            HostTransfers.class,
                            Kernels.class,
                            PinnedMemory.class,
                            ProcessGroup.class,
                            Script.class,
                            TensorMemory.class,
                            // numbers on their way to a GPU
                            Tensors.class,
                            // files of weights, and how large models are
                            Naming.class,
                            Tensor.class,
                            Weights.class,
                            BackboneSummary.class,
                            Model.class,
                            ModelSummary.class,
                            OperatorBench.class,
                            // learning rates and the like, which libtorch wants there
                            ModelEma.class,
                            Optimizer.class)
                    .and()
                    .doNotHaveSimpleName("PositionTables")
                    .and()
                    .doNotHaveSimpleName("StepMemory")
                    .and()
                    .doNotHaveSimpleName("WeightMatch")
                    .and()
                    .resideOutsideOfPackages("dev.saccade.export..", "dev.saccade.testsupport..")
                    .should()
                    .callMethod(Device.class, "cpu");

    /** There reads are counted: a step waits for one. */
    @ArchTest
    static final ArchRule arraysAreReadThroughTensors =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "dev.saccade.backbones..",
                            "dev.saccade.necks..",
                            "dev.saccade.heads..",
                            "dev.saccade.models..",
                            "dev.saccade.eval..",
                            "dev.saccade.train..")
                    .should()
                    .callMethodWhere(
                            target(owner(assignableTo(NDArray.class)))
                                    .and(
                                            target(
                                                    nameMatching(
                                                            "to[A-Z]\\w*(Array|Buffer)|get(Byte|Boolean|Uint8|Int|Long|Float|Double|String)"))));

    /**
     * DJL makes a tensor of a number, and frees it before the backward pass reads it: gradients are
     * then of whatever stands in its memory. A number in the text of a script is no tensor.
     */
    @ArchTest
    static final ArchRule numbersOfProductsStandInScripts =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "dev.saccade.core.nn..",
                            "dev.saccade.backbones..",
                            "dev.saccade.necks..",
                            "dev.saccade.heads..",
                            "dev.saccade.models..")
                    .should()
                    .callMethodWhere(
                            target(owner(assignableTo(NDArray.class)))
                                    .and(target(nameMatching("(mul|div|pow)i?")))
                                    .and(target(rawParameterTypes(Number.class))));

    @ArchTest
    static final ArchRule nothingIsStaticThatChanges =
            fields().that().areStatic().should().beFinal();
}
