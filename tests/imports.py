"""How the package hangs together: its longest chain of imports, and how many modules each imports.

``python tests/imports.py [FOLDER …]`` prints it for the package that is here, or for any folders of Python files: an
older checkout's ``src/fourierwalk``, or another library's, to compare with. ``tests/sizes.py`` says how large things
are.
"""

import ast
import statistics
import sys
from graphlib import TopologicalSorter
from pathlib import Path


def modules_of(root):
    """The source of every module below a folder, by its dotted name; a folder's own is that of its ``__init__``."""
    named = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return named


def imports_of(source, module, names):
    """The package's own modules that a source imports, wherever in it the import stands."""
    own = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            asked = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*module.split(".")[: -node.level], node.module or ""]) if node.level else node.module
            asked = [f"{base.rstrip('.')}.{alias.name}" for alias in node.names]
        else:
            continue
        own |= {nearest(name, names) for name in asked} - {None, module}
    return own


def nearest(dotted, names):
    """The module that an imported name stands in."""
    while dotted and dotted not in names:
        dotted = dotted.rpartition(".")[0]
    return dotted or None


def longest_chain(imports):
    """The modules of the longest chain, from the top down; without the folders' own lists of names."""
    chains = {}
    for module in TopologicalSorter(imports).static_order():
        below = [chains[name] for name in sorted(imports.get(module, ()))]
        chains[module] = [module, *max(below, key=len, default=[])]
    return max(chains.values(), key=len)


def report(root):
    sources = modules_of(root)
    package = root.name
    imports = {name: imports_of(source, name, set(sources)) for name, source in sources.items()}
    inner = {name for name in sources if not any(other.startswith(f"{name}.") for other in sources)}
    chain = longest_chain({name: imports[name] & inner for name in inner})
    short = [name.removeprefix(f"{package}.") for name in chain]
    fan_out = sorted(((len(imports[name] & inner), name) for name in inner), reverse=True)
    print(f"{root}: {len(sources)} modules")
    print(f"longest chain: {len(chain)}: {' > '.join(short)}")
    print(f"imports of a module: median {statistics.median(n for n, _ in fan_out):g}, most {fan_out[0][0]}")
    for count, name in fan_out:
        print(f"{count:4d} {name.removeprefix(f'{package}.')}")


if __name__ == "__main__":
    for folder in sys.argv[1:] or [Path(__file__).parents[1] / "src" / "fourierwalk"]:
        report(Path(folder).resolve())
