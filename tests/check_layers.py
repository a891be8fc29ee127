#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the direction of includes.

Reads the #include lines (and a few calls) of every C++ file and fails when a layer uses one that it must not know, as
lib/layers says, or a library that does not belong there: protocol code that includes Asio, statistics that read a clock
from a thread. What CMake links, and the picture of layers in docs/architecture.md, must be as lib/layers says, too.
Sources of a folder may be compiled as one (POSTAL_UNITY), so a name in an unnamed namespace is there once for a folder.
Comments are as wide as code is. Every source begins with its licence (REUSE).
Runs its own test first: made-up includes that must be found and others that must not.

    tests/check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent


def read_layers(text):
    """The layers that each layer may include, and the programs, of a file as lib/layers is."""
    layers = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, below = line.partition(":")
            layers[name] = below.split()
    programs = tuple(layers.pop("programs", ()))
    return {name: set(below) for name, below in layers.items()}, programs


LIBRARIES, PROGRAMS = read_layers((ROOT / "lib/layers").read_text())

ASIO = r"boost/(asio|beast|cobalt)"
TLS = r"(openssl/(ssl|bio|tls)|gnutls)"
THREADS = r"(thread|mutex|shared_mutex|condition_variable|future|stop_token|latch|barrier|semaphore|pthread\.h)$"
CLOCK = r"(ctime|time\.h|sys/time\.h)$"
SOCKETS = r"(sys/socket\.h|netinet/|arpa/|netdb\.h|sys/epoll\.h|poll\.h|sys/un\.h)"
FILES = r"(fstream|filesystem|cstdio|stdio\.h|fcntl\.h|unistd\.h|sys/stat\.h|dirent\.h)$"
SASL = r"gsasl"
MPI = r"mpi\.h$"
PROMETHEUS = r"prometheus/"
TERMINAL = r"(iostream|toml\+\+/)"

