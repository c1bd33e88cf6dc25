"""Linux 6.18: uploads of a real kernel over known links, against dialect `linux`."""

from ..framework.study import Terms, assemble

STUDY = assemble(
    __name__,
    "Linux 6.18: uploads over known links",
    Terms(
        question="Does dialect linux send as the kernel does?",
        source="measurement",
        values="measured",
        open_points="What the measurements leave open",
    ),
    seeds=5,
)
