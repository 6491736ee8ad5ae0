"""Programs in C++, measured beside the ten: functions with landing pads, templates, the library's
containers."""
import inputs
from unseen_programs import Written


class Ninja(Written):
    package = "ninja-build"
    suffix = ".ninja"
    short, long, timed = 2, 200, 40
    trained = "`-t commands` of a generated manifest: compiles, archives, links"
    tested = "of another: variables, escapes, order-only and implicit inputs"
    trained_by = ["-t", "commands"], lambda rounds: inputs.manifest(1, 1000 * rounds, False)
    tested_by = ["-t", "commands"], lambda rounds: inputs.manifest(2, 1000 * rounds, True)

    def compile(self, tree, how):
        self.cmake(how, tree, "ninja", "-DBUILD_TESTING=OFF")
        return tree + "/made/ninja"

    def workload(self, name, rounds, options, text):
        program, *options, path = super().workload(name, rounds, options, text)
        return [program, "-f", path, *options]


class Yaml(Written):
    """Its parse: reads a document into nodes and writes it again."""
    package = "yaml-cpp"
    suffix = ".yaml"
    short, long, timed = 1, 120, 20
    trained = "generated settings: nested maps and lists, numbers, plain text"
    tested = "generated records: flow style, quotes, anchors, block scalars"
    trained_by = [], lambda rounds: inputs.yaml(1, 100 * rounds, False)
    tested_by = [], lambda rounds: inputs.yaml(2, 100 * rounds, True)

    def compile(self, tree, how):
        self.cmake(how, tree, "yaml-cpp-parse", "-DYAML_BUILD_SHARED_LIBS=OFF", "-DYAML_CPP_BUILD_TESTS=OFF",
                   "-DYAML_CPP_BUILD_TOOLS=ON")
        return tree + "/made/util/parse"


CXX = {c.__name__.lower(): c for c in (Ninja, Yaml)}
