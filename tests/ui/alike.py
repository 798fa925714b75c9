"""Views of the gallery with the same parts, in the same places, as another one: tests open one of each kind."""

ALIKE = {
    *("the-cat-sat", "head-average", "state-query", "state-output", "state-alone-one", "state-token-masked"),
    *("state-pinned", "state-pinned-present", "present-dark", "present-contrast-light", "present-contrast-dark"),
    *(
        "help-report",
        "help-about",
        "dialog-train-film",
        "train-24-heads",
        "weights-preview",
        "weights-misfit",
        "train-back",
        "dialog-train-figure",
    ),
}