# layer: [(what, pattern of system and library headers that it must not include)]
FORBIDDEN = {
    "base": [("Asio", ASIO), ("TLS", TLS), ("threads", THREADS), ("sockets", SOCKETS), ("the terminal", TERMINAL)],
    "proto": [("Asio", ASIO), ("TLS", r"(openssl/|gnutls)"), ("threads", THREADS), ("a clock", CLOCK),
              ("sockets", SOCKETS), ("files", FILES), ("the terminal", TERMINAL)],
    "sasl": [("Asio", ASIO), ("TLS", TLS), ("threads", THREADS), ("a clock", CLOCK),
             ("sockets", SOCKETS), ("files", FILES), ("the terminal", TERMINAL)],
    "mail": [("Asio", ASIO), ("TLS", TLS), ("threads", THREADS), ("sockets", SOCKETS), ("the terminal", TERMINAL)],
    "ledger": [("Asio", ASIO), ("TLS", TLS), ("sockets", SOCKETS), ("the terminal", TERMINAL)],
    "stats": [("Asio", ASIO), ("TLS", r"(openssl/|gnutls)"), ("threads", THREADS), ("sockets", SOCKETS),
              ("the terminal", r"toml\+\+/")],
    "os": [("Asio", ASIO), ("TLS", TLS), ("the terminal", TERMINAL)],
    "testbed": [("Asio", ASIO), ("TLS", TLS), ("the terminal", TERMINAL)],
    "behaviour": [("Asio", ASIO), ("TLS", r"(openssl/|gnutls)"), ("sockets", SOCKETS), ("files", FILES),
                  ("the terminal", TERMINAL)],
    "cli": [("Asio", ASIO), ("TLS", TLS), ("sockets", SOCKETS)],
    "net": [("the terminal", TERMINAL), ("the message digests", r"xxhash\.h$|openssl/evp\.h$")],
    "cluster": [("Asio", ASIO), ("TLS", r"(openssl/|gnutls)"), ("sockets", SOCKETS), ("the terminal", TERMINAL)],
    "client": [("TLS", TLS), ("files", FILES), ("the terminal", TERMINAL)],
    "serve": [("TLS", TLS), ("files", r"(fstream|filesystem|cstdio|stdio\.h)$"), ("the terminal", TERMINAL)],
    "load": [("TLS", TLS), ("sockets", SOCKETS + r"|boost/asio/ip/"), ("the terminal", r"toml\+\+/")],
}
# Standard headers hold both what a layer may use and what it must not, so these are looked for by their call.
CALLS = {
    "proto": [("reads a clock", r"_clock::now\("), ("reads the environment", r"\bgetenv\(")],
    "stats": [("reads a clock; time is passed in", r"steady_clock::now\("),
              ("reads the environment", r"\bgetenv\(")],
    "behaviour": [("reads a clock; time is passed in", r"_clock::now\("),
                  ("reads the environment", r"\bgetenv\(")],
    "mail": [("reads the environment", r"\bgetenv\(")],
    "base": [("reads a clock", r"_clock::now\("), ("reads the environment", r"\bgetenv\(")],
    "sasl": [("reads a clock", r"_clock::now\("), ("reads the environment", r"\bgetenv\(")],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """The layer that a file belongs to, as its path below the root begins; None for one without rules."""
    if path.parts[0] == "lib":
        return path.parts[1] if len(path.parts) > 2 else None
    return path.parts[0] if path.parts[0] in PROGRAMS else None


def wrong_includes(path, text):
    """What is wrong in the file `path` (below the root) that holds `text`, one line each."""
    layer = layer_of(path)
    if layer is None:
        return []
    if layer not in LIBRARIES and layer not in PROGRAMS:
        return [f"{path}: lib/{layer} is unknown to this check; give it its place in the order"]
    found = []
    for match in INCLUDE.finditer(text):
        header = match.group(2)
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        if match.group(1) == '"':
            other = header.split("/")[0]
            allowed = {layer} | (LIBRARIES[layer] if layer in LIBRARIES else set(LIBRARIES))
            if "/" not in header or header.startswith("."):
                found.append(f'{where}: "{header}" is not written from an include root, as in "base/units.hpp"')
            elif other not in allowed:
                found.append(f'{where}: {layer} must not include "{header}"')
            continue
        forbidden = FORBIDDEN.get(layer, []) + ([] if layer == "sasl" else [("GNU SASL", SASL)])
        if path.parts[:3] != ("lib", "cluster", "mpi"):
            forbidden = [*forbidden, ("MPI", MPI)]
        if layer != "metrics":
            forbidden = [*forbidden, ("Prometheus", PROMETHEUS)]
        for what, pattern in forbidden:
            if re.match(pattern, header):
                found.append(f"{where}: {layer} must not know {what}: <{header}>")
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        found += [f"{path}:{number}: {layer} {what}" for what, call in CALLS.get(layer, []) if re.search(call, code)]
    return found


def wrong_order(layers):
    """Layers that stand before one that they may include, or name one that is not there."""
    known = set()
    found = []
    for layer, below in layers.items():
        found += [f"lib/layers: {layer} stands before {other}" for other in sorted(below - known)]
        known.add(layer)
    return found


def wrong_links(layer, text):
    """What the CMakeLists.txt of a layer links from lib/ that lib/layers does not say, and the other way round."""
    linked = re.search(rf"postal_library\({layer}\b[^)]*?\bDEPENDS((?: [a-z]+)+)", text)
    differ = set(linked.group(1).split() if linked else ()) ^ LIBRARIES[layer]
    return [f"lib/{layer}/CMakeLists.txt: {other}: not as lib/layers says" for other in sorted(differ)]


def rows_of(picture, layers):
    """In which row of the picture each layer stands; a row begins with a word behind four blanks."""
    rows, row = {}, 0
    for line in picture.splitlines():
        row += bool(re.match(r" {4}[a-z]", line))
        for name in re.findall(r"(?:^ {4}[a-z]+ +| {2,})([a-z]+):", line) if line.startswith("    ") else ():
            if name in layers:
                rows.setdefault(name, row)
    return rows


def wrong_picture(picture, layers):
    """Layers that the picture lacks, or draws above one that may include them."""
    rows = rows_of(picture, layers)
    found = [f"docs/architecture.md: the picture of layers lacks {layer}" for layer in layers if layer not in rows]
    return found + [f"docs/architecture.md: the picture has {other} above {layer}, which includes it"
                    for layer, below in layers.items() for other in sorted(below) if rows.get(other, 0) < rows.get(layer, 0)]


def wrong_papers(root):
    """Where CMake or the page of layers do not agree with lib/layers."""
    found = wrong_order(LIBRARIES)
    found += wrong_picture((root / "docs/architecture.md").read_text().split("\n## ")[1], LIBRARIES)
    for layer in LIBRARIES:
        found += wrong_links(layer, (root / "lib" / layer / "CMakeLists.txt").read_text())
    return found


def papers_test():
    """Whether disagreements are found."""
    layers, programs = read_layers("# x\nbase:\nnet: proto base\nproto: base\nprograms: postal\n")
    linked = "postal_library(proto DEPENDS base LINK x)"
    drawn = "\n    parts    net: sockets    proto: words\n    ground   base: text\n"
    turned = "\n    parts    net: sockets    base: text\n    ground   proto: words\n"
    return (programs == ("postal",) and wrong_order(layers) == ["lib/layers: net stands before proto"]
            and not wrong_picture(drawn, layers) and len(wrong_picture(turned, layers)) == 1
            and len(wrong_picture("", layers)) == 3
            and not wrong_links("proto", linked) and len(wrong_links("proto", linked.replace("base", "net"))) == 2)


NOT_CODE = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|^#[^\n]*', re.DOTALL | re.MULTILINE)
TEMPLATE = re.compile(r"template\s*<.*?>\s*(?=[A-Za-z])", re.DOTALL)


def name_declared(declaration):
    """The name that a declaration outside functions and classes declares; None for an alias, which may be said again, and
    for overloads that only their structs tell apart."""
    declaration = TEMPLATE.sub("", declaration.strip(), count=1)
    if re.match(r"(using|namespace|static_assert)\b", declaration):
        return None
    match = (re.match(r"(?:struct|class|union|enum(?: class)?)\s+(\w+)", declaration)
             or re.search(r"(?<![\w:])([A-Za-z_]\w*)\s*(?:\(|$)", re.split(r"\s=\s|\[", declaration)[0]))
    return match.group(1) if match and match.group(1) != "fields" else None


def unnamed_names(text):
    """(namespace, name) of what a source declares in its unnamed namespaces."""
    names = set()
    levels = []  # a namespace's name, "" for an unnamed one, None for other braces
    declaration = ""
    for part in re.findall(r"[{};]|[^{};]+", NOT_CODE.sub(" ", text)):
        outside = None not in levels
        if part not in "{};":
            declaration += part
            continue
        opened = re.search(r"\bnamespace\s*([\w:]*)\s*$", declaration) if part == "{" and outside else None
        if opened is None and part != "}" and outside and "" in levels:
            names.add(("::".join(filter(None, levels)), name_declared(declaration)))
        if part == "{":
            levels.append(opened.group(1) if opened else None)
        elif part == "}" and levels:
            levels.pop()
        declaration = ""
    return {one for one in names if one[1]}


def repeated_names(sources):
    """Names in unnamed namespaces that several of a folder's sources have; {file: text}."""
    first, found = {}, []
    for path, text in sources.items():
        for name in sorted(unnamed_names(text)):
            if first.setdefault(name, path) != path:
                found.append(f"{path}: {name[1]} is in an unnamed namespace of {first[name]} too")
    return found


def wrong_names(root, files):
    """The same for all folders; what CMake compiles by itself ("APART") does not count."""
    folders = {}
    for path in files:
        if path.suffix == ".cpp":
            parts = path.relative_to(root).parts
            within = parts[:-1] if parts[0] == "tests" else parts[:2 if parts[0] == "lib" else 1]
            folders.setdefault(root.joinpath(*within), []).append(path)
    found = []
    for folder, paths in folders.items():
        rules = folder / "CMakeLists.txt"
        apart = rules.exists() and re.search(r"\bAPART((?: \S+)+?)(?: [A-Z]+ |\))", rules.read_text())
        names = apart.group(1).split() if apart else ()
        found += repeated_names({path.relative_to(root): path.read_text() for path in paths if path.name not in names})
    return found


def wide_comments(path, text):
    """clang-format leaves comments as they are; one that is wider than its columns is found here."""
    return [f"{path}:{number}: a comment of {len(line)} columns; 100 are the most" for number, line in
            enumerate(text.splitlines(), 1) if len(line) > 100 and re.match(r"\s*// ?\S.*[A-Za-z,)] [A-Za-z(]", line)
            and not re.search(r"\S {2,}\S", line.strip())]


LICENCE = "SPDX-License-Identifier: GPL-3.0-or-later"
# Not what is data: inputs, profiles, pages' parts.
SOURCES = {".cpp", ".hpp", ".py", ".cmake"}


def without_licence(root):
    """Sources and scripts whose first lines do not say under which licence they are."""
    folders = [root / name for name in ("cmake", "docs", "lib", "scripts", "tests", *PROGRAMS)]
    files = [root / "CMakeLists.txt", *(path for folder in folders for path in sorted(folder.rglob("*")))]
    return [f"{path.relative_to(root)}: its first lines have no \"{LICENCE}\"" for path in files
            if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts and "corpus" not in path.parts
            and (path.suffix in SOURCES or path.name == "CMakeLists.txt" or path.read_bytes()[:3] == b"#!/")
            and LICENCE.encode() not in path.read_bytes()[:200]]


def names_test():
    """Whether names that are there twice are found, and others are not."""
    source = ("namespace postal {{\nnamespace {{\n\nusing base::expected;\n// int twice();\n{}\n}}  // namespace\n"
              "int shown() {{ return 0; }}\n}}  // namespace postal\n")
    table = [("int twice(int of) { return of; }", True), ("constexpr int twice = 3;", True), ("struct twice {};", True),
             ("constexpr int some[]{1, 2};\nint x() { int twice = 0; return twice; }", False),
             ("template <class T>\nT twice(T of) {\n    return of;\n}", True),
             ('constexpr auto it = "int twice;";', False)]
    one = source.format("int twice();")
    wrong = [row for row in table if bool(repeated_names({"a.cpp": one, "b.cpp": source.format(row[0])})) != row[1]]
    for code, expected in wrong:
        print(f"check_layers: own test: {code!r} is {'not ' if expected else ''}found", file=sys.stderr)
    return not wrong


def self_test():
    """(file, its line, whether it must be found)"""
    table = [
        ("lib/proto/reply.hpp", '#include "base/text.hpp"', False),
        ("lib/proto/reply.hpp", '#include "proto/line.hpp"', False),
        ("lib/proto/reply.hpp", '#include "net/connection.hpp"', True),
        ("lib/proto/reply.hpp", "#include <boost/asio.hpp>", True),
        ("lib/proto/reply.hpp", "  #  include <boost/asio/buffer.hpp>", True),
        ("lib/proto/reply.hpp", "#include <chrono>", False),
        ("lib/proto/reply.cpp", "auto now = std::chrono::steady_clock::now();", True),
        ("lib/proto/reply.cpp", "// no steady_clock::now() here", False),
        ("lib/proto/reply.hpp", "#include <thread>", True),
        ("lib/proto/reply.hpp", "#include <string>", False),
        ("lib/proto/reply.hpp", "// #include <thread>", False),
        ("lib/stats/record_writer.cpp", "#include <boost/asio.hpp>", True),
        ("lib/stats/record_writer.cpp", "#include <boost/math/distributions/students_t.hpp>", False),
        ("lib/stats/record_writer.cpp", '#include "load/worker_pool.hpp"', True),
        ("lib/mail/digest.cpp", "#include <openssl/evp.h>", False),
        ("lib/mail/digest.cpp", '#include "stats/tally.hpp"', True),
        ("lib/net/endpoint.cpp", "#include <sys/socket.h>", False),
        ("lib/load/worker_pool.cpp", '#include "net/connection.hpp"', True),
        ("lib/cli/parse.cpp", '#include "mail/message.hpp"', True),
        ("lib/behaviour/behaviour_file.cpp", '#include "cli/section.hpp"', False),
        ("lib/behaviour/behaviour_file.cpp", "#include <toml++/toml.h>", True),
        ("lib/behaviour/engine.hpp", '#include "serve/session.hpp"', True),
        ("lib/behaviour/engine.cpp", "auto now = std::chrono::steady_clock::now();", True),
        ("lib/behaviour/gates.hpp", "#include <mutex>", False),
        ("lib/base/units.cpp", '#include "units.hpp"', True),
        ("lib/attic/old.cpp", "", True),
        ("lib/testbed/mounting.cpp", '#include "os/process.hpp"', False),
        ("lib/testbed/mounting.cpp", "#include <iostream>", True),
        ("lib/os/host.cpp", '#include "testbed/mounting.hpp"', True),
        ("lib/experiment/run.cpp", '#include "audit/audited_run.hpp"', True),
        ("lib/sasl/client.cpp", "#include <gsasl.h>", False),
        ("lib/sasl/client.cpp", '#include "net/connection.hpp"', True),
        ("lib/sasl/scram_client.cpp", "#include <openssl/hmac.h>", False),
        ("lib/sasl/scram_client.cpp", "#include <openssl/ssl.h>", True),
        ("lib/proto/base64.cpp", "#include <gsasl.h>", True),
        ("bhm/session.cpp", "#include <gsasl.h>", True),
        ("lib/cluster/mpi/mpi_transport.cpp", "#include <mpi.h>", False),
        ("lib/cluster/launcher.cpp", "#include <mpi.h>", True),
        ("lib/program/run.cpp", "#include <mpi.h>", True),
        ("lib/metrics/families.hpp", "#include <prometheus/metric_family.h>", False),
        ("lib/program/run_console.cpp", "#include <prometheus/exposer.h>", True),
        ("lib/cluster/words.cpp", "#include <boost/asio/post.hpp>", True),
        ("lib/cluster/launcher.cpp", '#include "cli/parse.hpp"', True),
        ("lib/program/run.cpp", '#include "cluster/transport.hpp"', False),
        ("postal/main.cpp", '#include "cli/parse.hpp"', False),
        ("postal/main.cpp", '#include "bhm/plan.hpp"', True),
        ("tests/unit/any_test.cpp", "#include <boost/asio.hpp>", False),
    ]
    wrong = [row for row in table if bool(wrong_includes(Path(row[0]), row[1])) != row[2]]
    for file, line, expected in wrong:
        print(f"check_layers: own test: {file}: {line!r} is {'not ' if expected else ''}found", file=sys.stderr)
    return not wrong


def main():
    root = ROOT
    if not self_test() or not papers_test() or not names_test():
        return 1
    files = [path for folder in ("lib", *PROGRAMS) for path in sorted((root / folder).rglob("*.[ch]pp"))]
    if not files:
        print(f"check_layers: {root}: no C++ files here", file=sys.stderr)
        return 1
    simulated = sorted((root / "tests/simulation").rglob("*.cpp"))
    found = wrong_papers(root) + wrong_names(root, files + simulated) + without_licence(root)
    found += [line for path in files for line in wide_comments(path.relative_to(root), path.read_text())]
    found += [line for path in files for line in wrong_includes(path.relative_to(root), path.read_text())]
    for line in found:
        print(line)
    print(f"check_layers: {len(files)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
