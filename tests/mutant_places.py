"""The places of the simulator's laws at which `tests/mutants.py` changes them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).resolve().parent.parent
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
}  # fmt: skip
STATEMENTS = ("assignment_expression", "compound_assignment_expr", "call_expression")


@dataclass(frozen=True)
class Mutant:
    """A change of one place: where it is, and what stands there while it is off and on."""

    file: Path
    start: int
    end: int
    line: int
    before: str
    after: str
    form: str = "(if {m} {{ {after} }} else {{ {before} }})"

    @property
    def name(self) -> str:
        """Where and what, on one line."""
        change = f"{self.before} -> {self.after}" if self.after else f"{self.before} left out"
        return f"{self.file.relative_to(ROOT)}:{self.line}: {' '.join(change.split())}"

    def text(self, number: int) -> str:
        """What the source has instead, with both ways."""
        return self.form.format(m=f"crate::mutant({number})", after=self.after, before=self.before)


def mutants_below(folder: Path) -> Iterator[Mutant]:
    """All mutants of the files of a folder, without their tests."""
    parser = Parser(Language(tree_sitter_rust.language()))
    for file in sorted(folder.rglob("*.rs")):
        if not file.stem.endswith("tests"):
            root = parser.parse(file.read_bytes()).root_node
            yield from (mutant for node in code_below(root) for mutant in of_node(file, node, root))


def code_below(node: Node) -> Iterator[Node]:
    """The nodes that run: no attributes, macros, patterns, types and tests."""
    is_test = False
    for child in node.named_children:
        if child.type == "attribute_item":
            is_test |= b"test" in (child.text or b"")
        elif is_test:
            is_test = False
        elif not child.type.endswith(("_pattern", "_type", "token_tree", "comment")):
            yield child
            yield from code_below(child)


def of_node(file: Path, node: Node, root: Node) -> Iterator[Mutant]:
    """The mutants of one node."""
    const = ancestor(node, "const_item", "static_item")
    if const is not None and ancestor(node, "function_item") is None:
        yield from of_constant(file, node, const, root)
    elif ancestor(node, "function_item") is not None:
        yield from of_code(file, node)


def of_code(file: Path, node: Node) -> Iterator[Mutant]:
    """The mutants of one node of a function."""
    at = (file, node.start_byte, node.end_byte, node.start_point[0] + 1)
    here = text(node)
    if node.type in ("binary_expression", "compound_assignment_expr"):
        fields = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        left, operator, right = map(text, fields)
        if operator in OPERATORS:
            yield Mutant(*at, here, f"{left} {OPERATORS[operator]} {right}")
    elif node.type == "unary_expression" and here.startswith("!"):
        yield Mutant(*at, here, here[1:])
    elif node.type == "boolean_literal":
        yield Mutant(*at, here, "false" if here == "true" else "true")
    elif other := other_number(node) or other_bound(node):
        yield Mutant(*at, here, other)
    elif is_statement(node):
        yield Mutant(*at, here, "", "if !{m} {{ {before} }}")


def is_statement(node: Node) -> bool:
    """Does it assign, or call something for what that does?"""
    is_one = node.type == "expression_statement" and text(node).endswith(";")
    return is_one and node.named_children[0].type in STATEMENTS


def other_bound(node: Node) -> str:
    """`min` for `max`, and the other way round."""
    function = text(node.child_by_field_name("function")) if node.type == "call_expression" else ""
    found = re.search(r"\.(min|max)$", function)
    if found is None:
        return ""
    other = "max" if found[1] == "min" else "min"
    return function[: found.start() + 1] + other + text(node)[len(function) :]


def of_constant(file: Path, node: Node, const: Node, root: Node) -> Iterator[Mutant]:
    """A number in a constant: the function that uses it has another constant while it is on."""
    other = other_number(node)
    name = text(const.child_by_field_name("name"))
    uses = [
        use
        for use in code_below(root)
        if use.type == "identifier" and text(use) == name and ancestor(use, "function_item")
    ]
    if not other or not name or len(uses) != 1:
        return
    whole = const.text or b""
    start, end = node.start_byte - const.start_byte, node.end_byte - const.start_byte
    changed = (whole[:start] + other.encode() + whole[end:]).decode()
    changed = re.sub(rf"\b{name}\b", f"{name}_MUTANT", changed, count=1)
    escaped = changed.replace("{", "{{").replace("}", "}}")
    form = f"{{{{ {escaped} if {{m}} {{{{ {name}_MUTANT }}}} else {{{{ {name} }}}} }}}}"
    (use,) = uses
    place = (file, use.start_byte, use.end_byte, use.start_point[0] + 1)
    yield Mutant(*place, name, f"{name} with {text(node)} as {other}", form)


def other_number(node: Node) -> str:
    """Another number of the type of a literal."""
    written = text(node)
    if node.type == "integer_literal":
        digits = re.match(r"0x[0-9a-fA-F_]+|[0-9_]+", written)
        return (
            f"{int(digits[0].replace('_', ''), 0) + 1}{written[digits.end() :]}" if digits else ""
        )
    if node.type == "float_literal":
        value = re.match(r"[0-9_.]+(e-?[0-9]+)?", written)
        number = float(value[0].replace("_", ""))
        return f"{number * 1.5 if number else 1.0!r}{written[value.end() :]}"
    return ""


def ancestor(node: Node, *types: str) -> Node | None:
    found = node.parent
    while found is not None and found.type not in types:
        found = found.parent
    return found


def text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode()
